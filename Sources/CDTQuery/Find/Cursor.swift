import CDTDatastore
import JSON
import SQLite

/// A statement in its snapshot: what a ``ResultSet`` guards with its lock.
final class Cursor: @unchecked Sendable {
  // Sendable without a lock of its own: the ResultSet uses it under its Mutex only.

  private let datastore: Datastore
  private let manager: IndexManager
  private let plan: QueryPlan
  private let projection: Projection
  private let snapshot: QueryReader.Snapshot

  /// The reader, until the cursor is closed.
  private var reader: ConnectionPool<QueryReader>.Lease?
  private var rows: RunningQuery?
  /// How many rows have been given.
  private var taken = 0
  private var isExhausted = false
  private var ids: [String]?
  /// What its queries had to do for documents that are not in the indexes.
  private var tailCost: Int64 = 0

  init(
    _ datastore: Datastore, manager: IndexManager, plan: QueryPlan, projection: Projection,
    snapshot: QueryReader.Snapshot, reader: ConnectionPool<QueryReader>.Lease
  ) {
    self.datastore = datastore
    self.manager = manager
    self.plan = plan
    self.projection = projection
    self.snapshot = snapshot
    self.reader = reader
  }

  deinit {
    close()
  }

  func close() {
    endRows()
    guard let lease = reader else { return }
    reader = nil
    lease.reader.end()
    manager.readers.checkIn(lease)
    manager.noteTail(snapshot, cost: tailCost)
  }

  private func endRows() {
    guard let query = rows else { return }
    rows = nil
    end(query)
  }

  private func end(_ query: RunningQuery) {
    query.end()
    tailCost += query.tailCost
  }

  func documentIDs() throws -> [String] {
    if let ids { return ids }
    var found: [String] = []
    try forEachID { found.append($0) }
    ids = found
    return found
  }

  func forEachID(_ body: (String) throws -> Void) throws {
    let query = try start(.ids)
    defer { end(query) }
    while try query.step() {
      try body(String(decoding: query.statement.unsafeBytes(1), as: UTF8.self))
      try datastore.checkOpen()
    }
  }

  func nextDocument() throws -> DocumentRevision? {
    guard let query = try advance() else { return nil }
    var body = JSONBytes(query.body).value(at: 0).objectValue ?? [:]
    if !projection.isEverything { body = projection.apply(to: body) }
    let revision = try RevisionID(stored: String(decoding: query.revision, as: UTF8.self))
    return DocumentRevision(
      id: String(decoding: query.id, as: UTF8.self), revision: revision, body: body,
      attachments: try attachments(query, of: revision),
      sequence: query.written, isProjected: !projection.isEverything)
  }

  /// A result is saved with its attachments, so it has to have them.
  private func attachments(_ query: RunningQuery, of revision: RevisionID) throws -> Attachments {
    guard query.attachments > 0, let reader else { return [] }
    return try Attachments(
      document: query.documentNumber, revision: revision, on: reader.reader.connection,
      files: datastore.attachmentFiles)
  }

  /// Gives the text of each result that has not been read to `body`.
  func forEachText(
    inlinesAttachments: Bool, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    if isExhausted { return }
    try datastore.checkOpen()
    let query = try running(inlinesAttachments ? .documents : .texts)
    var passed = taken
    var buffer = TextBuffer()
    let projection = projection.isEverything ? nil : projection
    defer { taken = passed }
    while try query.step() {
      passed += 1
      DocumentText.write(
        id: query.id, revision: query.revision, body: query.body, projection: projection, to: &buffer)
      if inlinesAttachments {
        try withAttachmentsInlined(query, in: buffer, body)
      } else {
        try buffer.withBytes(body)
      }
      try datastore.checkOpen()
    }
    isExhausted = true
  }

  /// Lends a document's text with its attachments behind the last member.
  private func withAttachmentsInlined(
    _ query: RunningQuery, in text: borrowing TextBuffer, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let attachments = try attachments(
      query, of: try RevisionID(stored: String(decoding: query.revision, as: UTF8.self)))
    guard !attachments.isEmpty else { return try text.withBytes(body) }
    var whole = text.withBytes { Array($0.dropLast()) }
    whole += Array(",\"_attachments\":".utf8) + JSONValue.object(try attachments.inlineJSON()).utf8Text
    whole.append(UInt8(ascii: "}"))
    try whole.withUnsafeBytes(body)
  }

  /// The running query with its next row, or `nil` after the last.
  private func advance() throws -> RunningQuery? {
    if isExhausted { return nil }
    try datastore.checkOpen()
    let query = try running(.documents)
    if try query.step() {
      taken += 1
      return query
    }
    isExhausted = true
    return nil
  }

  /// The statement that gives what is wanted, past the rows that were taken. Within one snapshot both kinds give the
  /// same rows in the same order.
  private func running(_ output: QuerySQL.Output) throws -> RunningQuery {
    if let rows, rows.output == output { return rows }
    endRows()
    let query = try start(output)
    rows = query
    for _ in 0..<taken where try !query.step() { break }
    return query
  }

  private func start(_ output: QuerySQL.Output) throws -> RunningQuery {
    try datastore.checkOpen()
    guard let reader else { throw QueryError.resultSetClosed }
    return try RunningQuery(plan, output: output, snapshot: snapshot, reader: reader.reader)
  }
}
