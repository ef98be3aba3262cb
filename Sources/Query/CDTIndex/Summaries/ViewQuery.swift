import CDTDatastore
package import CDTJSON
package import CDTSQLite

/// A part of a view: a range of its keys, in one direction.
package struct ViewQuery: Sendable {
  /// An end of the range.
  package struct Bound: Sendable {
    package let key: JSONValue
    package let isIncluded: Bool

    package init(_ key: JSONValue, isIncluded: Bool = true) {
      self.key = key
      self.isIncluded = isIncluded
    }
  }

  package var lower: Bound?
  package var upper: Bound?
  package var isDescending = false

  package init(from lower: Bound? = nil, to upper: Bound? = nil, isDescending: Bool = false) {
    (self.lower, self.upper, self.isDescending) = (lower, upper, isDescending)
  }

  /// A condition on rows whose keys have some fields: SQL, and its parameters.
  package struct Condition {
    package var sql: String
    var keys: [IndexKey]

    static let none = Condition(sql: " AND 0")

    package init(sql: String = "", keys: [IndexKey] = []) { (self.sql, self.keys) = (sql, keys) }

    /// Binds the parameters.
    package func bind(to statement: Statement) throws(SQLiteError) {
      for (number, key) in keys.enumerated() { try statement.bind(key, at: 2 * number + 1) }
    }
  }

  /// - Parameter fields: The number of fields of a key.
  package func condition(fields: Int) -> Condition {
    var condition = Condition()
    for (bound, isLower) in [(lower, true), (upper, false)] {
      guard let part = bound.map({ Self.condition($0, isLower: isLower, fields) }) else { continue }
      condition.sql += part.sql
      condition.keys += part.keys
    }
    return condition
  }

  /// The rows before the range.
  package func conditionBefore(fields: Int) -> Condition {
    guard let first = isDescending ? upper : lower else { return .none }
    return Self.condition(Bound(first.key, isIncluded: !first.isIncluded), isLower: isDescending, fields)
  }

  /// The comparison with a bound.
  ///
  /// ```sql
  /// AND (e.t0, e.v0, e.t1, e.v1) >= (?, ?, ?, ?)
  /// ```
  ///
  /// The keys of several fields are arrays, of which a shorter one is before those that begin with it.
  private static func condition(_ bound: Bound, isLower: Bool, _ fields: Int) -> Condition {
    var values = [bound.key]
    var isIncluded = bound.isIncluded
    if fields != 1 {
      guard fields > 0, case .array(let elements) = bound.key else {
        // All keys are on the same side of it.
        let key: JSONValue = fields == 0 ? .null : []
        let isSame = key == bound.key && isIncluded
        return isSame || (isLower ? bound.key < key : key < bound.key) ? Condition() : .none
      }
      values = Array(elements.prefix(fields))
      if elements.count != fields { isIncluded = isLower == (elements.count < fields) }
      if values.isEmpty { return isLower ? Condition() : .none }
    }
    let columns = values.indices.map { "e.t\($0), e.v\($0)" }.joined(separator: ", ")
    let parameters = values.map { _ in "?, ?" }.joined(separator: ", ")
    return Condition(
      sql: " AND (\(columns)) \(isLower ? ">" : "<")\(isIncluded ? "=" : "") (\(parameters))",
      keys: values.map(IndexKey.init))
  }
}
