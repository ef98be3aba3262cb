import CDTDatastore
import CDTJSON

/// The plan of a query: the source of candidates, the residual for the matcher, and the order. It does not change, and can be
/// printed and converted to statements.
package final class QueryPlan: Sendable {
  /// The source of candidates.
  package indirect enum Source: Sendable {
    /// No document can match.
    case nothing
    /// Every document, or those whose ids are in a range.
    case scan(IDRange)
    /// Documents by their ids, sorted and distinct.
    case ids([String])
    case index(IndexAccess)
    /// Documents that the text index finds.
    case text(TextAccess)
    /// Documents in the order of their distances, which an index of vectors or places bounds.
    case nearest(NearestAccess)
    /// Documents in any of the branches: indexes, searches and ids.
    case union([Source])
    /// Documents in the first source, an index or a search, and in each of the others.
    case intersection(Source, [Source])
  }

  /// The order of the results.
  package enum Order: Sendable, Hashable {
    /// Any order: matches are counted.
    case unordered
    /// The order of these terms in the index's rows, or its reverse.
    case index([OrderTerm])
    /// The index on the documents' ids.
    case id(isDescending: Bool)
    /// The scores of the text index, best first.
    case score
    /// The distances from a value, the least first.
    case distance
    /// Sorted by values or ids of the matches.
    case sorted
  }

  package let source: Source
  /// The condition left for the candidates; `always` if the source is exact.
  package let residual: Clause
  /// The whole selector, for documents that are not indexed yet.
  package let clause: Clause
  /// The program of the selector's text search.
  package let text: TextProgram?
  package let order: Order
  /// The order in which the rows of the index that drives the source are read.
  package let keyOrder: KeyOrder
  /// The order of the results: that of the query, or without one that of the source.
  package let sort: SortOrder
  /// The position after which the results begin.
  package let start: Bookmark?
  package let skip: Int
  package let limit: Int?
  /// Whether the page is returned in the opposite order.
  package let isBackward: Bool
  /// The sequence above which documents are missing from the source's indexes, if there are such documents.
  package let completeUpTo: Int64?
  /// Whether design documents are left out.
  package let hidesDesignDocuments: Bool
  /// The documents that are left out.
  package let hidden: HiddenDocuments
  /// A short reason for the choice of this plan.
  package let reason: String

  init(
    source: Source, residual: Clause, clause: Clause, text: TextProgram?, order: Order, keyOrder: KeyOrder,
    sort: SortOrder, start: Bookmark?, skip: Int, limit: Int?, isBackward: Bool, completeUpTo: Int64?,
    hidesDesignDocuments: Bool, hidden: HiddenDocuments, reason: String
  ) {
    (self.source, self.residual, self.clause, self.text) = (source, residual, clause, text)
    (self.order, self.keyOrder, self.sort, self.start) = (order, keyOrder, sort, start)
    (self.skip, self.limit, self.isBackward, self.completeUpTo) = (skip, limit, isBackward, completeUpTo)
    (self.hidesDesignDocuments, self.hidden, self.reason) = (hidesDesignDocuments, hidden, reason)
  }

  /// Whether the source alone decides which documents match.
  package var isExact: Bool {
    if case .always = residual { true } else { false }
  }

  /// Whether the ids of the results are known without reading documents.
  package var isCovered: Bool { isExact && source.isCovered && (order != .sorted || sort.isByID) }

  /// Whether the source reads any index.
  package var usesIndex: Bool { source.readsIndex { _ in true } }
}

/// The required output of the matches. Texts are documents without their attachments and sequences; their plans are those of
/// documents. Groups need the texts in any order; unindexed ones are those that the indexes lack.
package enum QueryOutput: Sendable, Hashable, CaseIterable {
  case documents, texts, ids, count, exists, groups, unindexed

  /// Whether each match is read.
  var readsDocuments: Bool { self == .documents || self == .groups }

  /// Whether matches are wanted in any order.
  var isUnordered: Bool { ![.documents, .texts, .ids].contains(self) }
}

extension QueryPlan.Order {
  /// Whether matches come in the requested order, so that a limit ends the work.
  package var isStreamed: Bool {
    switch self {
    case .unordered, .index, .id, .score, .distance: true
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
    case .nearest(let access): [access.index]
    case .union, .intersection: parts.flatMap(\.indexes)
    case .nothing, .scan, .ids: []
    }
  }

