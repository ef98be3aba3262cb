/// A source that a plan may have, and what it is expected to meet.
struct Candidate {
  var source: QueryPlan.Source
  /// The numbers of the conjuncts that the source decides; the others are left to the matcher.
  var decided = ConjunctSet()
  /// How many rows of indexes are met, or documents where there is no index.
  var rows: Double
  /// How many places of an index are looked up.
  var seeks: Double = 1
  /// How many documents are then looked at.
  var found: Double
}

/// The units of cost: about what it takes to pass over one row of an index, a tenth of a microsecond.
enum Cost {
  static let row = 1.0
  /// Finding a place in an index.
  static let seek = 8.0
  /// Keeping a row's sequence to look it up again, and looking one up.
  static let kept = 4.0
  static let probe = 2.0
  /// Reading a document met in passing, with the matcher.
  static let scanned = 5.0
  /// Looking a document up, with the matcher.
  static let document = 12.0
  /// Making a document's sort key and keeping it in order.
  static let sorted = 6.0
}

/// What a query is expected to meet, by the figures of the indexes.
struct Estimator {
  let catalog: IndexCatalog
  /// How many documents there are.
  let documents: Double

  init(_ catalog: IndexCatalog) {
    self.catalog = catalog
    documents = max(1, catalog.entries.lazy.compactMap(\.statistics).first?.documents ?? Self.usualDocuments)
  }

  /// How many documents a store is taken to have while nothing was measured.
  private static let usualDocuments = 10_000.0

  func rows(of entry: IndexCatalog.Entry) -> Double {
    entry.statistics?.rows ?? documents
  }

  /// How many rows an access meets where the seek puts it, and how many of those its filters leave.
  func estimate(_ access: IndexAccess) -> (rows: Double, found: Double) {
    let rows =
      access.index.statistics.map { $0.rows(at: access.fields) }
      ?? access.fields.reduce(documents) { $0 * $1.usualPart }
    let present = access.absence.reduce(rows) { rows, absence in
      guard case .except = absence.value, let statistics = access.index.statistics else { return rows }
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
    guard let statistics = entry.statistics else { return access.usualPart }
    if case .except = absence {
      // Missing fields are most of those without a value.
      return max(0, 1 - statistics.part(.points([.nothing]), field: field))
    }
    return statistics.part(access, field: field)
  }

  /// What part of the documents a clause holds for.
  func part(_ clause: Clause) -> Double {
    switch clause {
    case .always: 1
    case .never: 0
    case .and(let members): members.prefix(Self.examined).reduce(1) { $0 * part($1) }
    case .or(let members): 1 - members.prefix(Self.examined).reduce(1) { $0 * (1 - part($1)) }
    case .not(let member): max(0, 1 - part(member))
    case .field(let path, let predicate): part(path, predicate)
    case .text: Self.textPart
    case .value: 0.5
    }
  }

  private static let examined = 16
  /// What part of the documents a search finds: words are rarer than most values.
  static let textPart = 0.01

  private func part(_ path: FieldPath, _ predicate: Predicate) -> Double {
    if path.documentField == .id, case .equal = predicate { return 1 / documents }
    return PredicateAccess.of(predicate).map { part(path, $0) } ?? 0.3
  }

  private func part(_ path: FieldPath, _ access: PredicateAccess) -> Double {
    for entry in catalog.ordered where entry.statistics != nil {
      guard let field = entry.definition.fields.firstIndex(where: { $0.fieldPath == path }) else { continue }
      let perDocument = rows(of: entry) / documents
      return min(1, part(access.access, access.absence, field: field, of: entry) * max(1, perDocument))
    }
    switch access.access {
    case .points(let keys): return min(0.9, 0.1 * Double(keys.count))
    case .range: return access.access.usualPart
    }
  }
}
