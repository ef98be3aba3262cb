import SQLite

/// The candidates of a plan, one after the other: those that its source gives, and then the documents that the indexes do
/// not have.
struct Candidates {
  private let connection: Connection
  private let statements: [CandidateStatement]
  private var position = 0
  private var run = 0
  private var current: Statement?
  /// All statements that were run.
  private var used: [Statement] = []

  init(_ statements: [CandidateStatement], on connection: Connection) {
    self.statements = statements
    self.connection = connection
  }

  /// Whether the candidate has to be put to the whole selector.
  var isUnindexed: Bool { statements[position].isUnindexed }

  /// The next candidate, or `nil` after the last.
  mutating func next() throws(SQLiteError) -> Statement? {
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
    }
  }

  /// How many instructions of SQLite's machine the statements have taken.
  func takeSteps() -> Int { used.reduce(0) { $0 + $1.takeSteps() } }

  mutating func end() {
    current?.reset()
    current = nil
    position = statements.count
  }
}
