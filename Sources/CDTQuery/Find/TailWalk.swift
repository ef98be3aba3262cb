import CDTDatastore
import JSON
import SQLite

/// The documents above a plan's watermark that match, one after the other by their sequences: what a query comes to after
/// the rows of its indexes, unless its limit is reached before.
///
/// Where the selector asks for a value, only the documents that hold it are put to the matcher; ``TailValues`` knows them.
final class TailWalk {
  private let program: MatchProgram
  private let documents: DocumentCache
  /// The sequences of the documents that may match, or `nil` to go through all of them.
  private let candidates: [Int64]?
  private var next = 0
  /// Gives one document, or all.
  private let statement: Statement
  /// The document that was met last, where the reader does not have it.
  private let buffer = DocumentBuffer()
  /// What it costs: see ``QuerySQL/tailCost``.
  let cost: Int64

  init(_ plan: QueryPlan, floor: Int64, snapshot: QueryReader.Snapshot, reader: QueryReader) throws {
    program = MatchProgram(plan.clause, text: plan.text)
    documents = reader.documents
    candidates = reader.tailCandidates(of: plan, in: snapshot)
    let selection = "SELECT \(CachedDocument.columns) FROM documents d WHERE d.sequence"
    if let candidates {
      // One that the reader has costs about an eighth of one that is read.
      cost = Int64(candidates.count) / 8
      statement = try reader.connection.statement("\(selection) = ?1")
    } else {
      cost = snapshot.lastSequence - floor
      statement = try reader.connection.statement("\(selection) > ?1 AND NOT d.deleted ORDER BY d.sequence")
      try statement.bind(floor, at: 1)
    }
  }

  /// Goes on to the next document that matches; it is there until the next step.
  func step() throws -> CachedDocument? {
    guard let candidates else { return try stepThroughAll() }
    while next < candidates.count {
      let sequence = candidates[next]
      next += 1
      if let document = try document(of: sequence), try matches(document) { return document }
    }
    return nil
  }

  private func document(of sequence: Int64) throws -> CachedDocument? {
    if try documents.want(sequence) == nil { return documents.current }
    defer { statement.reset() }
    try statement.bind(sequence, at: 1)
    return try statement.step() ? buffer.write(statement) : nil
  }

  private func stepThroughAll() throws -> CachedDocument? {
    while try statement.step() {
      if program.rules(out: statement.unsafeBytes(6)) { continue }
      let document = buffer.write(statement)
      if try matches(document) { return document }
    }
    return nil
  }

  func end() {
    statement.reset()
  }

  private func matches(_ document: CachedDocument) throws -> Bool {
    if program.rules(out: document.body) { return false }
    do throws(MatchFailure) {
      return try program.matcher.matches(
        JSONBytes(document.body), id: document.id, revision: document.revision)
    } catch {
      throw QueryError.matchLimit(
        pattern: error.pattern, documentID: String(decoding: document.id, as: UTF8.self))
    }
  }
}
