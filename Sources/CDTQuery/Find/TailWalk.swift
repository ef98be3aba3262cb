import CDTDatastore
import JSON
import SQLite

/// The documents above a plan's watermark that match, one after the other by their sequences: what a query comes to after
/// the rows of its indexes, unless its limit is reached before.
///
/// Where the selector asks for a value, only the documents that hold it are put to the matcher; ``TailValues`` knows them.
final class TailWalk {
  private let plan: QueryPlan
  private let documents: DocumentCache
  private let connection: Connection
  private let floor: Int64
  /// The sequences of the documents that may match, or `nil` to go through all of them.
  private let candidates: [Int64]?
  private var next = 0
  /// Made when the first document is met; often there is none.
  private lazy var program = MatchProgram(plan.clause, text: plan.text)
  /// Gives all of them, where all are gone through.
  private var statement: Statement?
  /// The document that was met last, where the reader does not have it.
  private lazy var buffer = DocumentBuffer()
  /// What it costs: see ``QuerySQL/tailCost``.
  let cost: Int64

  init(_ plan: QueryPlan, snapshot: QueryReader.Snapshot, reader: QueryReader) {
    self.plan = plan
    documents = reader.documents
    connection = reader.connection
    floor = plan.source.floor(upTo: snapshot.lastSequence) ?? snapshot.lastSequence
    candidates = reader.tailCandidates(of: plan, in: snapshot)
    // One that the reader has costs about an eighth of one that is read.
    cost = candidates.map { Int64($0.count) / 8 } ?? (snapshot.lastSequence - floor)
  }

  /// Goes on to the next document that matches; it is there until the next step.
  func step() throws -> CachedDocument? {
    guard let candidates else { return try stepThroughAll() }
    while next < candidates.count {
      let sequence = candidates[next]
      next += 1
      if let document = try document(of: sequence), !program.rules(out: document.body),
        try matches(document)
      {
        return document
      }
    }
    return nil
  }

  private func document(of sequence: Int64) throws -> CachedDocument? {
    if try documents.want(sequence) == nil { return documents.current }
    return try documents.withRow(of: sequence) { buffer.write($0) }
  }

  private func stepThroughAll() throws -> CachedDocument? {
    let statement = try statement ?? selectAll()
    while try statement.step() {
      if program.rules(out: statement.unsafeBytes(6)) { continue }
      let document = buffer.write(statement)
      if try matches(document) { return document }
    }
    return nil
  }

  private func selectAll() throws -> Statement {
    let made = try connection.statement(
      """
      SELECT \(CachedDocument.columns) FROM main.documents d
       WHERE d.sequence > ?1 AND NOT d.deleted ORDER BY d.sequence
      """)
    try made.bind(floor, at: 1)
    statement = made
    return made
  }

  func end() {
    statement?.reset()
  }

  private func matches(_ document: CachedDocument) throws -> Bool {
    do throws(MatchFailure) {
      return try program.matcher.matches(
        JSONBytes(document.body), id: document.id, revision: document.revision)
    } catch {
      throw QueryError.matchLimit(
        pattern: error.pattern, documentID: String(decoding: document.id, as: UTF8.self))
    }
  }
}
