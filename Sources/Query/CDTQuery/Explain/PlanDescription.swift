import CDTJSON
import CDTPlan

/// Describes the indexes for an explanation: why each was used or not, and which one would have helped.
struct PlanDescription {
  let query: ResolvedQuery
  let plan: QueryPlan
  /// The groups whose documents the query selects.
  let groups: ResolvedGroups?
  let catalog: IndexCatalog

  var considered: [ConsideredIndex] {
    let used = plan.source.indexes.map(\.number)
    return catalog.entries.map { entry in
      let isUsed = used.contains(entry.number)
      let obstacle = isUsed ? nil : obstacle(to: entry)
      return ConsideredIndex(
        definition: entry.definition, isUsed: isUsed, isUsable: obstacle == nil,
        reason: isUsed ? plan.reason : obstacle ?? whatCostsLess(than: entry))
    }
  }

  /// The reason why an index can't be used; `nil` if it can.
  private func obstacle(to entry: IndexCatalog.Entry) -> String? {
    switch plan.source {
    case .nothing: return "the selector matches nothing"
    case .ids: return "the selector names the ids"
    default: break
    }
    if entry.definition.options.expireAfter != nil { return "it has the times at which documents expire" }
    if let filter = entry.definition.filter, !isImplied(filter) {
      return
        "it only holds documents that match \(filter.clause.selector.text), which the selector does not imply"
    }
    if query.useIndex != nil { return "the query names another index" }
    if entry.definition.type == .text {
      guard let index = try? catalog.textIndex(for: query.selector.clause, named: query.useIndex) else {
        return "the selector has no \"$text\""
      }
      return index.number == entry.number
        ? nil : "the search is one of the text index \"\(index.definition.name)\""
    }
    if entry.definition.type == .vector {
      guard query.near.flatMap(entry.definition.probe) != nil else {
        return "the selector has no \"$near\" that its vectors can answer"
      }
      return query.sort.isNearestFirst ? nil : "the order is not that of the distances"
    }
    if entry.definition.filter == nil, !isRequested(entry.definition, by: entry.definition.collation) {
      return isRequested(entry.definition, by: query.collation)
        ? "it compares strings \(entry.definition.collation.text), and the query \(query.collation.text)"
        : "the selector has no condition on its fields that an index can answer"
    }
    return nil
  }

  /// Whether the selector has a condition that an index on these fields could answer if it had a collation.
  private func isRequested(_ definition: IndexDefinition, by collation: Collation?) -> Bool {
    definition.fields.contains { isRequested($0.fieldPath, by: collation, in: query.selector.clause) }
  }

  /// Whether the selector implies a filter, or a branch of one of its disjunctions together with the other conditions does.
  private func isImplied(_ filter: QuerySelector) -> Bool {
    let conjuncts = query.selector.clause.conjuncts
    return Implication.holds(.all(conjuncts), filter.clause)
      || conjuncts.indices.contains { number in
        guard case .or(let branches) = conjuncts[number] else { return false }
        var others = conjuncts
        others.remove(at: number)
        return branches.contains { Implication.holds(.all(others + [$0]), filter.clause) }
      }
  }

  private func whatCostsLess(than entry: IndexCatalog.Entry) -> String {
    if entry.definition.type == .text { return "another plan costs less; the matcher searches the text" }
    if case .scan = plan.source { return "reading every document costs less" }
    return "another plan costs less"
  }

  /// Whether a clause has a condition on a field that an index can answer.
  private func isRequested(_ path: FieldPath, by collation: Collation?, in clause: Clause) -> Bool {
    switch clause {
    case .and(let members), .or(let members): members.contains { isRequested(path, by: collation, in: $0) }
    case .not(let member): isRequested(path, by: collation, in: member)
    default: FieldCondition.of([clause]).contains { $0.path == path && $0.access.isUsable(by: collation) }
    }
  }

  /// The index that would help a scan: the fields with equality conditions, then a place, one range or the sort; without the
  /// first, the vectors of a `$near`.
  var suggestedIndex: SuggestedIndex? {
    guard case .scan = plan.source else { return nil }
    var points: [FieldPath] = []
    var ranges: [FieldPath] = []
    var place: FieldPath?
    for case .field(let path, let predicate) in query.selector.clause.conjuncts
    where path.documentField == nil && predicate != .exists {
      for condition in FieldCondition.of([.field(path, predicate)]) {
        if condition.path.isCell {
          place = place ?? condition.path
        } else if case .points = condition.access.access {
          points.append(condition.path)
        } else {
          ranges.append(condition.path)
        }
      }
    }
    var suggested = SuggestedIndex(IndexOptions(collation: query.collation))
    if let place {
      suggested = SuggestedIndex(.place)
      for path in (query.collation == nil ? points : []) + [place] { suggested.add(path) }
    } else if points.isEmpty, let (path, options) = nearestVectors {
      suggested = SuggestedIndex(options)
      suggested.add(path)
    } else {
      for path in points + ranges.prefix(1) { suggested.add(path) }
      if ranges.isEmpty {
        for field in query.sort.fields where field.path.documentField == nil && field.distance == nil {
          suggested.add(field.path, isDescending: field.isDescending)
        }
      }
      if let groups, mayBeCovered(groups) {
        for input in groups.inputs where input.documentField == nil { suggested.add(input.path) }
        for path in ranges { suggested.add(path) }
      }
    }
    guard !suggested.isEmpty, suggested.paths.count <= IndexDefinition.maximumFields else { return nil }
    return exists(suggested) ? nil : suggested
  }

  /// The field and the options of an index of vectors that has the order of the query.
  private var nearestVectors: (FieldPath, IndexOptions)? {
    guard let near = query.near, query.sort.isNearestFirst,
      case .vector(let vector, _) = near.condition.distance,
      let index = try? IndexDefinition(fields: [.ascending(near.path.text)], .vector(vector.count)),
      index.probe(near) != nil
    else { return nil }
    return (near.path, index.options)
  }

  /// Whether an index with the fields of the selector and of the groups would have all that is asked for. If a field is an array, it
  /// turns out not to.
  private func mayBeCovered(_ groups: ResolvedGroups) -> Bool {
    groups.unwind == nil && groups.inputs.allSatisfy { $0.documentField != .revision }
      && query.selector.clause.conjuncts.allSatisfy { clause in
        guard case .field(let path, let predicate) = clause, path.documentField == nil, predicate != .exists
        else { return false }
        return PredicateAccess.of(predicate)?.isExact(isMultiple: false) == true
      }
  }

  /// Whether such an index exists, and a scan costs less even so.
  private func exists(_ suggested: SuggestedIndex) -> Bool {
    let options = suggested.options
    return catalog.entries.contains { entry in
      entry.definition.type.isOrdered == options.type.isOrdered
        && entry.definition.options.vectorLength == options.vectorLength
        && entry.definition.options.expireAfter == nil && entry.definition.filter.map(isImplied) ?? true
        && entry.definition.collation == options.collation
        && suggested.paths.elementsEqual(
          entry.definition.fields.prefix(suggested.paths.count).map(\.fieldPath))
    }
  }
}

/// The planner's decision about an index.
package struct ConsideredIndex: Sendable, Hashable {
  package let definition: IndexDefinition
  package let isUsed: Bool
  /// Whether the query can be answered with it.
  package let isUsable: Bool
  package let reason: String
}
