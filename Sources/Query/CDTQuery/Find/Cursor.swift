package import CDTDatastore
import CDTJSON
import CDTPlan
import CDTSQLite

/// A query in its transaction, with the position of its results. Only one call uses it at a time.
package final class Cursor {
  let engine: QueryEngine
  let request: Query
  let query: ResolvedQuery
  let plan: QueryPlan
  let stop: QueryStop
  private var check: ReadTransaction.ProgressCheck?

  private var run: ResumedRun?
  private var isExhausted = false
  /// The ids that the results read so far link; `nil` if the query includes nothing.
  package let links: LinkedIDs?

  private var transaction: ReadTransaction { engine.transaction }
  var store: Datastore { transaction.store }

  init(
    _ engine: QueryEngine, _ request: Query, _ query: ResolvedQuery, plan: QueryPlan, stop: QueryStop
  ) {
    (self.engine, self.request, self.query, self.plan, self.stop) = (engine, request, query, plan, stop)
    links = query.includes.isEmpty ? nil : LinkedIDs(query.includes)
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
      guard var row = try nextRow(.documents) else { return nil }
      row = try run?.whole(row) ?? row
      return try document(row)
    }
  }

  /// All documents, of a cursor that has returned none.
  ///
  /// - Throws: ``DamagedIndex`` if the index file turns out to be damaged, at any document; the caller begins again.
  func documents() throws -> [DocumentRevision] {
    try reading {
      let run = try QueryRun(plan, output: .documents, in: transaction, stop)
      defer { run.end() }
      var documents: [DocumentRevision] = []
      while let row = try run.next() { documents.append(try document(row)) }
      return documents
    }
  }

  /// Calls `body` with each unread document, its number and its stored bytes, which are valid during the call.
  func forEachDocument(_ body: (DocumentRevision, _ number: Int64, DocumentBytes) -> Void) throws {
    try reading {
      while let row = try nextRow(.documents) { body(try document(row), row.number, row.bytes) }
    }
  }

  private func document(_ row: CandidateRow) throws -> DocumentRevision {
    let document = try row.document(in: transaction)
    links?.add(from: row.bytes.body)
    if query.returnsDocuments { return document }
    return document.projected(to: query.result(document.body, of: row.bytes, plan.text))
  }

  /// Calls `body` with the id of each result, whether or not it has been read.
  func forEachID(_ body: (String) throws -> Bool) throws {
    let run = newRun(.ids)
    defer { run.end() }
    // An error of the closure is not one of reading.
    var failure: (any Error)?
    let store = store
    try reading {
      while let id = try run.nextID() {
        do {
          guard try body(id) else { return }
        } catch {
          failure = error
          return
        }
        try store.checkOpen()
      }
    }
    if let failure { throw failure }
  }

  /// Calls `body` with the text of each unread result.
  ///
  /// - Parameter attachmentsJSON: Returns what `_attachments` of a document with an id is to be; `nil` leaves it out.
  package func forEachText(
    attachmentsJSON: ((String, Attachments) throws -> JSONObject)?,
    _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    var buffer = TextBuffer()
    // An error of the closures is not one of reading.
    var failure: (any Error)?
    let (store, hasAttachments) = (store, attachmentsJSON != nil)
    // Then the stored texts are the results.
    let areStored = !hasAttachments && query.returnsDocuments && links == nil
    try reading {
      while let row = try nextRow(areStored ? .texts : .documents) {
        links?.add(from: row.bytes.body)
        if !areStored { writeText(of: row, to: &buffer) }
        var attachments: (id: String, all: Attachments)?
        if hasAttachments, let whole = try run?.whole(row), whole.hasAttachments {
          attachments = (whole.id, try whole.attachments(in: transaction))
        }
        do {
          let shouldContinue =
            if let attachments, let attachmentsJSON {
              try Self.withAttachments(try attachmentsJSON(attachments.id, attachments.all), in: buffer, body)
            } else {
              try areStored ? body(row.text) : buffer.withBytes(body)
            }
          guard shouldContinue else { return }
        } catch {
          failure = error
          return
        }
        try store.checkOpen()
      }
    }
    if let failure { throw failure }
  }

  /// The position after the last document or text that was read, or that of the first; `nil` before any was.
  package func bookmark(ofFirst isFirst: Bool = false) throws -> Bookmark? {
    try reading { try run?.bookmark(ofFirst: isFirst) }
  }

  /// The documents that the results read so far link, under the names of the query.
  package func included() throws -> IncludedDocuments { try included(links) }

  func included(_ links: LinkedIDs?) throws -> IncludedDocuments {
    guard let links else { return [:] }
    var found: [DocumentRevision] = []
    try forEachLinked(links.ids) { found.append($0) }
    return IncludedDocuments(links, found)
  }

  /// Calls `body` with each document that has one of some ids, is not deleted, and that the user sees.
  package func forEachLinked(_ ids: [String], _ body: (DocumentRevision) throws -> Void) throws {
    try reading {
      for start in stride(from: 0, to: ids.count, by: 100) {
        let found = Result { try transaction.documents(withIDs: Array(ids[start...].prefix(100))) }
        // If the statement was interrupted, this is the reason.
        try stop.check()
        try found.get().filter { !$0.isDeleted }.forEach(body)
      }
    }
  }

  /// The numbers of index rows and of documents read so far.
  package var examined: (keys: Int, documents: Int) {
    run?.examined ?? (0, 0)
  }

  /// Whether every document is read, as no index serves the query.
  package var isScan: Bool {
    if case .scan = plan.source { true } else { false }
  }

  /// Whether an index, or that of the ids, narrows the candidates or gives the order that the query asks for.
  package var isServed: Bool {
    switch plan.source {
    case .scan: IDCondition(plan.clause.conjuncts, []).isRequested || query.hasOrder && plan.order != .sorted
    case .index(let access): access.narrows || query.hasOrder && plan.order != .sorted
    case .nothing, .ids, .text, .nearest, .union, .intersection: true
    }
  }

  private func writeText(of row: CandidateRow, to buffer: inout TextBuffer) {
    guard !query.returnsDocuments else {
      let text = row.text
      return buffer.replace(upTo: text.count) { start in
        if let base = text.baseAddress { start.copyMemory(from: base, byteCount: text.count) }
        return start + text.count
      }
    }
    let document = row.bytes
    let projected = query.result(document.body.value(at: 0).objectValue ?? [:], of: document, plan.text)
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

  /// - Parameter output: Documents or texts; after the first row it has no effect.
  private func nextRow(_ output: QueryOutput) throws -> CandidateRow? {
    if isExhausted { return nil }
    if run == nil { run = newRun(output) }
    if let row = try run?.next() { return row }
    isExhausted = true
    run?.end()
    return nil
  }

  private func newRun(_ output: QueryOutput) -> ResumedRun {
    ResumedRun(query, plan, output: output, by: engine, stop)
  }

  /// Runs `body` and converts its errors to those of queries and datastores.
  private func reading<R>(_ body: () throws -> R) throws -> R {
    try store.checkOpen()
    return try transaction.use { _ in
      try QueryFailure.mapping(of: store, usesIndex: plan.usesIndex, stop, body)
    }
  }
}
