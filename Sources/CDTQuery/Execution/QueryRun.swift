import CDTDatastore
import CDTJSON
import CDTSQLite

/// The execution of a plan in a snapshot: a single pipeline from candidates to results, for every kind of source.
///
/// | step | |
/// |---|---|
/// | candidates | ``Candidates``: the rows of the source's statements, then the documents missing from the indexes |
/// | deduplication | a ``NumberSet``, if the source may return a document twice |
/// | intersection | the documents of the other sources, one ``NumberSet`` per source |
/// | matcher | the residual of the plan; for documents missing from the indexes, the whole selector |
/// | order | the order of the candidates, or ``ResultOrder`` |
/// | page | `skip` and `limit` |
/// | document | returned with the candidate, or read by ``document(at:)`` |
final class QueryRun {
  private let plan: QueryPlan
  private let output: QueryOutput
  private let connection: Connection
  private let stop: QueryStop
  private let isBare: Bool
  /// Whether a result is complete without its document.
  private let needsNoDocument: Bool
  /// Whether documents missing from the indexes are merged between the candidates.
  private let mergesUnindexed: Bool
  private var candidates: Candidates
  private var seen: NumberSet?
  private var others: [NumberSet] = []
  /// The limits of the query's patterns.
  private let budget: MatchBudget
  private let residual: Matcher?
  private lazy var whole = Matcher(plan.clause, text: plan.text, budget)
  private var order: ResultOrder
  private var isCollected = false
  /// When merging documents missing from the indexes: the next match, which waits for its place.
  private var waiting: (match: Match, key: OrderKey)?
  private var unindexed: (number: Int64, key: OrderKey)?
  private var lookup: Statement?
  private var passed = 0
  private var given = 0
  /// The number of SQLite instructions of the other sources.
  private var steps = 0
  /// The number of documents read.
  private(set) var documentsRead = 0

  /// A matching candidate. The row is valid until the next candidate is read.
  private struct Match {
    let number: Int64
    let row: CandidateRow
    /// Whether the row has the document.
    let hasDocument: Bool
  }

  /// - Parameters:
  ///   - output: The required output.
  ///   - stop: Checked with each candidate.
  init(
    _ plan: QueryPlan, output: QueryOutput, in transaction: ReadTransaction,
    _ stop: QueryStop = QueryStop()
  ) throws {
    self.plan = plan
    self.output = output
    connection = try transaction.connection()
    self.stop = stop
    isBare = plan.isBare(output)
    needsNoDocument = output == .exists || output == .ids && plan.source.isCovered
    mergesUnindexed = plan.hasUnindexed && !plan.sort.isEmpty
    budget = MatchBudget(stop)
    residual = plan.isExact ? nil : Matcher(plan.residual, text: plan.text, budget)
    if plan.source.mayRepeat { seen = NumberSet() }
    candidates = Candidates(plan.statements(output), on: connection)
    order = ResultOrder(wanted: plan.order.isStreamed ? nil : plan.lastWanted, memory: transaction.sortMemory)
    others = try plan.otherStatements.map(numbers)
  }

  /// The numbers of the documents that statements return.
  private func numbers(of statements: [CandidateStatement]) throws -> NumberSet {
    var found = NumberSet()
    var rows = Candidates(statements, on: connection)
    while let row = try rows.next() { _ = found.insert(CandidateRow(row).number) }
    steps += rows.takeSteps()
    return found
  }

  func end() {
    candidates.end()
    lookup?.reset()
  }

  // MARK: Results

  /// The next result, valid until the next call.
  func next() throws -> CandidateRow? {
    while given < plan.limit ?? .max {
      guard let match = try plan.order.isStreamed ? nextInPlace() : nextSorted() else { return nil }
      if passed < plan.skip {
        passed += 1
        continue
      }
      given += 1
      return match.hasDocument || needsNoDocument ? match.row : try document(at: match.number)
    }
    return nil
  }

  /// The number of matching documents, ignoring the page.
  func count() throws -> Int {
    var count = 0
    if let statement = plan.countStatement {
      var rows = Candidates([statement], on: connection)
      while let row = try rows.next() { count += Int(row.int64(0)) }
    }
    while try nextMatch() != nil { count += 1 }
    return count
  }

