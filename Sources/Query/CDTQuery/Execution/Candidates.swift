import CDTSQLite

/// The candidates of a plan: first those of its source, then the documents missing from the indexes.
final class Candidates {
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
  func next() throws(SQLiteError) -> Statement? {
    while true {
      if let current {
        if try current.step() { return current }
        self.current = nil
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
      current = statement
      isUnindexed = wanted.isUnindexed
    }
  }

  /// The number of SQLite virtual machine instructions of the statements.
  func takeSteps() -> Int { used.reduce(0) { $0 + $1.takeSteps() } }

  func end() {
    current?.reset()
    current = nil
    position = statements.count
  }
}
