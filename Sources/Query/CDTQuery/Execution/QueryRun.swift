import CDTDatastore
import CDTJSON
import CDTPlan
import CDTPlatform
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
  private let idsOnly: Bool
  private let isStreamed: Bool
  /// Whether each row is looked at, as there may be design documents to be left out.
  private let hidesDesignDocuments: Bool
  /// Whether the source's rows have only the texts of documents.
  private let readsTexts: Bool
  /// Whether a result is complete without its document.
  private let needsNoDocument: Bool
  private let isByScore: Bool
  /// Whether the rows of the source are those of an index.
  private let readsKeys: Bool
  /// Whether documents missing from the indexes are merged between the candidates.
  private let mergesUnindexed: Bool
  private var candidates: Candidates
  /// The documents of the source, if they come in the order of their distances.
  private let nearest: NearestRows?
  private let hidden: HiddenDocuments
  private let memory: Int
  private let mayRepeat: Bool
  private var seen: NumberSet?
  private var others: [NumberSet] = []
  /// Whether each row of the source is a match.
  private let matchesAll: Bool
  /// The limits of the query's patterns.
  private let budget: MatchBudget
  private let residual: Matcher?
  private lazy var whole = Matcher(plan.clause, text: plan.text, budget)
  private var order: ResultOrder
  private var isCollected = false
  /// The next match, which waits for its place when documents that the indexes lack are merged.
  private var waiting: (match: Match, key: OrderKey)?
  private var unindexed: (number: Int64, key: OrderKey)?
  private var lookup: CandidateRows?
  private var identities: CandidateRows?
  /// The key after which the results begin.
  private let start: OrderKey?
  /// The documents returned first and last, and their scores.
  private var first: (number: Int64, rank: Double?)?
  private var last: (number: Int64, rank: Double?)?
  /// The rest of a page that was read backwards, the next result at the end; `nil` before it is read.
  private var page: [Int64]?
  private var results: ResultPage
  /// The number of results that were returned.
  var given: Int { results.given }
  /// The number of SQLite instructions of the other sources.
  private var steps = 0
  /// The number of documents read.
  private var documents = 0
  /// The number of index rows read.
  private var keys = 0

  var documentsRead: Int { documents + (nearest?.decided ?? 0) }
  var keysRead: Int { keys + (nearest?.rowsRead ?? 0) }

  /// A matching candidate. The row is valid until the next candidate is read.
  private struct Match {
    let number: Int64
    let row: CandidateRow
    /// Whether the row has the document.
    let hasDocument: Bool
    /// Its score, in the order of the scores.
    var rank: Double?
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
    idsOnly = plan.idsOnly(output)
    isStreamed = plan.order.isStreamed
    // To look at a few rows costs less than to look up whether there are any.
    let isShort =
      plan.lastWanted ?? .max <= 32 || output == .exists || output == .count && plan.countStatement != nil
    hidesDesignDocuments =
      try plan.hidesDesignDocuments && (isShort || CandidateStatement.hasDesignDocuments(on: connection))
    if case .texts = plan.form(output) { readsTexts = true } else { readsTexts = false }
    results = ResultPage(skip: plan.skip, limit: plan.limit)
    needsNoDocument = output == .exists || output == .ids && plan.source.isCovered
    isByScore = plan.order == .score
    readsKeys =
      switch plan.source {
      case .scan: plan.order != .unordered && plan.order != .sorted
      case .nearest, .intersection(.nearest, _): false
      default: true
      }
    mergesUnindexed = plan.hasUnindexed && plan.order != .unordered
    start = plan.start.map { start in
      var key = OrderKey()
      plan.sort.write(start.values, id: start.id, to: &key)
      return key
    }
    budget = MatchBudget(stop)
    residual = plan.isExact ? nil : Matcher(plan.residual, text: plan.text, budget)
    mayRepeat = plan.source.mayRepeat
    if mayRepeat { seen = NumberSet() }
    hidden = plan.hidden
    matchesAll =
      residual == nil && !hidesDesignDocuments && hidden.isEmpty && !mayRepeat && !isByScore
      && plan.source.parts.isEmpty
    memory = transaction.sortMemory
    nearest = try plan.nearest(after: start, on: connection)
    candidates = Candidates(
      plan.statements(output), nearest: nearest, on: connection, memory: transaction.sortMemory)
    order = ResultOrder(wanted: plan.order.isStreamed ? nil : plan.lastWanted, memory: transaction.sortMemory)
    others = try plan.otherStatements.map(numbers)
    if !others.isEmpty { nearest?.restrict(to: .intersection(others)) }
  }

  /// The numbers of the documents that statements return.
  private func numbers(of statements: [CandidateStatement]) throws -> NumberSet {
    var found = NumberSet()
    let rows = Candidates(statements, on: connection)
    while let row = try rows.next() {
      keys += 1
      _ = found.insert(row.number)
    }
    steps += rows.takeSteps()
    return found
  }

  func end() {
    candidates.end()
    nearest?.end()
    lookup?.statement.reset()
    identities?.statement.reset()
  }

  // MARK: Results

  /// The next result, valid until the next call.
  func next() throws -> CandidateRow? {
    guard !plan.isBackward else { return try nextBackward() }
    guard let match = try nextMatchOfPage() else { return nil }
    note((match.number, match.rank))
    return match.hasDocument || needsNoDocument ? match.row : try document(at: match.number)
  }

  private func nextMatchOfPage() throws -> Match? {
    try nextOfPage {
      try !isStreamed ? nextSorted() : mergesUnindexed ? nextMerged() : nextMatch()
    }
  }

  private func nextBackward() throws -> CandidateRow? {
    if page == nil {
      var numbers: [Int64] = []
      while let match = try nextMatchOfPage() { numbers.append(match.number) }
      page = numbers
    }
    guard let number = page?.popLast() else { return nil }
    note((number, nil))
    return try output == .ids ? identity(of: number) : document(at: number)
  }

  private func note(_ result: (number: Int64, rank: Double?)) {
    if first == nil { first = result }
    last = result
  }

  /// The id of the next result.
  func nextID() throws -> String? {
    // In the order of the ids, a key is the id.
    guard output == .ids, plan.order == .sorted, plan.sort.isByID, !plan.isBackward else {
      return try next()?.id
    }
    return try nextOfPage {
      try collect()
      try stop.check()
      return try order.takeNext { key, _ in plan.sort.id(in: key) }
    }
  }

  /// The next of the results that are neither skipped nor beyond the limit.
  private func nextOfPage<Result>(_ next: () throws -> Result?) throws -> Result? {
    while !results.isComplete, let result = try next() {
      if results.take() { return result }
    }
    return nil
  }

  /// The last result with every column of a document.
  func whole(_ row: CandidateRow) throws -> CandidateRow {
    output == .texts ? try document(at: row.number) : row
  }

  /// The position of the first or the last result that was returned; `nil` if none was. It must be asked for in the same transaction,
  /// and ends the validity of the last row.
  func bookmark(ofFirst isFirst: Bool) throws -> Bookmark? {
    guard let result = isFirst ? first : last else { return nil }
    let row = try document(at: result.number)
    return Bookmark(
      sort: plan.isBackward ? plan.sort.reversed : plan.sort, values: plan.sort.values(of: row.bytes),
      id: row.id, rank: result.rank)
  }

  /// The number of matching documents, ignoring the page.
  func count() throws -> Int {
    var count = 0
    if let statement = plan.countStatement {
      let rows = Candidates([statement], on: connection)
      while let row = try rows.next() { count += Int(row.number) }
      if hidesDesignDocuments, count > 0 { count -= try designMatches() }
    }
    while try nextMatch() != nil { count += 1 }
    return count
  }

  /// The number of design documents that the selector matches.
  private func designMatches() throws -> Int {
    let rows = Candidates([.designDocuments], on: connection)
    var count = 0
    while let row = try rows.next() {
      if try accepts(row, isUnindexed: true) { count += 1 }
    }
    return count
  }

  /// The number of SQLite virtual machine instructions of the statements.
  func takeSteps() -> Int {
    steps + candidates.takeSteps() + (nearest?.statement.takeSteps() ?? 0)
      + (lookup?.statement.takeSteps() ?? 0)
      + (identities?.statement.takeSteps() ?? 0)
  }

  /// Reads a document.
  private func document(at number: Int64) throws -> CandidateRow {
    let rows = try lookup ?? CandidateRows(connection.statement(CandidateStatement.document))
    lookup = rows
    rows.statement.reset()
    try rows.statement.bind(number, at: 1)
    documents += 1
    guard try rows.next() else { throw DatastoreError(.damagedIndexOrStore("a document is missing")) }
    return CandidateRow(rows)
  }

  /// Reads the number and the id of a document.
  private func identity(of number: Int64) throws -> CandidateRow {
    let rows = try identities ?? CandidateRows(connection.statement(CandidateStatement.identity))
    identities = rows
    rows.statement.reset()
    try rows.statement.bind(number, at: 1)
    guard try rows.next() else { throw DatastoreError(.damagedIndexOrStore("a document is missing")) }
    return CandidateRow(rows)
  }

  // MARK: Matches

  /// The next matching candidate, in the order of the candidates.
  private func nextMatch() throws -> Match? {
    let candidates = candidates
    while let row = try candidates.next() {
      try stop.check()
      let number = row.number
      let isUnindexed = candidates.isUnindexed
      if !isUnindexed, readsKeys { keys += 1 }
      if matchesAll, !isUnindexed {
        if !idsOnly { documents += 1 }
        return Match(number: number, row: row, hasDocument: !idsOnly)
      }
      if hidesDesignDocuments, row.isOfDesignDocument(hasOnlyText: readsTexts && !isUnindexed) { continue }
      // A document in the overflow of another source's index comes again among the documents missing from the indexes.
      if !isUnindexed, !others.isEmpty, !others.allSatisfy({ $0.contains(number) }) { continue }
      if hidden.contains(number) { continue }
      if mayRepeat, seen?.insert(number) == false { continue }
      let hasDocument = isUnindexed || !idsOnly
      if hasDocument { documents += 1 }
      let rank = !isUnindexed && isByScore ? row.rank(hasDocument: hasDocument) : nil
      guard hasDocument || residual == nil else {
        let read = try document(at: number)
        guard try accepts(read, isUnindexed: false) else { continue }
        return Match(number: number, row: read, hasDocument: true, rank: rank)
      }
      guard try accepts(row, isUnindexed: isUnindexed) else { continue }
      return Match(number: number, row: row, hasDocument: hasDocument, rank: rank)
    }
    return nil
  }

  /// The parts of the document of a row.
  func bytes(of row: CandidateRow) throws -> DocumentBytes {
    try row.foundBytes ?? document(at: row.number).bytes
  }

  private func accepts(_ row: CandidateRow, isUnindexed: Bool) throws -> Bool {
    guard let matcher = isUnindexed ? whole : residual else { return true }
    guard matcher.mayAccept(row.text) else { return false }
    do {
      return try matcher.accepts(bytes(of: row), mayMatch: true)
    } catch {
      // A pattern also fails if the query must end.
      try stop.check()
      throw error
    }
  }

  /// The next match if the candidates are in the requested order and documents are missing from the indexes: these are merged in
  /// their places; by score, they come last.
  private func nextMerged() throws -> Match? {
    if !isCollected { try collectUnindexed() }
    if unindexed == nil { try takeUnindexed() }
    if waiting == nil, let match = try nextMatch() { waiting = (match, try key(of: match)) }
    if let unindexed, waiting.map({ plan.order != .score && unindexed.key < $0.key }) ?? true {
      self.unindexed = nil
      return Match(number: unindexed.number, row: try document(at: unindexed.number), hasDocument: true)
    }
    guard let next = waiting.take()?.match else { return nil }
    // The looked-up row may have been overwritten.
    return idsOnly
      ? Match(number: next.number, row: try document(at: next.number), hasDocument: true, rank: next.rank)
      : next
  }

  // MARK: Order

  private func nextSorted() throws -> Match? {
    try collect()
    try stop.check()
    guard let number = try order.takeNext() else { return nil }
    // For ids, the number and the id are complete.
    let row = try output == .ids ? identity(of: number) : document(at: number)
    return Match(number: number, row: row, hasDocument: true)
  }

  /// Sorts the documents missing from the indexes before the first candidate is read.
  private func collectUnindexed() throws {
    isCollected = true
    let all = plan.statements(output)
    let later = all.filter(\.isUnindexed)
    candidates = Candidates(later, on: connection)
    try sort()
    candidates = Candidates(
      all.filter { !$0.isUnindexed }, nearest: nearest, on: connection, memory: memory)
  }

  private func collect() throws {
    guard !isCollected else { return }
    isCollected = true
    try sort()
  }

  /// Sorts all matches.
  private func sort() throws {
    var key = OrderKey()
    while let match = try nextMatch() {
      guard try write(match, to: &key, upTo: order.last) else { continue }
      if let start, precedes(key, start) { continue }
      try order.add(key, number: match.number)
    }
  }

  /// Whether a document without a score or to be sorted is not after the start.
  private func precedes(_ key: OrderKey, _ start: OrderKey) -> Bool {
    // Documents without a score come after all that have one.
    if plan.sort.isByScore, plan.start?.rank != nil { return false }
    return !(start < key)
  }

  private func takeUnindexed() throws {
    guard let number = try order.takeNext() else { return }
    let match = Match(number: number, row: try document(at: number), hasDocument: true)
    unindexed = (number, try key(of: match))
  }

  /// The sort key of a match.
  private func key(of match: Match) throws -> OrderKey {
    var key = OrderKey()
    _ = try write(match, to: &key)
    return key
  }

  /// - Parameter last: The key after which documents are not needed, if there is one.
  /// - Returns: Whether the key is complete; otherwise the document is after the last one.
  private func write(_ match: Match, to key: inout OrderKey, upTo last: OrderKey? = nil) throws -> Bool {
    if plan.sort.isByID {
      key.removeAll()
      if readsTexts, match.hasDocument {
        key.append(string: try bytes(of: match.row).id)
      } else {
        match.row.appendID(to: &key)
      }
      if plan.sort.isByIDDescending { key.invert(from: 0) }
      return true
    }
    let row = try match.hasDocument ? match.row : document(at: match.number)
    return try plan.sort.write(bytes(of: row), to: &key, upTo: last)
  }
}
