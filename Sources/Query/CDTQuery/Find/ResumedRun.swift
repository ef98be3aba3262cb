import CDTPlan
import CDTSQLite

/// The results of a query, which come without indexes from where the index file turns out to be damaged.
///
/// What follows is the next page: the query after a bookmark, which holds the order of the results, too.
final class ResumedRun {
  private let engine: QueryEngine
  private let output: QueryOutput
  private let stop: QueryStop
  private var query: ResolvedQuery
  private var plan: QueryPlan
  private var run: QueryRun?
  /// The positions and counts of the results that were returned before.
  private var earlier: (first: Bookmark?, last: Bookmark?, keys: Int, documents: Int) = (nil, nil, 0, 0)

  init(
    _ query: ResolvedQuery, _ plan: QueryPlan, output: QueryOutput, by engine: QueryEngine, _ stop: QueryStop
  ) {
    (self.query, self.plan, self.output, self.engine, self.stop) = (query, plan, output, engine, stop)
  }

  func end() {
    run?.end()
  }

  /// The next result, valid until the next call.
  func next() throws -> CandidateRow? { try resuming { try $0.next() } }

  /// The id of the next result.
  func nextID() throws -> String? { try resuming { try $0.nextID() } }

  /// The last result with every column of a document.
  func whole(_ row: CandidateRow) throws -> CandidateRow { try run?.whole(row) ?? row }

  /// The position of the first or the last result; `nil` before any was returned.
  func bookmark(ofFirst isFirst: Bool) throws -> Bookmark? {
    if isFirst, let first = earlier.first { return first }
    return try run?.bookmark(ofFirst: isFirst) ?? earlier.last
  }

  /// The numbers of index rows and of documents read so far.
  var examined: (keys: Int, documents: Int) {
    (earlier.keys + (run?.keysRead ?? 0), earlier.documents + (run?.documentsRead ?? 0))
  }

  private func resuming<R>(_ body: (QueryRun) throws -> R) throws -> R {
    do {
      return try body(startedRun())
    } catch let error where plan.usesIndex && IndexRecovery.isDamage(error) {
      try leaveIndexes(error)
      let result = try body(startedRun())
      // If the documents can be read, it was the index file.
      try engine.transaction.store.indexManager().replaceDamagedFile()
      return result
    }
  }

  private func startedRun() throws -> QueryRun {
    if let run { return run }
    let started = try QueryRun(plan, output: output, in: engine.transaction, stop)
    run = started
    return started
  }

  /// Plans the rest of the query without indexes.
  private func leaveIndexes(_ error: any Error) throws {
    let remaining = try engine.withoutIndexes()
    if let run, let last = try run.bookmark(ofFirst: false) {
      // Only the words have the scores of the rest.
      guard last.rank == nil else { throw error }
      let (first, read) = (try bookmark(ofFirst: true), examined)
      earlier = (first, last, read.keys, read.documents)
      query = query.after(last, results: run.given)
    }
    run?.end()
    run = nil
    plan = try remaining.plan(query, stop)
  }
}
