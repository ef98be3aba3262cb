public import CDTDatastore
import Dispatch
public import JSON
import Synchronization

extension Datastore {
  /// Creates an index, or confirms that it is there, and leaves it to be filled while others read and write.
  ///
  /// ```swift
  /// let build = try store.buildIndex(["name", ["age": "desc"]], name: "by_name")
  /// for try await progress in build { print("\(progress.done) of \(progress.total)") }
  /// ```
  ///
  /// The index is there when the call returns, and queries are right from then on; it helps as far as it is filled.
  /// Parameters are those of ``ensureIndexed(_:name:type:settings:)``, which does the same in one call.
  ///
  /// - Throws: ``QueryError`` for a definition that is refused, or when the name is taken by another definition.
  ///
  /// Source: `docs/query.md`, Building.
  public func buildIndex(
    _ fields: [JSONValue], name: String? = nil, type: IndexType = .json, settings: JSONObject = [:]
  ) throws -> IndexBuild {
    let definition = try IndexDefinition(fields: fields, name: name, type: type, settings: settings)
    let made = try mapped { try indexManager().declare(definition, isNamed: name != nil) }
    return IndexBuild(store: self, name: made)
  }

  /// Brings every index up to the newest document, as ``updateAllIndexes()`` does in one call.
  public func buildIndexes() -> IndexBuild {
    IndexBuild(store: self, name: nil)
  }

  /// Empties an index, or all of them, and leaves it to be filled, as ``rebuildIndexes(named:)`` does in one call.
  ///
  /// - Throws: ``QueryError`` with the code `.unknownIndex` when there is none of that name.
  public func buildIndexesAnew(named name: String? = nil) throws -> IndexBuild {
    try mapped { try indexManager().empty(named: name) }
    return IndexBuild(store: self, name: name)
  }
}

/// How far the building of indexes is.
public struct IndexProgress: Sendable, Hashable {
  /// How many documents have been taken in.
  public let done: Int
  /// How many there are to take in; it grows while others write.
  public let total: Int
}

/// The work of filling a datastore's indexes: each element tells how far it is, and it is done when there are no more.
///
/// Work begins with iteration and goes on by itself, in transactions of a bounded size; who asks seldom gets only the
/// newest progress. Whoever stops asking, or cancels the task, stops the work within 1,000 documents and loses nothing:
/// what is built stays, and the next build or update goes on from there. Cancelled, it throws `CancellationError`.
/// Meanwhile documents are written and queries answered; a query puts the documents that an index does not have yet to the
/// matcher, and an order by score gives them last. No thread of Swift's pool is blocked.
///
/// Source: `docs/query.md`, Building.
public struct IndexBuild: AsyncSequence, Sendable {
  /// How far it is.
  public typealias Element = IndexProgress

  let store: Datastore
  /// The name of the index that is built; `nil` when it is all of them.
  public let name: String?

  /// An iterator, which goes on where the indexes are.
  public func makeAsyncIterator() -> Iterator {
    Iterator(
      AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { [store, name] continuation in
        let work = IndexBuildWork(only: name)
        continuation.onTermination = { _ in work.isStopped.store(true, ordering: .relaxed) }
        DispatchQueue.global().async { work.run(on: store, telling: continuation) }
      })
  }

  /// Tells how far the work is.
  public struct Iterator: AsyncIteratorProtocol {
    private var stream: AsyncThrowingStream<IndexProgress, any Error>.Iterator

    fileprivate init(_ stream: AsyncThrowingStream<IndexProgress, any Error>) {
      self.stream = stream.makeAsyncIterator()
    }

    /// The newest progress that has not been told; `nil` when every index is complete.
    ///
    /// - Throws: `CancellationError`; ``DatastoreError``, `.closed` among them when the datastore is closed meanwhile.
    public mutating func next(isolation: isolated (any Actor)? = #isolation) async throws -> IndexProgress? {
      let progress = try await stream.next(isolation: isolation)
      if progress == nil { try Task.checkCancellation() }
      return progress
    }
  }
}

/// Fills indexes until they are complete or nobody listens.
private final class IndexBuildWork: Sendable {
  let isStopped = Atomic(false)
  private let name: String?

  init(only name: String?) {
    self.name = name
  }

  func run(on store: Datastore, telling listener: AsyncThrowingStream<IndexProgress, any Error>.Continuation)
  {
    do {
      try store.mapped {
        _ = try store.indexManager().build(only: name) { progress in
          listener.yield(progress)
          return !self.isStopped.load(ordering: .relaxed)
        }
      }
      listener.finish()
    } catch {
      listener.finish(throwing: error)
    }
  }
}
