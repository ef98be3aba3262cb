/// Conditions on the columns of an index's rows.
extension QuerySQL {
  /// Up to how many values are compared one by one; more are looked up in a table of them.
  private static let fewValues = 4

  mutating func write(_ condition: RowCondition) {
    switch condition {
    case .constant(let holds): sql.write(holds ? "1" : "0")
    case .field(let number, let access, let absence):
      guard access.leavesOut || absence != nil else { return sql.write("1") }
      sql.write("(")
      if access.leavesOut { write(access, number) }
      if let absence {
        if access.leavesOut { sql.write(" AND ") }
        write(absence, number)
      }
      sql.write(")")
    case .all(let members): write(members, " AND ", empty: "1")
    case .any(let members): write(members, " OR ", empty: "0")
    case .not(let member):
      sql.write("NOT ")
      write(member)
    }
  }

  private mutating func write(_ members: [RowCondition], _ word: StaticString, empty: StaticString) {
    guard !members.isEmpty else { return sql.write(empty) }
    for (number, member) in members.enumerated() {
      sql.write(number > 0 ? word : "(")
      write(member)
    }
    sql.write(")")
  }

  /// The condition that a field's value lies in an access that leaves some values out.
  mutating func write(_ access: FieldAccess, _ number: Int) {
    let field = Int64(number)
    switch access {
    case .points(let keys):
      if keys.count > Self.fewValues {
        sql.write("(e.t", field, ", e.v")
        sql.write("", field, ") IN (SELECT t, v FROM ")
        writeMembers(keys)
        sql.write(")")
      } else {
        write(keys, of: field)
      }
    case .range(let lower?, let upper?) where lower.type == upper.type:
      // Within one type the values alone are compared, which costs less; few rows that satisfy that are of another.
      writeValue(lower, field, " >")
      writeValue(upper, field, " <")
      sql.write("e.t", field, " = ")
      write(lower.type)
    case .range(let lower, let upper):
      if let lower { writeRow(lower, field, " >") }
      if lower != nil, upper != nil { sql.write(" AND ") }
      if let upper { writeRow(upper, field, " <") }
    }
  }

  private mutating func write(_ keys: [IndexKey], of field: Int64) {
    guard !keys.isEmpty else { return sql.write("0") }
    if keys.count > 1 { sql.write("(") }
    for (position, key) in keys.enumerated() {
      if position > 0 { sql.write(" OR ") }
      sql.write("e.v", field, " = ")
      write(.key(key))
      sql.write(" AND e.t", field, " = ")
      write(key.tag)
    }
    if keys.count > 1 { sql.write(")") }
  }

  /// One end of a range of values of one type, with what goes on after it.
  private mutating func writeValue(_ bound: FieldAccess.Bound, _ field: Int64, _ sign: StaticString) {
    guard case .key(let key, let inclusive) = bound else { return }
    sql.write("e.v", field, sign)
    sql.write(inclusive ? "= " : " ")
    write(.key(key))
    sql.write(" AND ")
  }

  /// One end of a range of rows, which may be of several types.
  private mutating func writeRow(_ bound: FieldAccess.Bound, _ field: Int64, _ sign: StaticString) {
    switch bound {
    case .tag(let type):
      sql.write("e.t", field, sign)
      sql.write("= ")
      write(type)
    case .key(let key, let inclusive):
      sql.write("(e.t", field, ", e.v")
      sql.write("", field, ")")
      sql.write(sign)
      sql.write(inclusive ? "= (" : " (")
      write(key.tag)
      sql.write(", ")
      write(.key(key))
      sql.write(")")
    }
  }

  mutating func write(_ absence: PredicateAccess.AbsenceFilter, _ number: Int) {
    switch absence {
    case .only(let wanted):
      sql.write("(e.absent >> ", Int64(2 * number), ") & 3 = ")
      sql.write(wanted)
    case .except(let unwanted):
      sql.write("(e.t", Int64(number), " <> ")
      sql.write(IndexKey.Tag.nothing.rawValue)
      sql.write(" OR (e.absent >> ", Int64(2 * number), ") & 3 <> ")
      sql.write("", unwanted, ")")
    }
  }

  private mutating func write(_ tag: IndexKey.Tag) {
    write(.int(tag.rawValue))
  }

  /// Keys as a table with the columns t and v, one row a key, in order.
  mutating func writeMembers(_ keys: [IndexKey]) {
    sql.write(
      "(WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ", Int64(keys.count))
    sql.write(") SELECT cdt_tag(")
    write(.object(KeySet(keys)))
    sql.write(", i) AS t, cdt_value(")
    write(.object(KeySet(keys)))
    sql.write(", i) AS v FROM n)")
  }
}

extension FieldAccess {
  /// Whether it leaves any value out.
  var leavesOut: Bool {
    if case .range(nil, nil) = self { false } else { true }
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
