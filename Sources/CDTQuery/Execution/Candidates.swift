import CDTSQLite

/// The candidates of a plan: first those of its source, then the documents missing from the indexes.
struct Candidates {
  private let connection: Connection
  private let statements: [CandidateStatement]
  private var position = 0
  private var run = 0
  private var current: Statement?
  /// Whether the candidate must be checked against the whole selector.
  private(set) var isUnindexed = false
  /// All statements that ran.
  private var used: [Statement] = []

  init(_ statements: [CandidateStatement], on connection: Connection) {
    self.statements = statements
    self.connection = connection
  }

  /// The next candidate, or `nil` after the last.
  mutating func next() throws(SQLiteError) -> Statement? {
    if let next = try nextOfStatement() { return next }
    return try nextOfLaterStatements()
  }

  /// The next candidate of the current statement, or `nil` after its last.
  func nextOfStatement() throws(SQLiteError) -> Statement? {
    guard let current, try current.step() else { return nil }
    return current
  }

  /// The next candidate after the last of the current statement, or `nil` after the last.
  mutating func nextOfLaterStatements() throws(SQLiteError) -> Statement? {
    if current.take() != nil { run += 1 }
    while position < statements.count {
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
      isUnindexed = wanted.isUnindexed
      if try statement.step() {
        current = statement
        return statement
      }
      run += 1
    }
    return nil
  }

  /// The number of SQLite virtual machine instructions of the statements.
  func takeSteps() -> Int { used.reduce(0) { $0 + $1.takeSteps() } }

  mutating func end() {
    current?.reset()
    current = nil
    position = statements.count
  }
}
