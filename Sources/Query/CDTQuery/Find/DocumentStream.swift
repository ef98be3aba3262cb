public import CDTDatastore
import Synchronization

/// The results of a query as an asynchronous sequence, which reads them from one state in small batches.
///
/// Memory does not grow with the number of results, and no thread of Swift's pool is blocked. If you leave the loop or
/// cancel the task, the query ends; cancellation throws `CancellationError`. Each iterator runs the query again.
///
/// See <doc:QueryingDocuments#Results>.
public struct DocumentStream: AsyncSequence, Sendable {
  let store: Datastore
  let query: Query

  /// Creates an iterator, which runs the query when you ask for the first document.
  public func makeAsyncIterator() -> Iterator {
    Iterator(DocumentBatches(self))
  }

  /// Reads the documents.
  public struct Iterator: AsyncIteratorProtocol {
    private let batches: DocumentBatches
    private var batch: ArraySlice<DocumentRevision> = []

    fileprivate init(_ batches: DocumentBatches) {
      self.batches = batches
    }

    /// The next document, or `nil` after the last.
    ///
    /// - Throws: ``QueryError``, `DatastoreError`; `CancellationError` if the task is cancelled.
    public mutating func next(
      isolation: isolated (any Actor)? = #isolation
    ) async throws -> DocumentRevision? {
      try Task.checkCancellation()
      if batch.isEmpty { batch = try await batches.next() }
      return batch.popFirst()
    }
  }
}

/// Reads a query's results in batches, and ends the query when it is deallocated.
private final class DocumentBatches: Sendable {
  private let stream: DocumentStream
  /// Each batch has the deadline of the task that asks for it.
  private let signal = StopSignal(deadline: nil)
  private let results = Mutex<ResultSet?>(nil)
  /// The size of a batch, which starts small for callers that only need the first documents.
  private let size = Atomic(8)

  init(_ stream: DocumentStream) {
    self.stream = stream
  }

  deinit {
    results.withLock { $0?.close() }
  }

  func next(isolation: isolated (any Actor)? = #isolation) async throws -> ArraySlice<DocumentRevision> {
    try await stream.store.runQuery(signal: signal) { _ in
      let results = try self.open()
      var batch: [DocumentRevision] = []
      let size = self.size.load(ordering: .relaxed)
      self.size.store(min(256, size * 4), ordering: .relaxed)
      while batch.count < size, let document = try results.next() { batch.append(document) }
      return batch[...]
    }
  }

  private func open() throws -> ResultSet {
    try results.withLock { results in
      if let results { return results }
      try stream.query.checkIncludesNothing("read a ResultSet, or leave out include")
      let opened = try ResultSet(stream.query, in: stream.store, signal: signal)
      results = opened
      return opened
    }
  }
}
