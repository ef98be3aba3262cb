import CDTJSON
import CDTSQLite

/// The function `exact_sum` of a connection: sums of the groups that SQLite makes.
final class SQLiteSumFunction: NumberAggregator {
  static let function = "exact_sum"

  private var sums: [ExactSum] = []
  /// The states that can be used again.
  private var free: [Int] = []

  /// The function of a connection, which is defined for its first query for groups.
  static func of(_ connection: Connection) throws(SQLiteError) -> SQLiteSumFunction {
    if let known = connection.aggregator as? SQLiteSumFunction {
      known.sums.removeAll()
      known.free.removeAll()
      return known
    }
    let made = SQLiteSumFunction()
    try connection.define(function, made)
    connection.aggregator = made
    return made
  }

  func makeState() -> Int64 {
    if let state = free.popLast() { return Int64(state) }
    sums.append(ExactSum())
    return Int64(sums.count - 1)
  }

  func add(_ values: UnsafeBufferPointer<Int64>, doubles: UInt64, to state: Int64) {
    // Taken out, so that it is not copied.
    var sum = ExactSum()
    swap(&sum, &sums[Int(state)])
    for (position, value) in values.enumerated() {
      let isDouble = doubles >> UInt64(position) & 1 == 1
      sum.add(isDouble ? .double(Double(bitPattern: UInt64(bitPattern: value))) : .int(value))
    }
    swap(&sum, &sums[Int(state)])
  }

  /// The sum of a group, whose state is then used for another one: that of no number for -1.
  func take(_ state: Int64) -> ExactSum {
    var sum = ExactSum()
    guard sums.indices.contains(Int(state)) else { return sum }
    swap(&sum, &sums[Int(state)])
    free.append(Int(state))
    return sum
  }
}
