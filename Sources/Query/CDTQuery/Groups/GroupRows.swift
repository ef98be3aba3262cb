import CDTJSON

/// The rows of groups: those that meet the condition on rows, in their order, up to the end of the page.
struct GroupRows {
  private let groups: ResolvedGroups
  private let having: Matcher?
  private var rows: FirstElements<(key: OrderKey, row: JSONObject)>

  init(_ groups: ResolvedGroups, _ stop: QueryStop) {
    self.groups = groups
    rows = FirstElements(ResultPage(skip: groups.skip, limit: groups.limit).end) { $0.key < $1.key }
    if case .always = groups.having.clause {
      having = nil
    } else {
      having = Matcher(groups.having.clause, MatchBudget(stop))
    }
  }

  /// Whether rows that come later, in the order of the groups, are not needed.
  var isComplete: Bool { groups.sort.isEmpty && rows.isFull }

  /// Adds the row of a group.
  mutating func add(_ row: JSONObject, key group: OrderKey) throws(QueryError) {
    guard having != nil || !groups.sort.isEmpty else { return rows.add((group, row)) }
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
    if let key { rows.add((key, row)) }
  }

  /// The rows of the page.
  mutating func page() -> [JSONObject] {
    rows.sorted().dropFirst(groups.skip).map(\.row)
  }
}
