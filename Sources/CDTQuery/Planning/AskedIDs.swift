/// The conditions of a conjunction on `_id`.
struct AskedIDs {
  /// The ids that they leave.
  private(set) var range = IDRange()
  /// The conjuncts that the range decides.
  private(set) var decided = ConjunctSet()
  /// Whether there are any; the results are then in the order of the ids unless the query has a sort.
  private(set) var isAsked = false

  init(_ conditions: [AskedField]) {
    for condition in conditions where condition.path.documentField == .id {
      guard let range = IDRange(condition.access.access) else { continue }
      self.range.formIntersection(range)
      // Each document has one id.
      if condition.access.isExact(isMultiple: false) { decided.insert(condition.conjunct) }
    }
  }

  init(_ conjuncts: [Clause], _ conditions: [AskedField]) {
    self.init(conditions)
    isAsked = conjuncts.contains { clause in
      if case .field(let path, _) = clause { path.documentField == .id } else { false }
    }
  }
}