  /// The number of SQLite virtual machine instructions of the statements.
  func takeSteps() -> Int {
    steps + candidates.takeSteps() + (lookup?.takeSteps() ?? 0)
  }

  /// Reads a document.
  private func document(at number: Int64) throws -> CandidateRow {
    let statement = try lookup ?? connection.statement(CandidateStatement.document)
    lookup = statement
    statement.reset()
    try statement.bind(number, at: 1)
    documentsRead += 1
    guard try statement.step() else { throw DatastoreError.damagedIndexOrStore("a document is missing") }
    return CandidateRow(statement)
  }

  // MARK: Matches

  /// The next matching candidate, in the order of the candidates.
  private func nextMatch() throws -> Match? {
    while let statement = try candidates.next() {
      try stop.check()
      let row = CandidateRow(statement)
      let number = row.number
      let isUnindexed = candidates.isUnindexed
      // A document kept apart from another source's index comes again among the documents missing from the indexes.
      if !isUnindexed, !others.allSatisfy({ $0.contains(number) }) { continue }
      if seen?.insert(number) == false { continue }
      var match = Match(number: number, row: row, hasDocument: isUnindexed || !isBare)
      if match.hasDocument { documentsRead += 1 }
      if let matcher = isUnindexed ? whole : residual {
        if !match.hasDocument {
          match = Match(number: number, row: try document(at: number), hasDocument: true)
        }
        guard try accepts(match.row, matcher) else { continue }
      }
      return match
    }
    return nil
  }

  private func accepts(_ row: CandidateRow, _ matcher: Matcher) throws -> Bool {
    do {
      return try matcher.accepts(row.bytes)
    } catch {
      // A pattern also fails if the query must end.
      try stop.check()
      throw error
    }
  }

  /// The next match if the candidates are in the requested order. Documents missing from the indexes are merged in
  /// their places; without an order, and by score, they come last.
  private func nextInPlace() throws -> Match? {
    guard mergesUnindexed else { return try nextMatch() }
    if !isCollected { try collectUnindexed() }
    if unindexed == nil { try takeUnindexed() }
    if waiting == nil, let match = try nextMatch() { waiting = (match, try key(of: match)) }
    if let unindexed, waiting.map({ plan.order != .score && unindexed.key < $0.key }) ?? true {
      self.unindexed = nil
      return Match(number: unindexed.number, row: try document(at: unindexed.number), hasDocument: true)
    }
    guard let next = waiting.take()?.match else { return nil }
    // The looked-up row may have been overwritten.
    return isBare ? Match(number: next.number, row: try document(at: next.number), hasDocument: true) : next
  }

  // MARK: Order

  private func nextSorted() throws -> Match? {
    if !isCollected {
      isCollected = true
      try sort()
    }
    guard let number = try order.takeNext() else { return nil }
    return Match(number: number, row: try document(at: number), hasDocument: true)
  }

  /// Sorts the documents missing from the indexes before the first candidate is read.
  private func collectUnindexed() throws {
    isCollected = true
    let all = plan.statements(output)
    let later = all.filter(\.isUnindexed)
    candidates = Candidates(later, on: connection)
    try sort()
    candidates = Candidates(all.filter { !$0.isUnindexed }, on: connection)
  }

  /// Sorts all matches.
  private func sort() throws {
    var key = OrderKey()
    while let match = try nextMatch() {
      try write(match, to: &key)
      try order.add(key, number: match.number)
    }
  }

  private func takeUnindexed() throws {
    guard let number = try order.takeNext() else { return }
    let match = Match(number: number, row: try document(at: number), hasDocument: true)
    unindexed = (number, try key(of: match))
  }

  /// The sort key of a match.
  private func key(of match: Match) throws -> OrderKey {
    var key = OrderKey()
    try write(match, to: &key)
    return key
  }

  private func write(_ match: Match, to key: inout OrderKey) throws {
    let row = try match.hasDocument ? match.row : document(at: match.number)
    plan.sort.write(row.bytes, to: &key)
  }
}
