/// Conditions on the columns of an index's rows.
extension QuerySQL {
  /// Up to how many values are compared one by one; more are looked up in a table of them.
  private static let fewValues = 4

  mutating func condition(_ condition: RowCondition) -> String {
    switch condition {
    case .constant(let holds): return holds ? "1" : "0"
    case .field(let number, let access, let absence):
      let parts = [self.condition(access, number), absence.map { self.condition($0, number) }]
      return Self.joined(parts.compactMap(\.self), "AND", empty: "1")
    case .all(let members): return Self.joined(members.map { self.condition($0) }, "AND", empty: "1")
    case .any(let members): return Self.joined(members.map { self.condition($0) }, "OR", empty: "0")
    case .not(let member): return "NOT \(self.condition(member))"
    }
  }

  private static func joined(_ parts: [String], _ word: String, empty: String) -> String {
    parts.isEmpty ? empty : "(" + parts.joined(separator: " \(word) ") + ")"
  }

  /// The condition that a field's value lies in an access, or `nil` when every value does.
  mutating func condition(_ access: FieldAccess, _ number: Int) -> String? {
    switch access {
    case .points(let keys):
      if keys.count > Self.fewValues {
        return "(e.t\(number), e.v\(number)) IN (SELECT t, v FROM \(members(keys)))"
      }
      let equalities = keys.map { "e.v\(number) = \(value($0)) AND e.t\(number) = \(tag($0.tag))" }
      return equalities.count == 1 ? equalities[0] : Self.joined(equalities, "OR", empty: "0")
    case .range(nil, nil): return nil
    case .range(let lower?, let upper?) where lower.type == upper.type:
      // Within one type the values alone are compared, which costs less; few rows that satisfy that are of another.
      let bounds = [
        bound(lower, number, ">"), bound(upper, number, "<"), "e.t\(number) = \(tag(lower.type))",
      ]
      return bounds.compactMap(\.self).joined(separator: " AND ")
    case .range(let lower, let upper):
      let bounds = [
        lower.map { rowBound($0, number, ">") }, upper.map { rowBound($0, number, "<") },
      ]
      return bounds.compactMap(\.self).joined(separator: " AND ")
    }
  }

  private mutating func bound(_ bound: FieldAccess.Bound, _ number: Int, _ sign: String) -> String? {
    guard case .key(let key, let inclusive) = bound else { return nil }
    return "e.v\(number) \(sign)\(inclusive ? "=" : "") \(value(key))"
  }

  private mutating func rowBound(_ bound: FieldAccess.Bound, _ number: Int, _ sign: String) -> String {
    switch bound {
    case .tag(let type): return "e.t\(number) \(sign)= \(tag(type))"
    case .key(let key, let inclusive):
      return "(e.t\(number), e.v\(number)) \(sign)\(inclusive ? "=" : "") (\(tag(key.tag)), \(value(key)))"
    }
  }

  mutating func condition(_ absence: PredicateAccess.AbsenceFilter, _ number: Int) -> String {
    let bits = "(e.absent >> \(2 * number)) & 3"
    let nothing = IndexKey.Tag.nothing.rawValue
    switch absence {
    case .only(let wanted): return "\(bits) = \(wanted)"
    case .except(let unwanted): return "(e.t\(number) <> \(nothing) OR \(bits) <> \(unwanted))"
    }
  }

  private mutating func tag(_ tag: IndexKey.Tag) -> String { parameter(.int(tag.rawValue)) }

  private mutating func value(_ key: IndexKey) -> String { parameter(.key(key)) }

  /// Keys as a table with the columns t and v, one row a key, in order.
  mutating func members(_ keys: [IndexKey]) -> String {
    let set = parameter(.object(KeySet(keys)))
    let again = parameter(.object(KeySet(keys)))
    return """
      (WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < \(keys.count)) \
      SELECT cdt_tag(\(set), i) AS t, cdt_value(\(again), i) AS v FROM n)
      """
  }
}

extension FieldAccess.Bound {
  fileprivate var type: IndexKey.Tag {
    switch self {
    case .key(let key, _): key.tag
    case .tag(let tag): tag
    }
  }
}
