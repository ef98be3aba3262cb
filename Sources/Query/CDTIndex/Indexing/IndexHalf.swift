import CDTDatastore
import CDTPlatform
import CDTSQLite
import Dispatch
import Synchronization

/// The documents of a batch of an ``IndexBuilder`` that another thread reads and sorts, with a reader of its own.
///
/// The two threads take turns in parts of the sequences. The snapshot of this one is later. A document that was written between the two
/// has a greater sequence, so this one does not read it, and the builder removes the rows that the other one has of it.
final class IndexHalf: @unchecked Sendable {
  // Sendable without a lock: only the other thread uses the batch until it signals that it is done.

  private var batch: IndexBuilder.Batch
  private var failure: (any Error)?
  private let isDone = DispatchSemaphore(value: 0)
  private let read = Atomic(0)

  /// The number of documents read so far.
  var documents: Int { read.load(ordering: .relaxed) }

  /// - Parameter memory: The memory for the rows in bytes.
  /// - Returns: `nil` if no thread can be started.
  init?(of parts: SequenceParts, _ store: Datastore, _ definition: IndexDefinition, memory: Int) {
    batch = IndexBuilder.Batch(rows: IndexRows(definition, memory: memory))
    do throws(SystemError) {
      try BlockingPool.run { [self] in
        do { try read(parts, of: store) } catch { failure = error }
        isDone.signal()
      }
    } catch {
      return nil
    }
  }

  private func read(_ parts: SequenceParts, of store: Datastore) throws {
    try store.readWithoutExtensions { transaction in
      try transaction.use { connection in
        try batch.read(parts, on: connection) {
          read.store($0, ordering: .relaxed)
          return true
        }
      }
    }
    batch.rows.sort()
  }

  /// Waits for these documents, and adds them to the others. Call it once.
  ///
  /// - Throws: `DatastoreError` if the documents can't be read.
  func append(to other: inout IndexBuilder.Batch) throws {
    isDone.wait()
    if let failure { throw failure }
    other.append(batch)
  }
}

/// The sequences of a batch, in parts that one or two threads take.
final class SequenceParts: Sendable {
  /// The sequence after which the next part begins.
  private let next: Atomic<Int64>
  private let last: Int64
  private let isEnded = Atomic(false)

  private static let length: Int64 = 250

  init(after first: Int64, upTo last: Int64) {
    next = Atomic(first)
    self.last = last
  }

  /// Takes the next part, whose documents must all be read; `nil` if there is none.
  func take() -> (after: Int64, upTo: Int64)? {
    guard !isEnded.load(ordering: .relaxed) else { return nil }
    let start = next.add(Self.length, ordering: .relaxed).oldValue
    return start < last ? (start, min(last, start + Self.length)) : nil
  }

  /// Lets nobody take another part.
  func end(unless shouldContinue: Bool = false) {
    if !shouldContinue { isEnded.store(true, ordering: .relaxed) }
  }

  /// The sequence up to which all have been taken.
  var reached: Int64 { min(last, next.load(ordering: .relaxed)) }

  var isRead: Bool { reached == last }
}

extension IndexBuilder.Batch {
  /// The number of documents read between two calls of `shouldContinue`.
  private static var interval: Int { 1_000 }

  /// Reads documents and collects their rows until their memory is full.
  ///
  /// - Parameters:
  ///   - schema: The name under which the connection has the documents.
  ///   - shouldContinue: Called with the number of documents read; returns whether to continue.
  mutating func read(
    _ parts: SequenceParts, in schema: String = "main", on connection: Connection,
    _ shouldContinue: (Int) throws -> Bool
  ) throws {
    let stored = try StoredDocuments(
      "WHERE sequence > ?1 AND sequence <= ?2 ORDER BY sequence", 0, 0, in: schema, on: connection)
    defer { stored.reset() }
    var reported = 0
    while !rows.isFull, let part = parts.take() {
      try stored.restart(part.after, part.upTo)
      while try stored.next() {
        documents += 1
        guard let document = stored.document else { continue }
        let shape = rows.add(document, number: stored.number)
        if shape.isMultiple { self.shape.isMultiple = true }
        if shape.overflows {
          self.shape.overflows = true
          overflow.append(stored.number)
        }
      }
      guard documents - reported >= Self.interval else { continue }
      reported = documents
      guard try shouldContinue(documents) else { return }
    }
  }

  /// Adds other documents. The rows of both are sorted.
  mutating func append(_ other: borrowing IndexBuilder.Batch) {
    rows.merge(other.rows)
    overflow += other.overflow
    shape.isMultiple = shape.isMultiple || other.shape.isMultiple
    shape.overflows = shape.overflows || other.shape.overflows
    documents += other.documents
  }
}
