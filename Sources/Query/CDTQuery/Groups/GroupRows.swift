import CDTJSON

/// The rows of groups: those that meet the condition on rows, in their order, up to the end of the page.
struct GroupRows {
  private let groups: ResolvedGroups
  private let having: Matcher?
  private var rows: [(key: OrderKey, row: JSONObject)] = []

  init(_ groups: ResolvedGroups, _ stop: QueryStop) {
    self.groups = groups
    if case .always = groups.having.clause {
      having = nil
    } else {
      having = Matcher(groups.having.clause, MatchBudget(stop))
    }
  }

  /// The number of rows up to the end of the page; `nil` for all.
  private var wanted: Int? {
    guard let limit = groups.limit else { return nil }
    let (sum, overflows) = groups.skip.addingReportingOverflow(limit)
    return overflows ? nil : sum
  }

  /// Whether rows that come later, in the order of the groups, are not needed.
  var isComplete: Bool { groups.sort.isEmpty && wanted.map { rows.count >= $0 } ?? false }

  /// Adds the row of a group.
  mutating func add(_ row: JSONObject, key group: OrderKey) throws(QueryError) {
    guard having != nil || !groups.sort.isEmpty else { return add(row, group) }
    // The document's own fields, if the groups are by them.
    let (id, revision) = (row["_id"]?.stringValue ?? "", row["_rev"]?.stringValue ?? "")
    let (having, sort) = (having, groups.sort)
    let key = try DocumentBytes.with(row, id: id, revision: revision) {
      bytes throws(QueryError) -> OrderKey? in
      if let having, try !having.accepts(bytes) { return nil }
      var key = OrderKey()
      for (field, value) in zip(sort.fields, sort.values(of: bytes)) {
        let start = key.bytes.count
        key.append(value)
        if field.isDescending { key.invert(from: start) }
      }
      key.append(key: group)
      return key
    }
    if let key { add(row, key) }
  }

  private mutating func add(_ row: JSONObject, _ key: OrderKey) {
    rows.append((key, row))
    if let wanted, rows.count >= 2 * max(min(wanted, .max / 2), 1_000) { sort(upTo: wanted) }
  }

  private mutating func sort(upTo wanted: Int) {
    rows.sort { $0.key < $1.key }
    if rows.count > wanted { rows.removeLast(rows.count - wanted) }
  }

  /// The rows of the page.
  mutating func page() -> [JSONObject] {
    sort(upTo: wanted ?? .max)
    return rows.dropFirst(groups.skip).map(\.row)
  }
}
