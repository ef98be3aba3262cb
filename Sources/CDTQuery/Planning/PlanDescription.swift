import JSON

/// What is to be said of the indexes beside a plan: why each was used or not, and which one would have helped.
struct PlanDescription {
  private let query: Query
  private let catalog: IndexCatalog
  private let plan: QueryPlan

  init(_ query: Query, _ plan: QueryPlan, catalog: IndexCatalog) {
    self.query = query
    self.catalog = catalog
    self.plan = plan
  }

  var considered: [ConsideredIndex] {
    let used = plan.source.indexes.map(\.number)
    return catalog.entries.map { entry in
      let isUsed = used.contains(entry.number)
      return ConsideredIndex(
        name: entry.definition.name, isUsed: isUsed, reason: isUsed ? plan.reason : whyNot(entry))
    }
  }

  private func whyNot(_ entry: IndexCatalog.Entry) -> String {
    switch plan.source {
    case .nothing: return "the selector matches nothing"
    case .ids: return "the selector names the ids"
    default: break
    }
    if query.useIndex != nil { return "the query asks for another" }
    if entry.definition.type == .text {
      return query.selector.clause.textSearch == nil
        ? "the selector has no \"$text\"" : "another way costs less, and the matcher searches the rest"
    }
    if !entry.definition.fields.contains(where: { isAsked($0.fieldPath, in: query.selector.clause) }) {
      return "the selector asks nothing of its fields that an index can answer"
    }
    if case .scan = plan.source { return "reading every document costs less" }
    return "another way costs less"
  }

  /// Whether a clause asks something of a field that an index can answer.
  private func isAsked(_ path: FieldPath, in clause: Clause) -> Bool {
    switch clause {
    case .and(let members), .or(let members): members.contains { isAsked(path, in: $0) }
    case .not(let member): isAsked(path, in: member)
    default: AskedField.of([clause]).contains { $0.path == path }
    }
  }

  /// The index that would help a scan: the fields asked for a value first, then one range or the sort.
  var wishedIndex: WishedIndex? {
    guard case .scan = plan.source else { return nil }
    var points: [FieldPath] = []
    var ranges: [FieldPath] = []
    for case .field(let path, let predicate) in query.selector.clause.conjuncts
    where path.documentField == nil && predicate != .exists {
      for condition in AskedField.of([.field(path, predicate)]) {
        if case .points = condition.access.access {
          points.append(condition.path)
        } else {
          ranges.append(condition.path)
        }
      }
    }
    var wished = WishedIndex()
    for path in points + ranges.prefix(1) { wished.add(path) }
    if ranges.isEmpty {
      for field in query.sort.fields where field.path.documentField == nil {
        wished.add(field.path, isDescending: field.isDescending)
      }
    }
    return wished.isEmpty || exists(wished) ? nil : wished
  }

  /// Whether there is such an index already, and reading every document costs less even so.
  private func exists(_ wished: WishedIndex) -> Bool {
    catalog.ordered.contains { entry in
      wished.paths.elementsEqual(entry.definition.fields.prefix(wished.paths.count).map(\.fieldPath))
    }
  }
}
