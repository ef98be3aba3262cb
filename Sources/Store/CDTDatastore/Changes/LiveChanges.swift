extension Datastore {
  /// The documents that changed since a sequence, and then further changes as they are committed.
  ///
  /// ```swift
  /// for try await changes in store.liveChanges(since: last) {
  ///   for change in changes.documents { print(change.id) }
  ///   last = changes.lastSequence
  /// }
  /// ```
  ///
  /// - Parameter sequence: The `lastSequence` of the last batch that you read; 0 starts with every document. A
  ///   sequence beyond the datastore's last one throws `.unknownSequence`, as `changes(since:limit:)` does.
  ///
  /// See <doc:FollowingChanges#Listening>.
  public func liveChanges(since sequence: Int64 = 0) -> LiveChanges {
    LiveChanges(store: self, sequence: sequence)
  }
}

/// An endless sequence of a datastore's changes, from ``Datastore/liveChanges(since:)``.
///
/// Each element is the result of `Datastore.changes(since:limit:)` at the time you ask for it, so it has all commits
/// since the previous element, each document once. No change is missed or repeated, whichever process wrote it: writes
/// of this process are noticed immediately, those of other processes within a second. An element has at most 1,000
/// documents, even if a transaction changed more.
///
/// Nothing is buffered for a slow consumer: an element is read from the file when you ask for it. Several consumers
/// can listen, each at its own pace, and each iterator starts at the sequence passed to `liveChanges(since:)`.
///
/// The sequence ends when the datastore is closed or deleted, also by another process, and when its task is cancelled.
/// It throws a ``DatastoreError`` if the file can't be read, and then ends; a new sequence can continue from the last
/// `lastSequence`. After a change of the manager's user it throws the code `.userChanged`: documents that the new user sees may have
/// changed before, so begin again from 0. It never blocks a thread of Swift's pool.
public struct LiveChanges: AsyncSequence, Sendable {
  let store: Datastore
  let sequence: Int64

  /// Creates an iterator that starts at the sequence passed to `liveChanges(since:)`.
  public func makeAsyncIterator() -> Iterator {
    Iterator(store: store, sequence: sequence)
  }

  /// Reads a datastore's changes, and waits for more when there are none.
  public struct Iterator: AsyncIteratorProtocol {
    private static var batch: Int { 1_000 }

    /// `nil` after the end of the sequence.
    private var store: Datastore?
    private var listener: ChangeListener?
    private var sequence: Int64
    /// The rules of the user for whom it lists changes.
    private let rules: (any DocumentRules)?

    fileprivate init(store: Datastore, sequence: Int64) {
      self.store = store
      self.sequence = sequence
      rules = store.documentRules
    }

    /// The changes since the previous batch, waiting until there are any; `nil` at the end.
    ///
    /// - Throws: ``DatastoreError`` if the file can't be read, or with the code `.unknownSequence`; the sequence then
    ///   ends.
    public mutating func next(isolation: isolated (any Actor)? = #isolation) async throws -> Changes? {
      guard let store else { return nil }
      do {
        if let changes = try await changes(in: store) {
          sequence = changes.lastSequence
          return changes
        }
      } catch {
        end()
        throw error
      }
      end()
      return nil
    }

    private mutating func changes(
      in store: Datastore, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Changes? {
      // Listen before reading, so that a commit after the read is noticed.
      let listener = try self.listener ?? ChangeListener(to: store)
      self.listener = listener
      while !Task.isCancelled {
        let heard = listener.commits
        guard let changes = try await store.changesUnlessOver(since: sequence, limit: Self.batch, as: rules)
        else { break }
        if !changes.documents.isEmpty { return changes }
        await listener.wait(since: heard)
      }
      return nil
    }

    private mutating func end() {
      store = nil
      listener = nil
    }
  }
}

extension Datastore {
  /// Reads a batch of changes without blocking the calling thread; `nil` if the datastore is closed or deleted.
  ///
  /// - Parameter rules: The rules that are expected to be enforced.
  fileprivate func changesUnlessOver(
    since sequence: Int64, limit: Int, as rules: (any DocumentRules)?,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Changes? {
    do {
      return try await readDocuments { transaction in
        try transaction.checkRules(are: rules)
        return try transaction.changes(since: sequence, limit: limit)
      }
    } catch let error as DatastoreError where error.code == .closed {
      return nil
    } catch let error as DatastoreError where error.code == .suspended {
      await untilResumed()
      return try await changesUnlessOver(since: sequence, limit: limit, as: rules)
    } catch is CancellationError {
      return nil
    }
  }
}
