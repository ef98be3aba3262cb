/// The conditions on the rows of an index, in SQL.
///
/// ```
/// name = "mike", age in a range   →   e.v0 = ? AND e.t0 = ? AND e.v1 >= ? AND e.v1 < ? AND e.t1 = ?
/// ```
///
/// This runs for every query, so all text is appended to one string.
struct IndexConditions {
  private(set) var sql: String
  /// The values of the parameters, in order.
  var values: [CandidateStatement.Value] = []
  /// The fields that are looked up value by value.
  private(set) var lookups: [CandidateStatement.Lookup] = []
  /// The text before the next condition.
  private var junction = "\n WHERE "

  /// - Parameter start: The statement up to its conditions.
  init(_ access: IndexAccess, after start: String) {
    sql = start
    sql.reserveCapacity(512)
    values.reserveCapacity(8)
    for (number, field) in access.fields.enumerated() {
      if case .points(let keys) = field, keys.count != 1 {
        lookups.append(.init(position: values.count, keys: keys, hasTag: true, field: number))
        compare(value(number), "=", .int(0))
        compare(tag(number), "=", .int(0))
      } else {
        append(field, number)
      }
      if let absence = access.absence[number] { append(absence, number) }
    }
    for filter in access.filters {
      append(filter.access, filter.field)
      if let absence = filter.absence { append(absence, filter.field) }
    }
    if sql.utf8.count == start.utf8.count { sql += "\(junction)1" }
  }

  // MARK: Conditions

  private mutating func append(_ access: FieldAccess, _ field: Int) {
    switch access {
    case .points(let keys): points(keys, field)
    case .range(let lower?, let upper?) where lower.tag == upper.tag:
      // Compare only the values within one type, which costs less; few matching rows have another type.
      end(lower, field, ">")
      end(upper, field, "<")
      compare(tag(field), "=", .int(lower.tag.rawValue))
    case .range(let lower, let upper):
      if let lower { rowEnd(lower, field, ">") }
      if let upper { rowEnd(upper, field, "<") }
    }
  }

  /// Appends a condition that a field has one of some keys, grouped by type.
  private mutating func points(_ keys: [IndexKey], _ field: Int) {
    let tags = keys.count == 1 ? [keys[0].tag] : Set(keys.map(\.tag)).sorted()
    sql += junction
    if tags.count > 1 { sql += "(" }
    if tags.isEmpty { sql += "0" }
    junction = ""
    for tag in tags {
      points(keys.filter { $0.tag == tag }, tag, field)
      junction = " OR "
    }
    if tags.count > 1 { sql += ")" }
    junction = " AND "
  }

  private mutating func points(_ keys: [IndexKey], _ type: IndexKey.Tag, _ field: Int) {
    if keys.count == 1 {
      compare(value(field), "=", .key(keys[0]))
    } else {
      sql += "\(junction)\(value(field)) IN (\(keys.map { _ in "?" }.joined(separator: ", ")))"
      for key in keys { values.append(.key(key)) }
      junction = " AND "
    }
    compare(tag(field), "=", .int(type.rawValue))
  }

  /// Appends one bound of a range within a type; nothing if the range extends to the end of the type.
  private mutating func end(_ bound: FieldAccess.Bound, _ field: Int, _ sign: String) {
    guard case .key(let key, let inclusive) = bound else { return }
    compare(value(field), inclusive ? sign + "=" : sign, .key(key))
  }

  /// Appends one bound of a range of rows, which may include several types.
  private mutating func rowEnd(_ bound: FieldAccess.Bound, _ field: Int, _ sign: String) {
    switch bound {
    case .tag(let type): compare(tag(field), sign + "=", .int(type.rawValue))
    case .key(let key, let inclusive):
      sql += "\(junction)(\(tag(field)), \(value(field))) \(sign)\(inclusive ? "=" : "") (?, ?)"
      values += [.int(key.tag.rawValue), .key(key)]
      junction = " AND "
    }
  }

  private mutating func append(_ absence: PredicateAccess.AbsenceFilter, _ field: Int) {
    sql += junction
    junction = " AND "
    switch absence {
    case .only(let wanted): sql += "(e.absent >> \(2 * field)) & 3 = \(wanted)"
    case .except(let unwanted):
      sql +=
        "(\(tag(field)) <> \(IndexKey.Tag.nothing.rawValue) OR (e.absent >> \(2 * field)) & 3 <> \(unwanted))"
    }
  }

  /// Appends the comparison of a column with a value.
  private mutating func compare(_ column: String, _ sign: String, _ value: CandidateStatement.Value) {
    sql += junction
    sql += column
    sql += " "
    sql += sign
    sql += " ?"
    values.append(value)
    junction = " AND "
  }

  private func value(_ field: Int) -> String { "e.v" + String(field) }

  private func tag(_ field: Int) -> String { "e.t" + String(field) }
}

extension FieldAccess.Bound {
  fileprivate var tag: IndexKey.Tag {
    switch self {
    case .key(let key, _): key.tag
    case .tag(let tag): tag
    }
  }
}
