import JSON

/// How a query is going to be answered: where the candidates come from, what is left to the matcher, and where the order
/// comes from. A value: it can be printed, compared, and turned into statements.
package struct QueryPlan: Sendable {
  /// Where candidates come from.
  package indirect enum Source: Sendable {
    /// No document can match.
    case nothing
    /// Every document.
    case scan
    /// Documents by their ids, sorted and distinct.
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
    /// None was asked for; the results are in the order of the source.
    case unordered
    /// The index's rows lie in the order of these terms, or in its reverse.
    case index([OrderTerm])
    /// The documents' own index on their ids.
    case id(isDescending: Bool)
    /// The text index's scores, the best first.
    case score
    /// Sorted by what the documents have.
    case sorted
  }

  /// A part of an order that the rows of an index have: a field of the index, or the document's id.
  package struct OrderTerm: Sendable, Hashable {
    /// The number of the index's field; `nil` is the id.
    let field: Int?
    let isDescending: Bool
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
  /// The sequence above which documents are not in the indexes that the source reads, if there are such documents.
  let floor: Int64?
  /// Why this plan was chosen, in a few words.
  package let reason: String

  /// Whether the source alone decides which documents match.
  var isExact: Bool {
    if case .always = residual { true } else { false }
  }

  /// Whether the results' ids are known without reading a document.
  var isCovered: Bool { isExact && source.isCovered && order != .sorted }

  /// How many of the first matches in order are wanted, or `nil` for all.
  var lastWanted: Int? {
    guard limit > 0 else { return nil }
    let (last, overflows) = limit.addingReportingOverflow(skip)
    return overflows ? nil : last
  }

  /// Whether the source reads any index.
  var usesIndex: Bool { !source.indexes.isEmpty }
}

/// What is wanted of the matches.
package enum QueryOutput: Sendable, Hashable, CaseIterable {
  case documents, ids, count, exists
}

extension QueryPlan.Order {
  /// Whether matches come in the order asked for, so that a limit ends the work.
  var isStreamed: Bool {
    switch self {
    case .unordered, .index, .id, .score: true
    case .sorted: false
    }
  }
}

extension QueryPlan.Source {
  /// The indexes that the source reads.
  package var indexes: [IndexCatalog.Entry] {
    switch self {
    case .index(let access): [access.index]
    case .text(let access): [access.index]
    case .union(let branches): branches.flatMap(\.indexes)
    case .intersection(let first, let others): first.indexes + others.flatMap(\.indexes)
    case .nothing, .scan, .ids: []
    }
  }

  /// Whether a document may be met more than once.
  var mayRepeat: Bool {
    switch self {
    case .index(let access): access.mayRepeat
    case .union: true
    case .intersection(let first, _): first.mayRepeat
    case .nothing, .scan, .ids, .text: false
    }
  }

  /// Whether its rows have the documents' ids, so that no document need be read to know them; text indexes have them as
  /// they are searched.
  var isCovered: Bool {
    switch self {
    case .index, .ids, .nothing: true
    case .union(let branches): branches.allSatisfy(\.isCovered)
    case .intersection(let first, _): first.isCovered
    case .scan, .text: false
    }
  }

  /// The index whose rows are met one after the other, if it is one.
  var driver: IndexAccess? {
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
  /// What else is asked of the rows that lie there: of fields behind those.
  package var filters: [Filter] = []

  package struct Filter: Sendable {
    package let field: Int
    package let access: FieldAccess
    package let absence: PredicateAccess.AbsenceFilter?
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
