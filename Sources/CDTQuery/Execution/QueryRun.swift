import CDTDatastore
import JSON
import SQLite

/// A plan at work in a snapshot: one way from candidates to results, whatever they come from.
///
/// | step | |
/// |---|---|
/// | candidates | ``Candidates``: the rows of the source's statements, and then the documents that the indexes do not have |
/// | repetitions | a ``NumberSet``, where the source may give a document twice |
/// | intersection | the other sources' documents, each source's as a ``NumberSet`` |
/// | matcher | what the plan has left; for documents that the indexes do not have, the whole selector |
/// | order | the candidates' own, or ``ResultOrder`` |
/// | page | `skip` and `limit` |
/// | document | with the candidate, or ``document(at:)`` |
final class QueryRun {
  private let plan: QueryPlan
  private let output: QueryOutput
  private let connection: Connection
  private let stop: QueryStop
  private let isBare: Bool
  /// Whether a result is complete without its document.
  private let needsNoDocument: Bool
  /// Whether documents that the indexes do not have belong between the candidates.
  private let mergesUnindexed: Bool
  private var candidates: Candidates
  private var seen: NumberSet?
  private var others: [NumberSet] = []
  private let residual: Matcher?
  private lazy var whole = Matcher(plan.clause, text: plan.text)
  private var order: ResultOrder
  private var isCollected = false
  /// Where documents that the indexes do not have come between the candidates: the next of either.
  private var waiting: (match: Match, key: OrderKey)?
  private var unindexed: (number: Int64, key: OrderKey)?
  private var lookup: Statement?
  private var passed = 0
  private var given = 0
  /// How many instructions of SQLite's machine the other sources took.
  private var steps = 0
  /// How many documents were read.
  private(set) var documentsRead = 0

  /// A candidate that matches. The row is valid until the next candidate is asked for.
  private struct Match {
    let number: Int64
    let row: DocumentRow
    /// Whether the row has the document.
    let hasDocument: Bool
  }

  /// - Parameters:
  ///   - output: What is wanted of the matches.
  ///   - stop: Is asked with each candidate whether to go on.
  init(
    _ plan: QueryPlan, output: QueryOutput, in snapshot: borrowing QuerySnapshot,
    _ stop: QueryStop = QueryStop()
  ) throws {
    self.plan = plan
    self.output = output
    connection = snapshot.connection
    self.stop = stop
    isBare = plan.isBare(output)
    needsNoDocument = output == .exists || output == .ids && plan.source.isCovered
    mergesUnindexed = plan.hasUnindexed && !plan.sort.isEmpty
    residual = plan.isExact ? nil : Matcher(plan.residual, text: plan.text)
    if plan.source.mayRepeat { seen = NumberSet() }
    candidates = Candidates(plan.statements(output), on: connection)
    order = ResultOrder(wanted: plan.order.isStreamed ? nil : plan.lastWanted, memory: snapshot.sortMemory)
    others = try plan.otherStatements.map(numbers)
  }

  /// The numbers of the documents that statements give.
  private func numbers(of statements: [CandidateStatement]) throws -> NumberSet {
    var found = NumberSet()
    var rows = Candidates(statements, on: connection)
    while let row = try rows.next() { _ = found.insert(DocumentRow(row).number) }
    steps += rows.takeSteps()
    return found
  }

  func end() {
    candidates.end()
    lookup?.reset()
  }

  // MARK: Results

  /// The next result. What it lends is valid until the next one is asked for.
  func next() throws -> DocumentRow? {
    while plan.limit == 0 || given < plan.limit {
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

  /// How many documents match, whatever the page is.
  func count() throws -> Int {
    var count = 0
    if let statement = plan.countStatement {
      var rows = Candidates([statement], on: connection)
      while let row = try rows.next() { count += Int(row.int64(0)) }
    }
    while try nextMatch() != nil { count += 1 }
    return count
  }

  /// How many instructions of SQLite's machine the statements have taken.
  func takeSteps() -> Int {
    steps + candidates.takeSteps() + (lookup?.takeSteps() ?? 0)
  }

  /// Reads a document.
  private func document(at number: Int64) throws -> DocumentRow {
    let statement = try lookup ?? connection.statement(CandidateStatement.document)
    lookup = statement
    statement.reset()
    try statement.bind(number, at: 1)
    documentsRead += 1
    guard try statement.step() else { throw DatastoreError.damagedIndexOrStore("a document is missing") }
    return DocumentRow(statement)
  }

  // MARK: Matches

  /// The next candidate that matches, in the order of the candidates.
  private func nextMatch() throws -> Match? {
    while let statement = try candidates.next() {
      try stop.check()
      let row = DocumentRow(statement)
      let number = row.number
      let isUnindexed = candidates.isUnindexed
      // A document that another source keeps apart comes again among those that the indexes do not have.
      if !isUnindexed, !others.allSatisfy({ $0.contains(number) }) { continue }
      if seen?.insert(number) == false { continue }
      var match = Match(number: number, row: row, hasDocument: isUnindexed || !isBare)
      if match.hasDocument { documentsRead += 1 }
      if let matcher = isUnindexed ? whole : residual {
        if !match.hasDocument {
          match = Match(number: number, row: try document(at: number), hasDocument: true)
        }
        guard try matcher.accepts(match.row.bytes) else { continue }
      }
      return match
    }
    return nil
  }

  /// The next match where the candidates come in the order asked for. Documents that the indexes do not have come in
  /// between, where they belong; without an order, and by score, they come last.
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
    // What was looked up for it may have been overwritten.
    return isBare ? Match(number: next.number, row: try document(at: next.number), hasDocument: true) : next
  }

  // MARK: Order

  private func nextSorted() throws -> Match? {
    if !isCollected {
      isCollected = true
      while let match = try nextMatch() { try order.add(key(of: match), number: match.number) }
    }
    guard let number = try order.takeNext() else { return nil }
    return Match(number: number, row: try document(at: number), hasDocument: true)
  }

  /// Puts the documents that the indexes do not have in order, before any candidate of theirs is asked for.
  private func collectUnindexed() throws {
    isCollected = true
    let all = plan.statements(output)
    let later = all.filter(\.isUnindexed)
    candidates = Candidates(later, on: connection)
    while let match = try nextMatch() { try order.add(key(of: match), number: match.number) }
    candidates = Candidates(all.filter { !$0.isUnindexed }, on: connection)
  }

  private func takeUnindexed() throws {
    guard let number = try order.takeNext() else { return }
    let match = Match(number: number, row: try document(at: number), hasDocument: true)
    unindexed = (number, try key(of: match))
  }

  /// What puts a match in its place.
  private func key(of match: Match) throws -> OrderKey {
    let row = try match.hasDocument ? match.row : document(at: match.number)
    var key = OrderKey()
    plan.sort.write(row.bytes, to: &key)
    return key
  }
}
