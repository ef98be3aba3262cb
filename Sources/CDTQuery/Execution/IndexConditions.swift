/// What is asked of the rows of an index, as a condition in SQL.
///
/// ```
/// name = "mike", age in a range   →   e.v0 = ? AND e.t0 = ? AND e.v1 >= ? AND e.v1 < ? AND e.t1 = ?
/// ```
struct IndexConditions {
  private(set) var sql = ""
  /// The values of the parameters, in their order.
  var values: [CandidateStatement.Value] = []
  /// The fields that are looked up value by value.
  private(set) var lookups: [CandidateStatement.Lookup] = []

  init(_ access: IndexAccess) {
    var conditions: [String] = []
    for (number, field) in access.fields.enumerated() {
      if case .points(let keys) = field, keys.count != 1 {
        conditions.append("e.v\(number) = ? AND e.t\(number) = ?")
        lookups.append(.init(position: values.count, keys: keys, hasTag: true))
        values += [.int(0), .int(0)]
      } else if field.leavesOut {
        conditions.append(condition(field, number))
      }
      if let absence = access.absence[number] { conditions.append(condition(absence, number)) }
    }
    for filter in access.filters {
      if filter.access.leavesOut { conditions.append(condition(filter.access, filter.field)) }
      if let absence = filter.absence { conditions.append(condition(absence, filter.field)) }
    }
    sql = conditions.isEmpty ? "1" : conditions.joined(separator: " AND ")
  }

  // MARK: Conditions

  /// The condition that a field's value lies in an access that leaves some values out.
  private mutating func condition(_ access: FieldAccess, _ field: Int) -> String {
    switch access {
    case .points(let keys):
      let tags = Set(keys.map(\.tag)).sorted()
      let parts = tags.map { tag in points(keys.filter { $0.tag == tag }, tag, field) }
      return parts.isEmpty ? "0" : parts.count == 1 ? parts[0] : "(\(parts.joined(separator: " OR ")))"
    case .range(let lower?, let upper?) where lower.tag == upper.tag:
      // Within one type the values alone are compared, which costs less; few rows that satisfy that are of another.
      let ends = [end(lower, field, ">"), end(upper, field, "<")].compactMap(\.self)
      return (ends + ["e.t\(field) = \(tag(lower.tag))"]).joined(separator: " AND ")
    case .range(let lower, let upper):
      let ends = [lower.map { rowEnd($0, field, ">") }, upper.map { rowEnd($0, field, "<") }]
      return ends.compactMap(\.self).joined(separator: " AND ")
    }
  }

  /// Some keys of one type.
  private mutating func points(_ keys: [IndexKey], _ tag: IndexKey.Tag, _ field: Int) -> String {
    let parameters = keys.map { _ in "?" }.joined(separator: ", ")
    for key in keys { values.append(.key(key)) }
    let value = keys.count == 1 ? "e.v\(field) = ?" : "e.v\(field) IN (\(parameters))"
    return "\(value) AND e.t\(field) = \(self.tag(tag))"
  }

  /// One end of a range of values of one type; `nil` where the type's end is the end.
  private mutating func end(_ bound: FieldAccess.Bound, _ field: Int, _ sign: String) -> String? {
    guard case .key(let key, let inclusive) = bound else { return nil }
    values.append(.key(key))
    return "e.v\(field) \(sign)\(inclusive ? "=" : "") ?"
  }

  /// One end of a range of rows, which may be of several types.
  private mutating func rowEnd(_ bound: FieldAccess.Bound, _ field: Int, _ sign: String) -> String {
    switch bound {
    case .tag(let type): return "e.t\(field) \(sign)= \(tag(type))"
    case .key(let key, let inclusive):
      let type = tag(key.tag)
      values.append(.key(key))
      return "(e.t\(field), e.v\(field)) \(sign)\(inclusive ? "=" : "") (\(type), ?)"
    }
  }

  private mutating func condition(_ absence: PredicateAccess.AbsenceFilter, _ field: Int) -> String {
    switch absence {
    case .only(let wanted): "(e.absent >> \(2 * field)) & 3 = \(wanted)"
    case .except(let unwanted):
      "(e.t\(field) <> \(IndexKey.Tag.nothing.rawValue) OR (e.absent >> \(2 * field)) & 3 <> \(unwanted))"
    }
  }

  private mutating func tag(_ tag: IndexKey.Tag) -> String {
    values.append(.int(tag.rawValue))
    return "?"
  }
}

extension FieldAccess {
  /// Whether it leaves any value out.
  var leavesOut: Bool {
    if case .range(nil, nil) = self { false } else { true }
  }
}

extension FieldAccess.Bound {
  fileprivate var tag: IndexKey.Tag {
    switch self {
    case .key(let key, _): key.tag
    case .tag(let tag): tag
    }
  }
}
