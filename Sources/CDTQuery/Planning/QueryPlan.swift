import JSON

/// How a query is going to be answered: where the candidates come from, what is left to the matcher, and where the order
/// comes from. A value: it can be printed, compared, and turned into SQL.
package struct QueryPlan: Sendable {
  /// Where candidates come from.
  package enum Source: Sendable {
    /// No document can match.
    case nothing
    /// Every document.
    case scan
    /// Documents by their ids, each sorted and distinct.
    case ids([String])
    case index(IndexAccess)
    /// Documents that the text index gives for a search.
    case text(TextAccess)
    /// Documents that any of the branches gives.
    case union([Branch])
  }

  /// One way into a union.
  package enum Branch: Sendable {
    case index(IndexAccess)
    case text(TextAccess)

    package var entry: IndexCatalog.Entry {
      switch self {
      case .index(let access): access.index
      case .text(let access): access.index
      }
    }
  }

  /// Where the order of the results comes from.
  package enum Order: Sendable, Hashable {
    /// None was asked for.
    case unordered
    /// The index's rows, from its field number `first` on, lie in the order asked for.
    case index(first: Int, count: Int, reversed: Bool)
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
  /// Every index that there is, and why it was used or not.
  package let considered: [ConsideredIndex]
  /// The fields of an index that would help, when none did.
  package let wishedIndex: WishedIndex?

  /// The indexes that the source reads.
  package var indexes: [IndexCatalog.Entry] {
    switch source {
    case .index(let access): [access.index]
    case .text(let access): [access.index]
    case .union(let branches): branches.map(\.entry)
    case .nothing, .scan, .ids: []
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
  package let fields: [FieldAccess]
  package let absence: [Int: PredicateAccess.AbsenceFilter]
  /// The conjuncts that the rows decide.
  package let decided: Set<Clause>

  /// Whether the same document may be met more than once.
  package var mayRepeat: Bool {
    guard index.isMultiple else { return false }
    return fields.count < index.definition.fields.count || !fields.allSatisfy(\.isPoint)
  }

  /// What part of the index is expected to be read, by rough rules: 1 is all of it.
  package var selectivity: Double {
    fields.reduce(1) { $0 * $1.selectivity }
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

  fileprivate var selectivity: Double {
    switch self {
    case .points(let keys): min(0.9, 0.01 * Double(keys.count))
    case .range(let lower, let upper):
      switch (lower, upper) {
      case (.key?, .key?): 0.05
      case (.key?, _), (_, .key?): 0.3
      case (.tag(let low)?, .tag(let high)?) where low == high: 0.7
      default: 1
      }
    }
  }
}

/// What the planner thought of an index.
package struct ConsideredIndex: Sendable, Hashable {
  package let name: String
  package let isUsed: Bool
  package let reason: String
}
