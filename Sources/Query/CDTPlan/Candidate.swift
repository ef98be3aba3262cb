/// A possible source of a plan, with its estimates.
package struct Candidate {
  package var source: QueryPlan.Source
  /// The conjuncts that the source decides; the others are left to the matcher.
  package var decided = ConjunctSet()
  /// The number of index rows read, or of documents if there is no index.
  package var rows: Double
  /// The number of index seeks.
  package var seeks: Double = 1
  /// The number of documents then read.
  package var found: Double
}

/// The unit of cost is about the time to step over one index row, a tenth of a microsecond.
package enum Cost {
  package static let row = 1.0
  /// Seeking in an index.
  package static let seek = 8.0
  /// Storing a row's number for a later lookup, and looking one up.
  static let kept = 4.0
  static let probe = 2.0
  /// Reading a document during a scan, with the matcher.
  static let scanned = 5.0
  /// Looking a document up, with the matcher.
  static let document = 12.0
  /// Reading a number of a vector in a document, and comparing the code of a number in an index.
  static let component = 0.2
  static let code = 0.002
  /// The number of documents whose distances are about as small as the last result's.
  static let undecided = 100.0
  /// Creating a document's sort key and sorting it.
  static let sorted = 6.0
}

/// Estimates row counts from the statistics of the indexes.
package struct Estimator {
  let catalog: IndexCatalog
  private let usesStatistics: Bool
  /// The number of documents.
  package let documents: Double

  /// - Parameter usesStatistics: Whether estimates go by the statistics of the indexes, and not by the selector alone.
  package init(_ catalog: IndexCatalog, usesStatistics: Bool = true) {
    (self.catalog, self.usesStatistics) = (catalog, usesStatistics)
    let known = usesStatistics ? catalog.entries.lazy.compactMap(\.statistics).first : nil
    documents = max(1, known?.documents ?? Self.usualDocuments)
  }

  private func statistics(of entry: IndexCatalog.Entry) -> IndexStatistics? {
    usesStatistics ? entry.statistics : nil
  }

  /// The assumed number of documents without statistics.
  private static let usualDocuments = 10_000.0

  package func rows(of entry: IndexCatalog.Entry) -> Double {
    statistics(of: entry)?.rows ?? documents * (entry.definition.filter.map { part($0.clause) } ?? 1)
  }

  /// The number of rows an access reads, and the number left by its filters.
  package func estimate(_ access: IndexAccess) -> (rows: Double, found: Double) {
    let statistics = statistics(of: access.index)
    let rows =
      statistics.map { $0.rows(at: access.fields) }
      ?? access.fields.reduce(rows(of: access.index)) { $0 * $1.usualPart }
    let present = access.absence.reduce(rows) { rows, absence in
      guard case .except = absence.value, let statistics else { return rows }
      return rows * max(0, 1 - statistics.part(.points([.nothing]), field: absence.key))
    }
    let found = access.filters.reduce(present) { found, filter in
      found * part(filter.access, filter.absence, field: filter.field, of: access.index)
    }
    return (rows, found)
  }

  private func part(
    _ access: FieldAccess, _ absence: PredicateAccess.AbsenceFilter?, field: Int, of entry: IndexCatalog.Entry
  ) -> Double {
    guard let statistics = statistics(of: entry) else { return access.usualPart }
    if case .except = absence {
      // Most fields without a value are missing.
      return max(0, 1 - statistics.part(.points([.nothing]), field: field))
    }
    return statistics.part(access, field: field)
  }

  /// The fraction of the documents that match a clause.
  func part(_ clause: Clause) -> Double {
    switch clause {
    case .always: 1
    case .never: 0
    case .and(let members): members.prefix(Self.examined).reduce(1) { $0 * part($1) }
    case .or(let members): 1 - members.prefix(Self.examined).reduce(1) { $0 * (1 - part($1)) }
    case .not(let member): max(0, 1 - part(member))
    case .field(let path, let predicate): part(path, predicate)
    case .text: Self.textPart
    case .rule(.annotated(let member, _, _)), .rule(.guarded(let member)): part(member)
    case .rule(.conditional(let condition, let then, let otherwise)):
      part(condition) * part(then) + (1 - part(condition)) * part(otherwise)
    case .value: 0.5
    }
  }

  private static let examined = 16
  /// The fraction of the documents that match a search: words are rarer than most values.
  package static let textPart = 0.01

  private func part(_ path: FieldPath, _ predicate: Predicate) -> Double {
    if path.documentField == .id, case .equal = predicate { return 1 / documents }
    if let cells = PredicateAccess.cells(of: predicate) { return part(path.cells, cells) }
    return PredicateAccess.of(predicate).map { part(path, $0) } ?? 0.3
  }

  private func part(_ path: FieldPath, _ access: PredicateAccess) -> Double {
    for entry in catalog.ordered
    where statistics(of: entry) != nil && entry.definition.filter == nil
      && access.isUsable(by: entry.definition.collation)
    {
      guard let field = entry.definition.fields.firstIndex(where: { $0.fieldPath == path }) else { continue }
      let perDocument = rows(of: entry) / documents
      return min(1, part(access.access, access.absence, field: field, of: entry) * max(1, perDocument))
    }
    switch access.access {
    case .points(let keys): return min(0.9, 0.1 * Double(keys.count))
    case .range, .ranges: return access.access.usualPart
    }
  }
}
