import CDTDatastore
import JSON
import SQLite

/// A query in its snapshot, and how far its results have been read. It is used by one call at a time.
final class Cursor {
  private let store: Datastore
  private let plan: QueryPlan
  private let projection: Projection
  private let stop: QueryStop
  private let usesIndex: Bool

  /// The snapshot, until the cursor is closed.
  private var snapshot: QuerySnapshot?
  private var run: QueryRun?
  private var isExhausted = false

  init(
    _ store: Datastore, _ query: Query, plan: QueryPlan, snapshot: consuming QuerySnapshot,
    stop: QueryStop
  ) {
    self.store = store
    self.plan = plan
    usesIndex = plan.usesIndex
    projection = query.projection
    self.stop = stop
    self.snapshot = consume snapshot
  }

  deinit {
    close()
  }

  func close() {
    run?.end()
    run = nil
    snapshot = nil
  }

  func nextDocument() throws -> DocumentRevision? {
    try reading {
      guard let row = try nextRow() else { return nil }
      let bytes = row.bytes
      var body = bytes.body.value(at: 0).objectValue ?? [:]
      if !projection.isEverything { body = projection.apply(to: body) }
      return DocumentRevision(
        id: String(decoding: bytes.id, as: UTF8.self), revision: try Self.revision(of: row), body: body,
        attachments: try attachments(of: row), sequence: row.sequence, isProjected: !projection.isEverything)
    }
  }

  /// Gives the id of each result, whether or not it has been read.
  func forEachID(_ body: (String) throws -> Bool) throws {
    let run = try reading { try newRun(.ids) }
    defer { run.end() }
    while let id = try reading({ try run.next().map { String(decoding: $0.id, as: UTF8.self) } }) {
      guard try body(id) else { return }
      try store.checkOpen()
    }
  }

  /// Gives the text of each result that has not been read to `body`.
  func forEachText(
    inlinesAttachments: Bool, _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    var buffer = TextBuffer()
    while let row = try reading({ try nextRow() }) {
      let document = row.bytes
      writeText(of: document, to: &buffer)
      var inlined = Attachments()
      if inlinesAttachments { inlined = try reading { try attachments(of: row) } }
      let goesOn =
        inlined.isEmpty ? try buffer.withBytes(body) : try Self.withAttachments(inlined, in: buffer, body)
      guard goesOn else { return }
    }
  }

  private func writeText(of document: DocumentBytes, to buffer: inout TextBuffer) {
    let text = document.body.slice(0, document.body.count)
    guard !projection.isEverything else {
      return StoredDocument.write(id: document.id, revision: document.revision, body: text, to: &buffer)
    }
    let projected = projection.apply(to: document.body.value(at: 0).objectValue ?? [:])
    projected.utf8Text.withUnsafeBytes {
      StoredDocument.write(id: document.id, revision: document.revision, body: $0, to: &buffer)
    }
  }

  /// Lends a document's text with its attachments behind the last member.
  private static func withAttachments(
    _ attachments: Attachments, in text: borrowing TextBuffer, _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    var whole = text.withBytes { Array($0.dropLast()) }
    whole += Array(",\"_attachments\":".utf8) + JSONValue.object(try attachments.inlineJSON()).utf8Text
    whole.append(UInt8(ascii: "}"))
    return try whole.withUnsafeBytes(body)
  }

  // MARK: Rows

  private func nextRow() throws -> DocumentRow? {
    if isExhausted { return nil }
    let run = try run ?? newRun(.documents)
    self.run = run
    let row = try run.next()
    if row == nil {
      isExhausted = true
      run.end()
    }
    return row
  }

  private func newRun(_ output: QueryOutput) throws -> QueryRun {
    switch snapshot {
    case .some(let snapshot): return try QueryRun(plan, output: output, in: snapshot, stop)
    case nil: throw QueryError.resultSetClosed
    }
  }

  private static func revision(of row: DocumentRow) throws -> RevisionID {
    try RevisionID(stored: String(decoding: row.bytes.revision, as: UTF8.self))
  }

  /// A result is saved with its attachments, so it has to have them.
  private func attachments(of row: DocumentRow) throws -> Attachments {
    guard row.hasAttachments, let connection = snapshot?.connection else { return [] }
    return try Attachments(
      document: row.number, revision: Self.revision(of: row), on: connection, files: store.attachmentFiles)
  }

  /// Runs `body` with its errors turned into those of queries and datastores.
  private func reading<R>(_ body: () throws -> R) throws -> R {
    try store.checkOpen()
    return try QueryFailure.mapping(of: store, usesIndex: usesIndex, stop, body)
  }
}
