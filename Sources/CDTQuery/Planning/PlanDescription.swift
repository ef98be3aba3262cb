import JSON

/// What a plan says of the indexes: why each was used or not, and which one would have helped.
struct PlanDescription {
  private let query: Query
  private let catalog: IndexCatalog
  private let conjuncts: [Clause]

  init(_ query: Query, catalog: IndexCatalog, conjuncts: [Clause]) {
    self.query = query
    self.catalog = catalog
    self.conjuncts = conjuncts
  }

  func considered(_ source: QueryPlan.Source, because reason: String) -> [ConsideredIndex] {
    let used: [String] =
      switch source {
      case .index(let access): [access.index.definition.name]
      case .text(let access): [access.index.definition.name]
      case .union(let branches): branches.map(\.entry.definition.name)
      case .nothing, .scan, .ids: []
      }
    return catalog.entries.map { entry in
      let name = entry.definition.name
      let isUsed = used.contains { $0.utf8.elementsEqual(name.utf8) }
      return ConsideredIndex(
        name: name, isUsed: isUsed, reason: isUsed ? reason : whyNot(entry, source))
    }
  }

  private func whyNot(_ entry: IndexCatalog.Entry, _ source: QueryPlan.Source) -> String {
    switch source {
    case .nothing: return "the selector matches nothing"
    case .ids: return "the selector names the ids"
    default: break
    }
    if query.useIndex != nil { return "the query asks for another" }
    if entry.definition.type == .text {
      return query.selector.clause.textSearch == nil
        ? "the selector has no \"$text\"" : "another way costs less, and the matcher searches the rest"
    }
    guard let first = entry.definition.fields.first else { return "it has no fields" }
    guard asksFor(first.fieldPath) else {
      return "the selector asks nothing of its first field \"\(first.path)\" that an index can answer"
    }
    if case .scan = source { return "reading every document costs less" }
    return "another index costs less"
  }

  private func asksFor(_ path: FieldPath) -> Bool {
    conjuncts.contains { clause in
      guard case .field(path, let predicate) = clause else { return false }
      return PredicateAccess.of(predicate, isMultiple: true) != nil
    }
  }

  /// The index that would help a scan: the fields asked for a value first, then one range or the sort.
  func wishedIndex(_ source: QueryPlan.Source) -> WishedIndex? {
    guard case .scan = source else { return nil }
    var points: [FieldPath] = []
    var ranges: [FieldPath] = []
    for case .field(let path, let predicate) in conjuncts where path.documentField == nil {
      guard let found = PredicateAccess.of(predicate, isMultiple: false), predicate != .exists else {
        continue
      }
      if case .points = found.access { points.append(path) } else { ranges.append(path) }
    }
    var wished = WishedIndex()
    for path in points + ranges.prefix(1) { wished.add(path) }
    if ranges.isEmpty {
      for field in query.sort.fields where field.path.documentField == nil {
        wished.add(field.path, isDescending: field.isDescending)
      }
    }
    return wished.isEmpty ? nil : wished
  }
}
