package import CDTDatastore
import CDTSQLite

/// The changes of documents that a selector may accept, found by an index. Otherwise each changed document is read.
///
/// They are those of one state. Documents that change afterwards are among the changes after ``last``.
package struct SelectedChanges: Sendable {
  /// The last change of the state.
  package let last: Int64
  /// In ascending order.
  private let sequences: [Int64]

  /// Finds the changes after a sequence: the documents that an index finds, and those with several leaves, of which an index has only
  /// one. Deleted documents are in no index, so the selector must not accept them.
  ///
  /// - Returns: `nil` if looking at each change costs less, or if an index can't decide.
  package init?(of filter: SelectorFilter, since sequence: Int64, in transaction: ReadTransaction) throws {
    last = try transaction.lastSequence()
    guard try filter.concernsBodiesAlone,
      let numbers = try QueryEngine.answering(
        in: transaction, { [last] in try $0.numbers(of: filter.selector, amongChanges: last - sequence) })
    else { return nil }
    sequences = try transaction.sequences(ofDocuments: numbers, after: sequence)
  }

  /// The next of the changes after a sequence, and the sequence after which the next ones begin. Changes of documents that have changed
  /// since are left out.
  package func changes(
    after sequence: Int64, limit: Int, in transaction: ReadTransaction
  ) throws -> (documents: [Change], last: Int64) {
    let rest = sequences[firstIndex(after: sequence)...]
    let part = rest.prefix(max(1, limit))
    let documents = try part.compactMap { try transaction.change(at: $0) }
    return (documents, part.count == rest.count ? last : part.last ?? last)
  }

  /// The number of changes after a sequence.
  package func count(after sequence: Int64) -> Int { sequences.count - firstIndex(after: sequence) }

  private func firstIndex(after sequence: Int64) -> Int {
    var range = sequences.startIndex..<sequences.endIndex
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range = sequences[middle] <= sequence ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }
}

extension SelectorFilter {
  /// Whether it depends on the bodies of documents that are not deleted: it rejects an empty document, and uses none of the members
  /// that a document has besides its body.
  fileprivate var concernsBodiesAlone: Bool {
    get throws(QueryError) {
      guard !selector.clause.reads(where: { $0.segments.first?.name.first == UInt8(ascii: "_") }) else {
        return false
      }
      return try !DocumentBytes.with([:], id: "", revision: "") { document throws(QueryError) in
        try Matcher(selector.clause).accepts(document)
      }
    }
  }
}

extension QueryEngine {
  /// The numbers of the documents that match a selector, if an index finds them with less work than looking at each change takes.
  fileprivate func numbers(of selector: QuerySelector, amongChanges count: Int64) throws -> [Int64]? {
    let planner = try planner(ResolvedQuery(Query(selector)), .ids)
    guard planner.leastCost < Double(count) * Cost.row / 2, try planner.plan().usesIndex else {
      return nil
    }
    return try withRun(Query(selector), .ids) { run in
      var numbers: [Int64] = []
      while let row = try run.next() { numbers.append(row.number) }
      return numbers
    }
  }
}
