/// The order of the results.
extension Planner {
  /// The sort order of the results of a source.
  ///
  /// Without a sort the results of an index come in its order: that of its fields, then of the ids. All others come in
  /// the order of the ids, so that they do not depend on the plan: if the selector has a condition on `_id`, or none at
  /// all, if no index or several are used, and if documents can have several rows in the index; also for a reader who does not see every
  /// document, as any of them can have several.
  func sort(for source: QueryPlan.Source) -> SortOrder {
    query.hasOrder ? query.sort : indexWithoutSort(source)?.order ?? .byID
  }

  /// The index in whose order the results of a source come without a sort.
  private func indexWithoutSort(_ source: QueryPlan.Source) -> IndexCatalog.Entry? {
    guard !query.hasOrder, !ids.isRequested, !conjuncts.isEmpty, case .statistics = basis else { return nil }
    // Cells are not in the order of the values.
    guard let index = source.driver?.index, !index.isMultiple, index.definition.type == .json else {
      return nil
    }
    return index
  }

  func order(for source: QueryPlan.Source) -> QueryPlan.Order {
    if output.isUnordered { return .unordered }
    if let terms = indexWithoutSort(source)?.terms { return .index(terms) }
    let sort = sort(for: source)
    if sort.distance != nil {
      if source.nearest != nil, !sort.isReversed { return .distance }
      return .sorted
    }
    if sort.isByScore {
      // Documents missing from the text index come last, sorted by id; without the index these are all documents.
      if case .text = source { return .score }
      return .id(isDescending: false)
    }
    let wanted = terms(of: sort)
    if wanted.count == 1, wanted[0].path == nil {
      switch source {
      case .scan(let range):
        return sortingCostsLess(range) ? .sorted : .id(isDescending: wanted[0].isDescending)
      case .nothing, .ids: return .id(isDescending: wanted[0].isDescending)
      case .index, .text, .nearest, .union, .intersection: break
      }
    }
    guard let access = source.driver else { return .sorted }
    guard sort.isByID || sort.collation == access.index.definition.collation else { return .sorted }
    // The rows at one value of each field are in the order of the ids, also if documents have several rows.
    if access.index.isMultiple, !(sort.isByID && access.isConstant) { return .sorted }
    return indexOrder(access, wanted).map { .index($0) } ?? .sorted
  }

  /// Whether a scan in the order of the documents, whose matches are then sorted by their ids, costs less than looking
  /// up each document in the order of the ids.
  private func sortingCostsLess(_ range: IDRange) -> Bool {
    guard range.isEverything else { return false }
    let results = conjuncts.reduce(estimator.documents) { $0 * estimator.part($1) }
    let share = wanted.map { min(1, $0 / max(results, 0.001)) } ?? 1
    return estimator.documents * Cost.scanned + results * (Cost.sorted + Cost.document)
      < estimator.documents * share * Cost.document
  }

  /// A field of the sort or of an index; `nil` as path is the document's id.
  private struct Term: Equatable {
    let path: FieldPath?
    let isDescending: Bool
  }

  /// The terms of the sort. Ties are sorted by id; terms after the id are irrelevant.
  private func terms(of sort: SortOrder) -> [Term] {
    var terms: [Term] = []
    for field in sort.fields {
      let isID = field.documentField == .id
      terms.append(
        Term(path: isID ? nil : field.path, isDescending: field.isDescending != sort.isReversed))
      if isID { return terms }
    }
    return terms + [Term(path: nil, isDescending: sort.isReversed)]
  }

  /// The order of an index's rows: its fields, then the id.
  private func terms(of access: IndexAccess) -> [Term] {
    let fields = access.index.definition.fields.map { field in
      Term(
        path: field.fieldPath.documentField == .id ? nil : field.fieldPath, isDescending: field.isDescending)
    }
    return fields + [Term(path: nil, isDescending: false)]
  }

  /// The order of the index after its constant fields, if it is the order of the sort or its reverse.
  private func indexOrder(_ access: IndexAccess, _ wanted: [Term]) -> [OrderTerm]? {
    let terms = terms(of: access)
    // The id only breaks ties, so the direction of the index does not matter.
    let requested = wanted.count > 1 && wanted.last?.path == nil ? wanted.dropLast() : wanted[...]
    for first in 0...access.constantFields where first + requested.count <= terms.count {
      // Several values of a field are looked up in turn, so they are in order only where the sort has that field.
      guard access.fields.dropFirst(first + requested.count).allSatisfy(\.isContiguous) else { continue }
      let part = terms[first..<first + requested.count]
      guard zip(part, requested).allSatisfy({ $0.path == $1.path }) else { continue }
      let reversals = zip(part, requested).map { $0.isDescending != $1.isDescending }
      guard let reversed = reversals.first, reversals.allSatisfy({ $0 == reversed }) else { continue }
      return columns(of: access, for: wanted)
    }
    return nil
  }

  /// The columns of the index that the sort needs; `nil` if any is missing.
  private func columns(of access: IndexAccess, for wanted: [Term]) -> [OrderTerm]? {
    var columns: [OrderTerm] = []
    for term in wanted {
      guard let path = term.path else {
        // An index with the id among its fields is sorted by it there.
        let field = access.index.definition.fields.firstIndex { $0.fieldPath.documentField == .id }
        columns.append(.init(field: field, isDescending: term.isDescending))
        continue
      }
      guard let field = access.index.definition.fields.firstIndex(where: { $0.fieldPath == path }) else {
        return nil
      }
      columns.append(.init(field: field, isDescending: term.isDescending))
    }
    return columns
  }
}

extension IndexAccess {
  /// Whether every field is looked up at one value.
  fileprivate var isConstant: Bool { constantFields == index.definition.fields.count }
}

extension FieldAccess {
  /// Whether the rows are contiguous.
  fileprivate var isContiguous: Bool {
    switch self {
    case .points(let keys): keys.count == 1
    case .range: true
    case .ranges(let ranges): ranges.count <= 1
    }
  }
}
