public import CDTDatastore
import JSON
import SQLite
import Synchronization

/// The documents that a query found, read one at a time from one snapshot.
///
/// ```swift
/// let cats = try store.find(["species": "cat"], sort: ["name"])
/// while let cat = try cats.next() {
///   print(cat.body["name"] ?? nil)
/// }
/// ```
///
/// Nothing written after the query was started shows in it. Memory does not grow with the number of results. A result
/// set keeps its snapshot until it is closed or released, and the store's write-ahead log can't be reset while a snapshot
/// needs it: don't hold a result set longer than you need it.
///
/// One call reads a result set at a time; another one, of another thread or of a closure within, throws ``QueryError``
/// with the code `.inUse`.
///
/// Source: `docs/query.md`, Results.
public final class ResultSet: Sendable {
  private let state: Mutex<State>
  private let cancellation: Cancellation

  private struct State: @unchecked Sendable {
    // Sendable without a lock of its own: it lies under the Mutex above, and whoever takes the cursor out for a call is
    // the only one to use it.
    var cursor: Cursor?
    var isInUse = false
    var isClosed = false
  }

  init(_ cursor: Cursor, _ cancellation: Cancellation) {
    self.cancellation = cancellation
    state = Mutex(State(cursor: cursor))
  }

  /// The next document, or `nil` after the last.
  ///
  /// - Throws: ``QueryError`` when a pattern exceeds its limits, or the query is cancelled or takes too long;
  ///   ``DatastoreError`` when reading fails.
  public func next() throws -> DocumentRevision? {
    try withCursor { try $0.nextDocument() }
  }

  /// Calls a closure with each document that has not been read yet.
  public func forEach(_ body: (DocumentRevision) throws -> Void) throws {
    while let document = try next() { try body(document) }
  }

  /// All documents that have not been read yet, in memory at once.
  public func documents() throws -> [DocumentRevision] {
    var documents: [DocumentRevision] = []
    try forEach { documents.append($0) }
    return documents
  }

  /// The ids of all results, in their order, whether or not they have been read; no body is read for them where an
  /// index decides.
  public var documentIDs: [String] {
    get throws {
      var ids: [String] = []
      try forEachID { ids.append($0) }
      return ids
    }
  }

  /// Calls a closure with the id of each result, in their order, whether or not they have been read, and keeps none.
  ///
  /// ```swift
  /// try store.find(["species": "cat"]).forEachID { print($0) }
  /// ```
  ///
  /// No body is read where an index decides.
  public func forEachID(_ body: (String) throws -> Void) throws {
    try withCursor { cursor in
      try cursor.forEachID { id in
        try body(id)
        return try goesOn()
      }
    }
  }

  /// Calls a closure with the JSON text of each document that has not been read yet, `_id` and `_rev` first.
  ///
  /// The bytes are valid only within the call. Without a projection they are copied from the store as they are, with
  /// no value made of them, which is the fastest way to send results on.
  ///
  /// - Parameter inliningAttachments: Whether a document that has attachments brings them as `_attachments`, as
  ///   ``CDTDatastore/Attachments/inlineJSON()`` gives them.
  public func forEachJSON(
    inliningAttachments: Bool = false, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try withCursor { cursor in
      try cursor.forEachText(inlinesAttachments: inliningAttachments) { text in
        try body(text)
        return try goesOn()
      }
    }
  }

  /// Ends the query from any thread: what reads it throws ``QueryError`` with the code `.cancelled`, within milliseconds.
  public func cancel() {
    cancellation.cancel()
  }

  /// Gives the reader back. Reading on is refused with the code `.closed`; closing again does nothing. Within a closure
  /// that is given results, it ends the reading with that result.
  public func close() {
    let cursor = state.withLock { state in
      state.isClosed = true
      return state.isInUse ? nil : state.cursor.take()
    }
    cursor?.close()
  }

  // MARK: The cursor

  /// Takes the cursor out for a call, so that no lock is held while closures of the caller's run.
  private func withCursor<R>(_ body: (Cursor) throws -> R) throws -> R {
    let cursor = try state.withLock { state -> Cursor in
      if state.isInUse { throw QueryError.resultSetInUse }
      guard !state.isClosed, let cursor = state.cursor else { throw QueryError.resultSetClosed }
      state.isInUse = true
      return cursor
    }
    defer { giveBack(cursor) }
    return try body(cursor)
  }

  private func giveBack(_ cursor: Cursor) {
    let isClosed = state.withLock { state in
      state.isInUse = false
      if state.isClosed { state.cursor = nil }
      return state.isClosed
    }
    if isClosed { cursor.close() }
  }

  /// Whether the reading goes on after a closure has returned.
  private func goesOn() throws -> Bool {
    if cancellation.isCancelled { throw QueryError.cancelled }
    return state.withLock { !$0.isClosed }
  }
}
