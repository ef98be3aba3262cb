/// The statements that a plan runs.
extension QueryPlan {
  /// The statements that give the candidates, in the order in which they are run.
  ///
  /// - Parameter output: What is wanted of the matches.
  func statements(_ output: QueryOutput) -> [CandidateStatement] {
    let isCounted = output == .count && countStatement != nil
    let found = isCounted ? [] : CandidateStatement.of(source, order: order, floor: floor, form: form(output))
    return found + unindexedStatements
  }

  /// The statements that tell which documents an intersection's other sources have, for each source in turn.
  var otherStatements: [[CandidateStatement]] {
    guard case .intersection(_, let others) = source else { return [] }
    return others.map {
      CandidateStatement.of($0, order: .unordered, floor: floor, form: .bare)
    }
  }

  /// The statement that counts the matches that the source has, where its rows alone decide and no document has several.
  var countStatement: CandidateStatement? {
    guard isExact, !source.mayRepeat else { return nil }
    switch source {
    case .index, .text, .scan:
      return CandidateStatement.of(source, order: .unordered, floor: floor, form: .count).first
    case .nothing, .ids, .union, .intersection: return nil
    }
  }

  /// The statements for documents that the indexes do not have.
  private var unindexedStatements: [CandidateStatement] {
    var statements: [CandidateStatement] = []
    if source.indexes.contains(where: \.hasApart) {
      statements.append(.apart(from: source.indexes, floor: floor))
    }
    if let floor { statements.append(.unindexed(above: floor)) }
    return statements
  }

  /// Whether there may be documents that the indexes do not have.
  var hasUnindexed: Bool { floor != nil || source.indexes.contains(where: \.hasApart) }

  /// What the source's statements give: documents where each candidate is to be read; otherwise numbers and ids, and
  /// documents are looked up one by one.
  func form(_ output: QueryOutput) -> CandidateStatement.Form {
    isBare(output) ? .bare : .documents
  }

  /// Whether the source's statements give no documents.
  func isBare(_ output: QueryOutput) -> Bool {
    if case .intersection = source { return true }
    // The values to sort by are the documents'.
    if case .sorted = order { return false }
    guard isExact else { return false }
    switch output {
    case .documents: return skip > 0 && order.isStreamed
    case .ids: return source.isCovered
    case .count, .exists: return true
    }
  }
}
