import JSON

/// How a query is going to be answered: where the candidates come from, what is left to the matcher, and where the order
/// comes from. A value: it can be printed, compared, and turned into SQL.
package struct QueryPlan: Sendable {
  /// Where candidates come from.
  package indirect enum Source: Sendable {
    /// No document can match.
    case nothing
    /// Every document.
    case scan
    /// Documents by their ids, each sorted and distinct.
    case ids([String])
    case index(IndexAccess)
    /// Documents that the text index gives for a search.
    case text(TextAccess)
    /// Documents that any of the branches gives: indexes, searches and ids.
    case union([Source])
    /// Documents that the first gives, an index or a search, and each of the others too.
    case intersection(Source, [Source])
  }

  /// Where the order of the results comes from.
  package enum Order: Sendable, Hashable {
    /// None was asked for.
    case unordered
    /// The index's rows, from its field number `first` on, lie in the order asked for.
    case index(first: Int, count: Int, reversed: Bool)
    /// Sorted by the values of these fields of the index.
    case columns([Int])
    /// The documents' own index on their ids.
    case id(isDescending: Bool)
    /// The text index's scores, the best first.
    case score
    /// The matches are sorted, the first of them only when there is a limit.
    case sorted
  }

  package let source: Source
  /// What the candidates still have to satisfy; `always` when the source is exact.
  package let residual: Clause
  /// The whole selector, for documents that are not in the index yet.
  package let clause: Clause
  /// What the selector's text search asks of a document.
  package let text: TextProgram?
  package let order: Order
  package let sort: SortOrder
  package let skip: Int
  package let limit: Int
  /// Why this plan was chosen, in a few words.
  package let reason: String

  /// Whether the source reads any index.
  var usesIndex: Bool {
    switch source {
    case .index, .text, .intersection: true
    case .union: !indexes.isEmpty
    case .nothing, .scan, .ids: false
    }
  }

  /// The indexes that the source reads.
  package var indexes: [IndexCatalog.Entry] { source.indexes }

  /// Whether every document is looked at.
  var isScan: Bool {
    if case .scan = source { true } else { false }
  }
}

extension QueryPlan.Source {
  /// Calls a closure with each index that the source reads.
  func forEachIndex(_ body: (IndexCatalog.Entry) -> Void) {
    switch self {
    case .index(let access): body(access.index)
    case .text(let access): body(access.index)
    case .union(let branches): for branch in branches { branch.forEachIndex(body) }
    case .intersection(let first, let others):
      first.forEachIndex(body)
      for other in others { other.forEachIndex(body) }
    case .nothing, .scan, .ids: break
    }
  }

  /// The lowest watermark of the indexes that the source reads, if documents lie above it; those go to the matcher.
  func floor(upTo lastSequence: Int64) -> Int64? {
    var watermark = lastSequence
    forEachIndex { watermark = min(watermark, $0.watermark) }
    return watermark < lastSequence ? watermark : nil
  }

  package var indexes: [IndexCatalog.Entry] {
    var indexes: [IndexCatalog.Entry] = []
    forEachIndex { indexes.append($0) }
    return indexes
  }

  /// Whether a document may be met more than once.
  package var mayRepeat: Bool {
    switch self {
    case .index(let access): access.mayRepeat
    case .union: true
    case .intersection(let first, _): first.mayRepeat
    case .nothing, .scan, .ids, .text: false
    }
  }

  /// Whether its rows alone have the sequences and ids, so that no document need be read to know them.
  package var isCovered: Bool {
    switch self {
    case .index: true
    case .union(let branches):
      branches.allSatisfy { branch in
        switch branch {
        case .index, .ids: true
        default: false
        }
      }
    case .intersection(let first, _): first.isCovered
    case .nothing, .scan, .ids, .text: false
    }
  }

  /// The index whose rows are met one after the other, if it is one.
  package var driver: IndexAccess? {
    switch self {
    case .index(let access): access
    case .intersection(let first, _): first.driver
    default: nil
    }
  }
}

/// What a text index is asked.
package struct TextAccess: Sendable {
  package let index: IndexCatalog.Entry
  /// The search in FTS5's syntax, every word of the user's quoted.
  package let match: String
  /// Whether the matcher need not be asked again.
  package let isExact: Bool
}

/// The rows of one index that hold every match.
package struct IndexAccess: Sendable {
  package let index: IndexCatalog.Entry
  /// What is asked of the index's fields, from the first on: points, and for the last perhaps a range.
  package var fields: [FieldAccess] = []
  package var absence: [Int: PredicateAccess.AbsenceFilter] = [:]
  /// What else is asked of the rows that lie there.
  package var filters: [Filter] = []

  package struct Filter: Sendable {
    /// The clause, for what is said to the user.
    package let clause: Clause
    package let condition: RowCondition
  }

  /// Whether the same document may be met more than once.
  package var mayRepeat: Bool {
    guard index.isMultiple else { return false }
    return fields.count < index.definition.fields.count || !fields.allSatisfy(\.isPoint)
  }

  /// How many of the leading fields have one value only.
  package var constantFields: Int {
    fields.prefix { $0.isPoint }.count
  }
}

extension FieldAccess {
  package var isPoint: Bool {
    if case .points(let keys) = self { return keys.count == 1 }
    return false
  }
}

/// What the planner thought of an index.
package struct ConsideredIndex: Sendable, Hashable {
  package let name: String
  package let isUsed: Bool
  package let reason: String
}
