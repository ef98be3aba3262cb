public import CDTDatastore
import Dispatch
public import JSON

extension Datastore {
  /// Creates an index, or confirms that it is there, and leaves it to be filled step by step.
  ///
  /// ```swift
  /// let build = try store.buildIndex(["name", ["age": "desc"]], name: "by_name")
  /// for try await progress in build { print(progress.done, "of", progress.total) }
  /// ```
  ///
  /// The index is there when the call returns, and queries are right from then on; it helps as far as it is filled.
  ///
  /// - Throws: What ``ensureIndexed(_:name:type:settings:)`` throws for a definition.
  ///
  /// Source: `docs/query.md`, Indexes.
  public func buildIndex(
    _ fields: [JSONValue], name: String? = nil, type: IndexType = .json, settings: JSONObject = [:]
  ) throws -> IndexBuild {
    let definition = try IndexDefinition(fields: fields, name: name, type: type, settings: settings)
    let made = try mapped { try indexManager().declare(definition, isNamed: name != nil) }
    return IndexBuild(store: self, name: made)
  }

  /// Brings every index up to the newest document, step by step, as ``updateAllIndexes()`` does in one call.
  public func buildIndexes() -> IndexBuild {
    IndexBuild(store: self, name: nil)
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
/// Work is done only as elements are asked for, in transactions of a bounded size. Whoever stops asking, or cancels the
/// task, loses nothing: what is built stays, and the next build or update goes on from there. Cancelled, it throws
/// `CancellationError`. No thread of Swift's pool is blocked.
public struct IndexBuild: AsyncSequence, Sendable {
  /// How far it is.
  public typealias Element = IndexProgress

  let store: Datastore
  /// The name of the index that was created or confirmed; `nil` when all are brought up to date.
  public let name: String?

  /// An iterator, which goes on where the indexes are.
  public func makeAsyncIterator() -> Iterator {
    Iterator(store: store)
  }

  /// Takes documents into the indexes, some at a time.
  public struct Iterator: AsyncIteratorProtocol {
    private let store: Datastore
    private var progress: IndexProgress?
    private var isComplete = false

    fileprivate init(store: Datastore) {
      self.store = store
    }

    /// Takes in the next documents; `nil` when every index is complete.
    ///
    /// - Throws: `CancellationError`, ``DatastoreError``.
    public mutating func next(isolation: isolated (any Actor)? = #isolation) async throws -> IndexProgress? {
      if isComplete { return nil }
      try Task.checkCancellation()
      guard let progress else {
        let first = IndexProgress(done: 0, total: try await store.onThread { try $0.documentsAhead() })
        isComplete = first.total == 0
        progress = first
        return first
      }
      let step = try await store.onThread { try $0.catchUpStep() }
      isComplete = step.isComplete
      let done = progress.done + step.documents
      let next = IndexProgress(done: done, total: isComplete ? done : max(done, progress.total))
      self.progress = next
      return next
    }
  }
}

extension Datastore {
  /// Runs `body` on a thread that may wait for locks and the disk.
  fileprivate func onThread<R: Sendable>(
    isolation: isolated (any Actor)? = #isolation, _ body: @escaping @Sendable (IndexManager) throws -> R
  ) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(with: Result { try self.mapped { try body(try self.indexManager()) } })
      }
    }
  }
}
