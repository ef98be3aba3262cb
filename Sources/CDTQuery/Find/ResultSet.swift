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
/// set keeps its snapshot until it is closed or released; the store's write-ahead log can't be cut back behind an open
/// snapshot, so result sets are not for keeping.
///
/// Source: `docs/query.md`, Results.
public final class ResultSet: Sendable {
  private let state: Mutex<Cursor>

  init(_ cursor: Cursor) {
    state = Mutex(cursor)
  }

  /// The next document, or `nil` after the last.
  ///
  /// - Throws: ``QueryError`` when a pattern passes its limits, ``DatastoreError`` when reading fails.
  public func next() throws -> DocumentRevision? {
    try state.withLock { try $0.nextDocument() }
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
    get throws { try state.withLock { try $0.documentIDs() } }
  }

  /// Calls a closure with the id of each result, in their order, whether or not they have been read, and keeps none.
  ///
  /// ```swift
  /// try store.find(["species": "cat"]).forEachID { print($0) }
  /// ```
  ///
  /// No body is read where an index decides. The closure can't ask the result set for more.
  public func forEachID(_ body: (String) throws -> Void) throws {
    try state.withLock { try $0.forEachID(body) }
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
    try state.withLock { cursor in
      try cursor.forEachText(inlinesAttachments: inliningAttachments, body)
    }
  }

  /// Gives the reader back. Reading on is refused with the code `.closed`; closing again does nothing.
  public func close() {
    state.withLock { $0.close() }
  }
}
