public import CDTDatastore
import CDTJSON
package import CDTPlan
import CDTSQLite
import Synchronization

/// The results of a query, read one at a time from one snapshot.
///
/// ```swift
/// let cats = try store.results(for: Query(["species": "cat"], sort: ["name"]))
/// while let cat = try cats.next() {
///   print(cat.id, cat.body.text)
/// }
/// ```
///
/// Later writes are not visible in it. Memory does not grow with the number of results. A result set keeps its
/// snapshot until it is closed or deallocated, and the store's write-ahead log can't be reset while a snapshot is in
/// use, so don't hold a result set longer than you need it.
///
/// Only one call can read a result set at a time; a concurrent or nested call throws ``QueryError`` with the code
/// `.inUse`.
///
/// See <doc:QueryingDocuments#Results>.
public final class ResultSet: Sendable {
  private let state: Mutex<State>
  private let signal: StopSignal
  /// Outside of the state, as it is read after each result.
  private let isClosed = Atomic(false)

  private struct Open {
    let cursor: Cursor
    let state: HeldReadTransaction
  }

  private struct State: @unchecked Sendable {
    // Sendable without a lock: it is inside the Mutex above, and a call that takes the cursor out is its only user.
    var open: Open?
    var isInUse = false
    var isSuspended = false
    /// Ends the query when the datastore is suspended.
    var registration: Suspension.Registration?
  }

  /// - Parameter signal: Ends the query from any thread.
  package init(
    _ query: Query, in store: Datastore, signal: StopSignal = StopSignal(),
    _ choose: @escaping (Planner) throws -> QueryPlan = { try $0.plan() }
  ) throws {
    self.signal = signal
    _ = try store.indexManager()
    let held = try store.holdState(stop: signal)
    let cursor = try QueryFailure.publishing {
      var engine = try QueryEngine(held.transaction)
      engine.choose = choose
      return try engine.cursor(query)
    }
    state = Mutex(State(open: Open(cursor: cursor, state: held)))
    let registration = store.suspension.whenSuspended { [weak self] in self?.end { $0.isSuspended = true } }
    state.withLock { $0.registration = registration }
  }

  /// The next document, or `nil` after the last.
  ///
  /// - Throws: ``QueryError`` if a pattern exceeds its limits or the query takes too long; `CancellationError` if it
  ///   was cancelled; `DatastoreError` if reading fails.
  public func next() throws -> DocumentRevision? {
    try withCursor { try $0.nextDocument() }
  }

  /// Calls a closure with each unread document.
  public func forEach(_ body: (DocumentRevision) throws -> Void) throws {
    while let document = try next() { try body(document) }
  }

  /// All unread documents, in memory.
  public func documents() throws -> [DocumentRevision] {
    var documents: [DocumentRevision] = []
    try forEach { documents.append($0) }
    return documents
  }

  /// The ids of all results in order, whether or not they have been read. If an index decides, no body is read.
  public func documentIDs() throws -> [String] {
    var ids: [String] = []
    try forEachID { ids.append($0) }
    return ids
  }

  /// Calls a closure with the id of each result in order, whether or not it has been read, without storing the ids.
  ///
  /// ```swift
  /// try store.results(for: Query(["species": "cat"])).forEachID { print($0) }
  /// ```
  ///
  /// If an index decides, no body is read.
  public func forEachID(_ body: (String) throws -> Void) throws {
    try withCursor { cursor in
      try cursor.forEachID { id in
        try body(id)
        return try shouldContinue()
      }
    }
  }

  /// Calls a closure with the JSON text of each unread document, `_id` and `_rev` first.
  ///
  /// The bytes are valid only during the call. Without a projection they are copied from the store without decoding,
  /// which is the fastest way to pass on results.
  ///
  /// - Parameters:
  ///   - inliningAttachments: Whether to include attachments as `_attachments`, with their content in Base64, as
  ///     CouchDB does.
  ///   - onLoss: Called for each attachment whose content is missing or damaged, which is then left out. Without it, such an
  ///     attachment ends the reading with its error.
  ///   - body: Called with the bytes of each document.
  public func forEachJSON(
    inliningAttachments: Bool = false, onLoss: ((IntegrityFinding) throws -> Void)? = nil,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try withCursor { cursor in
      func json(_ id: String, _ attachments: Attachments) throws -> JSONObject {
        try attachments.inlineJSON { error in
          guard let onLoss else { throw error }
          try cursor.store.checkFile()
          try onLoss(IntegrityFinding(.attachment, documentID: id, error.message))
        }
      }
      try cursor.forEachText(attachmentsJSON: inliningAttachments ? json : nil) { text in
        try body(text)
        return try shouldContinue()
      }
    }
  }

  /// The position after the last document that was read, for ``Query/bookmark`` of the next page; `nil` before the first.
  public func bookmark() throws -> Bookmark? {
    try withCursor { try $0.bookmark() }
  }

  /// The position of the first document that was read, for ``Query/bookmark`` of the page before it, with ``Query/isBackward``; `nil`
  /// before any was.
  public func firstBookmark() throws -> Bookmark? {
    try withCursor { try $0.bookmark(ofFirst: true) }
  }

  /// The documents that the results read so far link, under the names of ``Query/include``.
  public func included() throws -> [String: Linked<DocumentRevision>] {
    try withCursor { try $0.included() }
  }

  /// Ends the query from any thread; a call that reads it throws `CancellationError` within milliseconds.
  public func cancel() {
    signal.cancel()
  }

  /// Ends the query and returns its reader. Later reads throw the code `.closed`; closing again does nothing. If a
  /// closure that receives results calls this, reading ends after the current result.
  public func close() {
    isClosed.store(true, ordering: .sequentiallyConsistent)
    end()
  }

  private func end(_ note: @Sendable (inout State) -> Void = { _ in }) {
    let open = state.withLock { state in
      note(&state)
      return state.isInUse ? nil : state.open.take()
    }
    open?.cursor.end()
  }

  // MARK: The cursor

  /// Takes the cursor out for a call, so that no lock is held while the caller's closures run.
  private func withCursor<R>(_ body: (Cursor) throws -> R) throws -> R {
    let (cursor, store) = try state.withLock { state -> (Cursor, Datastore) in
      if state.isInUse { throw QueryError.resultSetInUse }
      guard !isClosed.load(ordering: .sequentiallyConsistent) else { throw QueryError.resultSetClosed }
      guard !state.isSuspended, let open = state.open else {
        throw DatastoreError(.endedBySuspension("a result set"))
      }
      state.isInUse = true
      return (open.cursor, open.state.transaction.store)
    }
    defer { giveBack() }
    let result = try QueryFailure.publishing { try body(cursor) }
    try store.checkUnchanged()
    return result
  }

  private func giveBack() {
    let closed = state.withLock { state in
      state.isInUse = false
      let isOver = state.isSuspended || isClosed.load(ordering: .sequentiallyConsistent)
      return isOver ? state.open.take() : nil
    }
    closed?.cursor.end()
  }

  /// Whether to continue reading after a closure has returned.
  private func shouldContinue() throws -> Bool {
    try signal.check()
    return !isClosed.load(ordering: .relaxed)
  }
}
