import CDTDatastore
import JSON
import SQLite

/// The documents above a plan's watermark that match, one after the other by their sequences: what a query comes to after
/// the rows of its indexes, unless its limit is reached before.
///
/// Where the selector asks for a value, only the documents that hold it are put to the matcher; ``TailValues`` knows them.
struct TailWalk {
  private let program: MatchProgram
  private let documents: DocumentCache
  /// The sequences of the documents that may match, or `nil` to go through all of them.
  private let candidates: [Int64]?
  private var next = 0
  /// Gives the columns of the query's own statement, for one document or for all.
  let statement: Statement
  private let bodyColumn: Int
  /// What it costs: see ``QuerySQL/tailCost``.
  let cost: Int64

  /// The row is that of the statement, or the document that the cache has.
  enum Row {
    case statement
    case cached(CachedDocument)
  }

  init(
    _ plan: QueryPlan, output: QuerySQL.Output, floor: Int64, snapshot: QueryReader.Snapshot,
    reader: QueryReader
  ) throws {
    program = MatchProgram(plan.clause, text: plan.text)
    documents = reader.documents
    candidates = reader.tailCandidates(of: plan, in: snapshot)
    bodyColumn = QuerySQL.bodyColumn(of: output)
    let sql = QuerySQL.selection(output)
    if let candidates {
      // One that the reader has costs about an eighth of one that is read.
      cost = Int64(candidates.count) / 8
      statement = try reader.connection.statement(sql + " WHERE d.sequence = ?1")
    } else {
      cost = snapshot.lastSequence - floor
      statement = try reader.connection.statement(
        sql + " WHERE d.sequence > ?1 AND NOT d.deleted ORDER BY d.sequence")
      try statement.bind(floor, at: 1)
    }
  }

  /// Goes on to the next document that matches.
  mutating func step() throws -> Row? {
    guard let candidates else { return try stepThroughAll() }
    while next < candidates.count {
      let sequence = candidates[next]
      next += 1
      if try documents.want(sequence) == nil {
        if let document = documents.current, try matches(document) { return .cached(document) }
      } else {
        statement.reset()
        try statement.bind(sequence, at: 1)
        if try statement.step(), try matchesRow() { return .statement }
      }
    }
    return nil
  }

  private func stepThroughAll() throws -> Row? {
    while try statement.step() {
      if try matchesRow() { return .statement }
    }
    return nil
  }

  func end() {
    statement.reset()
  }

  private func matchesRow() throws -> Bool {
    try matches(
      statement.unsafeBytes(bodyColumn), id: statement.unsafeBytes(1),
      revision: statement.unsafeBytes(QuerySQL.revisionColumn))
  }

  private func matches(_ document: CachedDocument) throws -> Bool {
    try matches(document.body, id: document.id, revision: document.revision)
  }

  private func matches(
    _ body: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer, revision: UnsafeRawBufferPointer
  ) throws -> Bool {
    if program.rules(out: body) { return false }
    do throws(MatchFailure) {
      return try program.matcher.matches(JSONBytes(body), id: id, revision: revision)
    } catch {
      throw QueryError.matchLimit(pattern: error.pattern, documentID: String(decoding: id, as: UTF8.self))
    }
  }
}
