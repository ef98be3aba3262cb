#if Replication
  public import CDTDatastore
  import CDTReplication
  public import Foundation

  @available(*, deprecated, message: "use Replicator(Replication(.push, with: database), of: store)")
  extension Datastore {
    /// Pushes to a database in the background.
    ///
    /// - Parameters:
    ///   - target: The URL of the database.
    ///   - username: The name of the user at the server; `nil` or empty for none.
    ///   - password: The user's password.
    ///   - completionHandler: Called once at the end, on a concurrency thread, with the error if there is one.
    public func push(
      to target: URL, username: String? = nil, password: String? = nil,
      completionHandler: @escaping ((any Error)?) -> Void
    ) {
      Self.run(
        CDTPushReplication(source: self, target: target).signedIn(username, password), completionHandler)
    }

    /// Pushes to a database in the background, and reports its progress to a delegate.
    ///
    /// - Throws: `ReplicationError` with the code `.invalidRequest` for a URL that is not one of a database.
    @discardableResult
    public func push(
      to target: URL, username: String? = nil, password: String? = nil,
      withDelegate delegate: (any CDTReplicatorDelegate)?
    ) throws -> CDTReplicator {
      try Self.start(CDTPushReplication(source: self, target: target).signedIn(username, password), delegate)
    }

    /// Pulls from a database in the background.
    ///
    /// - Parameters:
    ///   - source: The URL of the database.
    ///   - username: The name of the user at the server; `nil` or empty for none.
    ///   - password: The user's password.
    ///   - completionHandler: Called once at the end, on a concurrency thread, with the error if there is one.
    public func pull(
      from source: URL, username: String? = nil, password: String? = nil,
      completionHandler: @escaping ((any Error)?) -> Void
    ) {
      Self.run(
        CDTPullReplication(source: source, target: self).signedIn(username, password), completionHandler)
    }

    /// Pulls from a database in the background, and reports its progress to a delegate.
    ///
    /// - Throws: `ReplicationError` with the code `.invalidRequest` for a URL that is not one of a database.
    @discardableResult
    public func pull(
      from source: URL, username: String? = nil, password: String? = nil,
      withDelegate delegate: (any CDTReplicatorDelegate)?
    ) throws -> CDTReplicator {
      try Self.start(CDTPullReplication(source: source, target: self).signedIn(username, password), delegate)
    }

    private static func start(
      _ replication: CDTAbstractReplication, _ delegate: (any CDTReplicatorDelegate)?
    ) throws -> CDTReplicator {
      let replicator = try CDTReplicator(replication)
      replicator.delegate = delegate
      try replicator.start()
      return replicator
    }

    private static func run(
      _ replication: CDTAbstractReplication, _ handler: @escaping ((any Error)?) -> Void
    ) {
      let handler = CompletionHandler(call: handler)
      do {
        let (replication, store) = try replication.replication()
        Task {
          do {
            _ = try await Replicator(replication, of: store).replicate()
            handler.call(nil)
          } catch {
            handler.call(error)
          }
        }
      } catch {
        handler.call(error)
      }
    }
  }

  @available(*, deprecated, message: "use Replication")
  extension CDTAbstractReplication {
    /// The replication with credentials, unless the name is empty.
    fileprivate func signedIn(_ username: String?, _ password: String?) -> CDTAbstractReplication {
      if let username, !username.isEmpty { (self.username, self.password) = (username, password) }
      return self
    }
  }

  /// Sendable: only the task that replicates calls the closure, once. CDTDatastore's apps expect it on any thread.
  private struct CompletionHandler: @unchecked Sendable {
    let call: ((any Error)?) -> Void
  }
#endif
