/// The order of the results.
extension Planner {
  func order(for source: QueryPlan.Source) -> QueryPlan.Order {
    if query.sort.isByScore {
      // Documents missing from the text index come last, sorted by id; without the index these are all documents.
      if case .text = source { return .score }
      return .id(isDescending: false)
    }
    let wanted = wantedTerms
    guard !wanted.isEmpty, output != .count, output != .exists else { return .unordered }
    if wanted.count == 1, wanted[0].path == nil {
      switch source {
      case .nothing, .scan, .ids: return .id(isDescending: wanted[0].isDescending)
      case .index, .text, .union, .intersection: break
      }
    }
    guard let access = source.driver, !access.index.isMultiple else { return .sorted }
    return indexOrder(access, wanted).map { .index($0) } ?? .sorted
  }

  /// A field of the sort or of an index; `nil` as path is the document's id.
  private struct Term {
    let path: FieldPath?
    let isDescending: Bool
  }

  /// The terms of the sort. Ties are sorted by id, ascending; terms after the id are irrelevant.
  private var wantedTerms: [Term] {
    guard !query.sort.isEmpty else { return [] }
    var terms: [Term] = []
    for field in query.sort.fields {
      let isID = field.documentField == .id
      terms.append(Term(path: isID ? nil : field.path, isDescending: field.isDescending))
      if isID { return terms }
    }
    return terms + [Term(path: nil, isDescending: false)]
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
  private func indexOrder(_ access: IndexAccess, _ wanted: [Term]) -> [QueryPlan.OrderTerm]? {
    let terms = terms(of: access)
    // The id only breaks ties, so the direction of the index does not matter.
    let asked = wanted.count > 1 && wanted.last?.path == nil ? wanted.dropLast() : wanted[...]
    for first in 0...access.constantFields where first + asked.count <= terms.count {
      // Several values of a field are looked up in turn, so their rows are not in one order.
      guard access.fields.dropFirst(first).allSatisfy(\.isContiguous) else { continue }
      let part = terms[first..<first + asked.count]
      guard zip(part, asked).allSatisfy({ $0.path == $1.path }) else { continue }
      let reversals = zip(part, asked).map { $0.isDescending != $1.isDescending }
      guard let reversed = reversals.first, reversals.allSatisfy({ $0 == reversed }) else { continue }
      return columns(of: access, for: wanted)
    }
    return nil
  }

  /// The columns of the index that the sort needs; `nil` if any is missing.
  private func columns(of access: IndexAccess, for wanted: [Term]) -> [QueryPlan.OrderTerm]? {
    var columns: [QueryPlan.OrderTerm] = []
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

extension FieldAccess {
  /// Whether the rows are contiguous.
  fileprivate var isContiguous: Bool {
    if case .points(let keys) = self { keys.count == 1 } else { true }
  }
}
