import CDTSQLite

/// The candidates of a plan: first those of its source, then the documents missing from the indexes.
final class Candidates {
  private let connection: Connection
  private let statements: [CandidateStatement]
  /// The documents of the source in the order of their distances, before those of the statements.
  private var nearest: NearestRows?
  /// The memory in bytes for index rows with the same values.
  private let memory: Int
  private var position = 0
  private var run = 0
  private var current: CandidateRows?
  /// Whether the candidate must be checked against the whole selector.
  private(set) var isUnindexed = false
  /// All statements that ran.
  private var used: [Statement] = []

  init(
    _ statements: [CandidateStatement], nearest: NearestRows? = nil, on connection: Connection,
    memory: Int = 1 << 20
  ) {
    self.statements = statements
    self.nearest = nearest
    self.connection = connection
    self.memory = memory
  }

  /// The next candidate, or `nil` after the last.
  func next() throws -> CandidateRow? {
    if let current, try current.next() { return CandidateRow(current) }
    if let nearest {
      if let row = try nearest.nextRow() { return row }
      self.nearest = nil
    }
    return try nextOfNextRun()
  }

  private func nextOfNextRun() throws -> CandidateRow? {
    while true {
      if current != nil {
        current = nil
        run += 1
      }
      guard position < statements.count else { return nil }
      let wanted = statements[position]
      guard run < wanted.runs else {
        (position, run) = (position + 1, 0)
        continue
      }
      let statement: Statement
      if run > 0, let last = used.last {
        statement = last
        statement.reset()
      } else {
        statement = try connection.statement(wanted.sql)
        used.append(statement)
      }
      try wanted.bind(run: run, to: statement)
      let rows = CandidateRows(statement, wanted.keys, maySeek: wanted.values.isEmpty, memory: memory)
      current = rows
      isUnindexed = wanted.isUnindexed
      if try rows.next() { return CandidateRow(rows) }
    }
  }

  /// The next candidate whose key does not begin with some bytes, or the first of another range of keys.
  ///
  /// - Parameter body: Called with the key of each candidate before it.
  /// - Returns: Also the number of candidates before it.
  func next(
    after prefix: OrderKey, _ body: (JSONBytes) -> Void
  ) throws -> (row: CandidateRow?, passed: Int) {
    guard let current else { return (try next(), 0) }
    let found = try current.next(after: prefix, body)
    if found.isRow { return (CandidateRow(current), found.passed) }
    self.current = nil
    run += 1
    return (try next(), found.passed)
  }

  /// The number of SQLite virtual machine instructions of the statements.
  func takeSteps() -> Int { used.reduce(0) { $0 + $1.takeSteps() } }

  func end() {
    current?.statement.reset()
    current = nil
    position = statements.count
  }
}
