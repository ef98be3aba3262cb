import CDTJSON
import CDTPlan
import CDTSQLite

/// The rows of a statement. Of rows with keys, those that a filter accepts; and where the keys do not have the order of the results,
/// sorted by their ids among those with the same values.
final class CandidateRows {
  let statement: Statement
  /// The layout of the keys; `nil` if the rows have ids.
  let layout: KeyLayout?
  /// Whether the rows have two columns, of which the second may be the text of a document.
  let hasOnlyText: Bool
  private let filter: KeyFilter?
  private var ties: TieOrder?
  private let isDescending: Bool
  /// Whether the statement may begin again at another key. Another condition would be prepared each time.
  private let maySeek: Bool
  /// The first bytes of keys that were rejected for their next part, and their number.
  private var rejected: (prefix: OrderKey, count: Int) = (OrderKey(), 0)
  /// After so many, the statement begins again at the next key that may be accepted: a search costs as much as ten rows.
  private static let fewRejected = 8
  /// Whether the rows with the same values are complete.
  private var areTiesComplete = false
  /// Whether the current row of the statement comes after them.
  private var isHeld = false
  /// The number of the current row, the ``OrderKey`` of its id, and its key, if it is no longer the statement's.
  private(set) var kept: (number: Int64, id: OrderKey, key: OrderKey)?

  /// - Parameter memory: The memory in bytes for rows with the same values.
  init(
    _ statement: Statement, _ keys: CandidateStatement.Keys? = nil, maySeek: Bool = false, memory: Int = 0
  ) {
    self.statement = statement
    layout = keys?.layout
    hasOnlyText = statement.columnCount == 2
    filter = keys?.filter
    self.maySeek = maySeek
    isDescending = keys?.order.isDescending ?? false
    ties = keys.flatMap { TieOrder($0.order, $0.layout, memory: memory) }
  }

  /// Goes on to the next row.
  ///
  /// - Returns: Whether there is one.
  func next() throws -> Bool {
    if layout == nil { return try statement.step() }
    if ties != nil { return try nextSorted() }
    guard let filter else { return try statement.step() }
    while try statement.step() {
      let key = JSONBytes(statement.unsafeBytes(1))
      let decision = filter.decision(key)
      switch decision {
      case .accepted: return true
      case .rejected: continue
      case .before(_, let prefix), .behind(_, let prefix):
        guard maySeek, isWorthSeeking(key.slice(0, prefix)) else { continue }
        guard let next = filter.next(after: key, decision, isDescending: isDescending) else { continue }
        statement.reset()
        try statement.bind(blob: next.bytes, at: isDescending ? 2 : 1)
      }
    }
    return false
  }

  /// Whether some keys with these first bytes were rejected before.
  private func isWorthSeeking(_ prefix: UnsafeRawBufferPointer) -> Bool {
    rejected.count += 1
    if rejected.count > 1, rejected.count < Self.fewRejected { return false }
    let isSame = rejected.prefix.bytes.withUnsafeBytes { Order($0, prefix) == .same }
    if isSame, rejected.count >= Self.fewRejected {
      rejected.count = 0
      return true
    }
    rejected.prefix.bytes.removeAll(keepingCapacity: true)
    rejected.prefix.bytes.append(contentsOf: prefix)
    rejected.count = 1
    return false
  }

  /// Goes on to the next row whose key does not begin with some bytes. The rows must have the order of their keys.
  ///
  /// - Parameter body: Called with the key of each row before it.
  /// - Returns: Whether there is one, and the number of rows before it.
  func next(after prefix: OrderKey, _ body: (JSONBytes) -> Void) throws -> (isRow: Bool, passed: Int) {
    guard let filter else {
      return try statement.step(over: prefix.bytes, inColumn: 1) { body(JSONBytes($0)) }
    }
    var passed = 0
    while try statement.step() {
      let key = JSONBytes(statement.unsafeBytes(1))
      guard filter.accepts(key) else { continue }
      guard key.hasPrefix(prefix.bytes, at: 0) else { return (true, passed) }
      passed += 1
      body(key)
    }
    return (false, passed)
  }

  private func nextSorted() throws -> Bool {
    while true {
      if areTiesComplete {
        kept = try ties?.takeNext()
        if kept != nil { return true }
        areTiesComplete = false
        if !isHeld { return false }
      }
      guard try isHeld || statement.step() else {
        areTiesComplete = true
        continue
      }
      let key = JSONBytes(statement.unsafeBytes(1))
      if !isHeld, let filter, !filter.accepts(key) { continue }
      isHeld = try ties?.add(key, number: statement.int64(0)) == false
      areTiesComplete = isHeld
    }
  }
}
