package import CDTDatastore
import CDTJSON
import CDTSQLite

/// A query in its transaction, with the position of its results. Only one call uses it at a time.
package final class Cursor {
  private let engine: QueryEngine
  private let query: ResolvedQuery
  private var plan: QueryPlan
  private let stop: QueryStop
  private var check: ReadTransaction.ProgressCheck?

  private var run: QueryRun?
  private var isExhausted = false
  private var hasResults = false

  private var transaction: ReadTransaction { engine.transaction }
  private var projection: Projection { query.projection }
  private var store: Datastore { transaction.store }

  init(_ engine: QueryEngine, _ query: ResolvedQuery, plan: QueryPlan, stop: QueryStop) {
    self.engine = engine
    self.query = query
    self.plan = plan
    self.stop = stop
    check = stop.watch(engine.transaction)
  }

  deinit {
    end()
  }

  package func end() {
    run?.end()
    run = nil
    check.take().map(transaction.removeProgressCheck)
  }

  package func nextDocument() throws -> DocumentRevision? {
    try reading {
      guard let row = try nextRow() else { return nil }
      let bytes = row.bytes
      var body = bytes.body.value(at: 0).objectValue ?? [:]
      if !projection.isEverything { body = projection.apply(to: body) }
      return DocumentRevision(
        id: String(decoding: bytes.id, as: UTF8.self), revisionID: try Self.revision(of: row), body: body,
        attachments: try attachments(of: row), sequence: row.sequence, isProjected: !projection.isEverything)
    }
  }

  /// Calls `body` with the id of each result, whether or not it has been read.
  func forEachID(_ body: (String) throws -> Bool) throws {
    var run = try reading { try newRun(.ids) }
    defer { run.end() }
    func next() throws -> String? { try run.next().map { String(decoding: $0.id, as: UTF8.self) } }
    var following = try reading {
      try withoutDamagedIndex(next) {
        run.end()
        run = try newRun(.ids)
        return try next()
      }
    }
    while let id = following {
      guard try body(id) else { return }
      following = try reading(next)
    }
  }

  /// Calls `body` with the text of each unread result.
  ///
  /// - Parameter attachmentsJSON: Returns what `_attachments` is to be; `nil` leaves it out.
  package func forEachText(
    attachmentsJSON: ((Attachments) throws -> JSONObject)?, _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    var buffer = TextBuffer()
    // The errors of the closures are those of their caller.
    var result = Result<Bool, any Error>.success(true)
    let store = store
    try reading {
      while case .success(true) = result {
        try store.checkOpen()
        guard let row = try nextRow() else { return }
        writeText(of: row.bytes, to: &buffer)
        if let attachmentsJSON, row.hasAttachments {
          let attachments: Attachments = try attachments(of: row)
          result = Result { try Self.withAttachments(try attachmentsJSON(attachments), in: buffer, body) }
        } else {
          result = Result { try buffer.withBytes(body) }
        }
      }
    }
    _ = try result.get()
  }

  /// The position after the last document or text that was read; `nil` before the first.
  package func bookmark() throws -> Bookmark? {
    try reading { try run?.bookmark() }
  }

  /// The numbers of index rows and of documents read so far.
  package var examined: (keys: Int, documents: Int) {
    (run?.keysRead ?? 0, run?.documentsRead ?? 0)
  }

  /// Whether every document is read, as no index serves the query.
  package var isScan: Bool {
    if case .scan = plan.source { true } else { false }
  }

  /// Whether an index, or that of the ids, narrows the candidates or gives the order that the query asks for.
  package var isServed: Bool {
    switch plan.source {
    case .scan: AskedIDs(plan.clause.conjuncts, []).isAsked || query.hasOrder && plan.order != .sorted
    case .index(let access): access.narrows || query.hasOrder && plan.order != .sorted
    case .nothing, .ids, .text, .union, .intersection: true
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

  /// Calls `body` with a document's text with its attachments after the last member.
  private static func withAttachments(
    _ attachments: JSONObject, in text: borrowing TextBuffer, _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    var whole = text.withBytes { Array($0.dropLast()) }
    whole += Array(",\"_attachments\":".utf8) + attachments.utf8Text
    whole.append(UInt8(ascii: "}"))
    return try whole.withUnsafeBytes(body)
  }

  // MARK: Rows

  private func nextRow() throws -> CandidateRow? {
    if isExhausted { return nil }
    let row = try hasResults ? laterRow() : firstRow()
    hasResults = true
    if let row { return row }
    isExhausted = true
    run?.end()
    return nil
  }

  private func firstRow() throws -> CandidateRow? {
    func first() throws -> CandidateRow? {
      run = try newRun(.documents)
      return try run?.next()
    }
    return try withoutDamagedIndex(first) {
      run?.end()
      return try first()
    }
  }

  /// Its caller has results already, perhaps in an order that the documents alone don't give.
  private func laterRow() throws -> CandidateRow? {
    do {
      return try run?.next()
    } catch let error as SQLiteError where error.damagedFile != nil && IndexRecovery.isDamage(error) {
      try store.indexManager().replaceDamagedFile()
      throw error
    }
  }

  /// Runs `body`, which reads the first result. If the index file turns out to be damaged, the query begins again
  /// with `again`, without indexes.
  private func withoutDamagedIndex<R>(_ body: () throws -> R, _ again: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error where plan.usesIndex && IndexRecovery.isDamage(error) {
      plan = try engine.withoutIndexes().plan(query, stop)
      let result = try again()
      try store.indexManager().replaceDamagedFile()
      return result
    }
  }

  private func newRun(_ output: QueryOutput) throws -> QueryRun {
    try QueryRun(plan, output: output, in: transaction, stop)
  }

  private static func revision(of row: CandidateRow) throws -> RevisionID {
    try RevisionID(stored: String(decoding: row.bytes.revision, as: UTF8.self))
  }

  /// A result needs its attachments, as it may be saved.
  private func attachments(of row: CandidateRow) throws -> Attachments {
    guard row.hasAttachments else { return [] }
    return try Attachments(
      document: row.number, revision: Self.revision(of: row), on: transaction.connection(),
      files: store.attachmentFiles)
  }

  /// Runs `body` and converts its errors to those of queries and datastores.
  private func reading<R>(_ body: () throws -> R) throws -> R {
    try store.checkOpen()
    return try transaction.use { _ in
      try QueryFailure.mapping(of: store, usesIndex: plan.usesIndex, stop, body)
    }
  }
}