  /// The sources of which it is made.
  package var parts: [Self] {
    switch self {
    case .union(let branches): branches
    case .intersection(let first, let others): [first] + others
    case .nothing, .scan, .ids, .index, .text, .nearest: []
    }
  }

  /// Whether it reads an index for which a condition holds.
  package func readsIndex(_ holds: (IndexCatalog.Entry) -> Bool) -> Bool {
    switch self {
    case .index(let access): holds(access.index)
    case .nothing, .scan, .ids: false
    case .text, .nearest, .union, .intersection: indexes.contains(where: holds)
    }
  }

  /// The index in the order of the distances whose rows drive the execution, if any.
  package var nearest: NearestAccess? {
    switch self {
    case .nearest(let access): access
    case .intersection(let first, _): first.nearest
    case .nothing, .scan, .ids, .index, .text, .union: nil
    }
  }

  /// Leaves out documents whose ids are not after one, where the source can do so.
  mutating func continueAfter(_ id: String, isDescending: Bool) {
    func rest(of source: Self) -> Self {
      var rest = source
      rest.continueAfter(id, isDescending: isDescending)
      return rest
    }
    switch self {
    case .nothing, .text, .nearest: break
    case .scan(var range):
      range.continueAfter(id, isDescending: isDescending)
      self = .scan(range)
    case .ids(let ids):
      var range = IDRange()
      range.continueAfter(id, isDescending: isDescending)
      self = .ids(ids.filter { range.contains($0) })
    case .index(let access):
      var ids = access.ids
      ids.continueAfter(id, isDescending: isDescending)
      self = .index(
        IndexAccess(
          access.index, access.fields, absence: access.absence, filters: access.filters, ids: ids))
    case .union(let branches): self = .union(branches.map(rest))
    case .intersection(let first, let others): self = .intersection(rest(of: first), others.map(rest))
    }
  }

  /// Whether a document may be returned more than once.
  package var mayRepeat: Bool {
    switch self {
    case .index(let access): access.mayRepeat
    case .union: true
    case .intersection(let first, _): first.mayRepeat
    case .nothing, .scan, .ids, .text, .nearest: false
    }
  }

  /// Whether its rows contain the documents' ids, so that no document need be read for them. Text indexes return ids
  /// as they are searched.
  package var isCovered: Bool {
    switch self {
    case .index, .ids, .nothing: true
    case .union(let branches): branches.allSatisfy(\.isCovered)
    case .intersection(let first, _): first.isCovered
    case .scan, .text, .nearest: false
    }
  }

  /// The index whose rows drive the execution, if any.
  package var driver: IndexAccess? {
    switch self {
    case .index(let access): access
    case .intersection(let first, _): first.driver
    default: nil
    }
  }
}

/// A search in the text index.
package struct TextAccess: Sendable {
  package let index: IndexCatalog.Entry
  /// The search in FTS5's syntax, with every word quoted.
  package let match: String
  /// Whether the results need no check by the matcher.
  package let isExact: Bool
}

/// The rows of an index of vectors or places, the nearest first.
package struct NearestAccess: Sendable {
  package let index: IndexCatalog.Entry
  package let near: NearField
  /// The values of the fields before the place, one of each.
  package var leading: [OrderKey] = []
}

/// The rows of one index that include every match.
package final class IndexAccess: Sendable {
  package let index: IndexCatalog.Entry
  /// The accesses to the leading fields: points, and for the last field possibly a range.
  package let fields: [FieldAccess]
  package let absence: [Int: PredicateAccess.AbsenceFilter]
  /// The filters on later fields of these rows.
  package let filters: [Filter]
  /// The ids of these rows.
  package let ids: IDRange

  init(
    _ index: IndexCatalog.Entry, _ fields: [FieldAccess] = [],
    absence: [Int: PredicateAccess.AbsenceFilter] = [:], filters: [Filter] = [], ids: IDRange = IDRange()
  ) {
    (self.index, self.fields, self.absence) = (index, fields, absence)
    (self.filters, self.ids) = (filters, ids)
  }

  package struct Filter: Sendable {
    package let field: Int
    package let access: FieldAccess
    package let absence: PredicateAccess.AbsenceFilter?
  }

  /// Whether the same document may be returned more than once.
  package var mayRepeat: Bool {
    guard index.isMultiple else { return false }
    return fields.count < index.definition.fields.count || !fields.allSatisfy(\.isPoint)
  }

  /// The number of leading fields with a single value.
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
