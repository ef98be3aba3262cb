package import CDTDatastore
import CDTPlan
import CDTSQLite

/// The changes of documents that a selector may accept, found by an index. Otherwise each changed document is read.
///
/// They are those of one state. Documents that change afterwards are among the changes after ``last``.
package struct SelectedChanges: Sendable {
  /// The last change of the state.
  private(set) package var last: Int64
  /// In ascending order.
  private var sequences: [Int64]

  /// Finds the changes after a sequence: the documents that an index finds, those with several leaves, of which an index has only one, and
  /// tombstones with a body, which no index has.
  ///
  /// - Parameters:
  ///   - filter: The selector; `nil` for the documents that the user of the transaction sees.
  ///   - limit: The number of changes that are read of those found, before they are found again; `nil` for all.
  /// - Returns: `nil` if looking at each change costs less, or if an index can't decide.
  package init?(
    of filter: SelectorFilter?, since sequence: Int64, limit: Int? = nil, in transaction: ReadTransaction
  ) throws {
    last = try transaction.lastSequence()
    let work = Work(changes: Double(last - sequence), limit: limit)
    let clauses = try [transaction.visibleClause, filter?.selector.clause].compactMap(\.self)
    let selector = QuerySelector(clause: .all(clauses))
    guard try selector.concernsBodiesAlone,
      let numbers = try QueryEngine.answering(in: transaction, { try $0.numbers(of: selector, work) })
    else { return nil }
    sequences = try transaction.sequences(ofDocuments: numbers, after: sequence)
  }

  /// The work of looking at each change.
  fileprivate struct Work {
    let changes: Double
    let limit: Int?

    /// Whether finding so many documents is less. Of every request with a limit, each finds all of them again.
    func exceeds(_ matches: Double) -> Bool {
      matches < min(changes / 2, Self.maximumMatches)
        && limit.map { matches * matches < Double($0) * changes } ?? true
    }

    private static let maximumMatches = 1_000_000.0
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

  /// The changes up to a sequence.
  package func upTo(_ end: Int64) -> SelectedChanges {
    var part = self
    part.last = min(last, end)
    part.sequences = Array(sequences.prefix(firstIndex(after: end)))
    return part
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

extension QuerySelector {
  /// Whether it depends on the bodies of documents that are not deleted: it rejects an empty document, and uses none of the members
  /// that a document has besides its body.
  fileprivate var concernsBodiesAlone: Bool {
    get throws(QueryError) {
      guard !clause.reads(where: { $0.segments.first?.name.first == UInt8(ascii: "_") }) else {
        return false
      }
      return try !DocumentBytes.with([:], id: "", revision: "") { document throws(QueryError) in
        try Matcher(clause).accepts(document)
      }
    }
  }
}

extension QueryEngine {
  /// The numbers of the documents that match a selector, if an index finds them with less work.
  fileprivate func numbers(of selector: QuerySelector, _ work: SelectedChanges.Work) throws -> [Int64]? {
    // The plan can't be seen in the changes.
    var query = Query(selector)
    query.includesDesignDocuments = true
    let planner = try planner(ResolvedQuery(query), .ids).byStatistics
    guard work.exceeds(planner.leastCost), try planner.plan().usesIndex else { return nil }
    var engine = self
    engine.choose = { try $0.byStatistics.plan() }
    do {
      return try engine.withRun(query, .ids) { run in
        var numbers: [Int64] = []
        while let row = try run.next() {
          numbers.append(row.number)
          guard work.exceeds(Double(numbers.count)) else { return nil }
        }
        return numbers
      }
    } catch let error as QueryError where error.code == .matchLimit {
      // The filter has new limits for each page of changes.
      return nil
    }
  }
}
