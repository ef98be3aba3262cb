import CDTPlan

/// The statements that a plan runs.
extension QueryPlan {
  /// The number of first matches needed, or `nil` for all.
  var lastWanted: Int? { ResultPage(skip: skip, limit: limit).end }

  /// The statements that return the candidates, in the order of execution.
  ///
  /// - Parameter output: The required output.
  func statements(_ output: QueryOutput) -> [CandidateStatement] {
    let isCounted = output == .unindexed || output == .count && countStatement != nil
    let found =
      isCounted
      ? []
      : CandidateStatement.of(
        source, order: order, keys: keyOrder, after: start, completeUpTo: completeUpTo, form: form(output))
    return found + unindexedStatements
  }

  /// The statements that return the documents of an intersection's other sources, for each source in turn.
  var otherStatements: [[CandidateStatement]] {
    guard case .intersection(_, let others) = source else { return [] }
    return others.map {
      CandidateStatement.of($0, order: .unordered, completeUpTo: completeUpTo, form: .idsOnly)
    }
  }

  /// The statement that counts the matches of the source, if its rows alone decide and no document has several rows. It counts design
  /// documents, which are all in the source.
  var countStatement: CandidateStatement? {
    guard isExact, !source.mayRepeat, !hidesDesignDocuments || !hasUnindexed, hidden.isEmpty else {
      return nil
    }
    switch source {
    case .index(let access) where access.filtersKeys: return nil
    case .index, .text, .scan:
      return CandidateStatement.of(source, order: .unordered, completeUpTo: completeUpTo, form: .count).first
    case .nothing, .ids, .nearest, .union, .intersection: return nil
    }
  }

  /// The statements for documents missing from the indexes.
  private var unindexedStatements: [CandidateStatement] {
    var statements: [CandidateStatement] = []
    if source.readsIndex(\.hasOverflow) {
      statements.append(.overflow(from: source.indexes, completeUpTo: completeUpTo))
    }
    if let completeUpTo { statements.append(.unindexed(above: completeUpTo)) }
    return statements
  }

  /// Whether documents may be missing from the indexes.
  var hasUnindexed: Bool { completeUpTo != nil || source.readsIndex(\.hasOverflow) }

  /// The form of the rows of the source's statements: documents if each candidate is read; otherwise numbers and ids, and
  /// documents are looked up individually.
  func form(_ output: QueryOutput) -> CandidateStatement.Form {
    if idsOnly(output) { return .idsOnly }
    return (output == .groups || output == .texts) && order != .score && order != .distance
      ? .texts : .documents
  }

  /// Whether the rows of the index are filtered or sorted by their keys.
  private var readsKeys: Bool {
    keyOrder.tiedFields != nil || source.filtersKeys
  }

  /// Whether the source's statements return no documents.
  func idsOnly(_ output: QueryOutput) -> Bool {
    if case .intersection = source { return source.nearest == nil }
    if readsKeys { return true }
    guard isExact else { return false }
    // Other sorts need values of the documents.
    if case .sorted = order { return sort.isByID }
    switch output {
    case .documents, .texts: return skip > 0 && order.isStreamed
    case .ids: return source.isCovered
    case .count, .exists: return true
    case .groups, .unindexed: return false
    }
  }
}

extension QueryPlan.Source {
  /// Whether the rows of an index are filtered by their keys.
  fileprivate var filtersKeys: Bool {
    switch self {
    case .index(let access): access.filtersKeys
    case .union(let branches): branches.contains(where: \.filtersKeys)
    case .intersection(let first, _): first.filtersKeys
    case .nothing, .scan, .ids, .text, .nearest: false
    }
  }
}
