import CDTJSON
import CDTPlan
import CDTSQLite

/// The candidates of a plan: first those of its source, then the documents missing from the indexes.
final class Candidates {
  private let connection: Connection
  private let statements: [CandidateStatement]
  /// The memory in bytes for rows with the same values.
  private let memory: Int
  private var position = 0
  private var run = 0
  private var current: Statement?
  /// Whether the candidate must be checked against the whole selector.
  private(set) var isUnindexed = false
  /// All statements that ran.
  private var used: [Statement] = []
  /// What is read of the current statement's keys, if it returns them.
  private var layout: KeyLayout?
  private var filter: KeyFilter?
  private var ties: TieOrder?
  private var areTiesComplete = false
  /// Whether the current row comes after the rows with the same values.
  private var isHeld = false
  /// Whether the current run has no more rows.
  private var isOver = false

  init(_ statements: [CandidateStatement], on connection: Connection, memory: Int = 1 << 20) {
    self.statements = statements
    self.connection = connection
    self.memory = memory
  }

  /// The next candidate, or `nil` after the last.
  func next() throws -> CandidateRow? {
    while true {
      guard let current else {
        guard try startNextRun() else { return nil }
        continue
      }
      if areTiesComplete {
        if let row = try ties?.takeNext() { return CandidateRow(current, number: row.number, id: row.id) }
        areTiesComplete = false
      }
      guard try !isOver && (isHeld || current.step()) else {
        (isHeld, areTiesComplete) = (false, !isOver && ties != nil)
        isOver = areTiesComplete
        if !isOver {
          self.current = nil
          run += 1
        }
        continue
      }
      guard let layout else { return CandidateRow(current) }
      let key = JSONBytes(current.unsafeBytes(1))
      if let filter, !filter.accepts(key) { continue }
      guard ties != nil else { return CandidateRow(current, layout) }
      isHeld = try ties?.add(key, number: current.int64(0)) == false
      areTiesComplete = isHeld
    }
  }

  /// - Returns: Whether there is one.
  private func startNextRun() throws(SQLiteError) -> Bool {
    while position < statements.count, run >= statements[position].runs {
      (position, run) = (position + 1, 0)
    }
    guard position < statements.count else { return false }
    let wanted = statements[position]
    let statement: Statement
    if run > 0, let last = used.last {
      statement = last
      statement.reset()
    } else {
      statement = try connection.statement(wanted.sql)
      used.append(statement)
      isUnindexed = wanted.isUnindexed
      layout = wanted.keys?.layout
      filter = wanted.keys?.filter
      ties = wanted.keys.flatMap { TieOrder($0.order, $0.layout, memory: memory) }
    }
    try wanted.bind(run: run, to: statement)
    current = statement
    return true
  }

  /// The number of SQLite virtual machine instructions of the statements.
  func takeSteps() -> Int { used.reduce(0) { $0 + $1.takeSteps() } }

  func end() {
    current?.reset()
    current = nil
    position = statements.count
  }
}
