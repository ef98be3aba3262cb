import CDTDatastore
import CDTQuery
import CDTReplication

/// The results of a query as its candidates arrive.
struct RemoteResults {
  private let query: Query
  private let textIndex: IndexDefinition?
  private let isInOrder: Bool
  /// The last result's number, counted from the first match; `nil` without a limit.
  private let end: Int?
  private let deadline: ContinuousClock.Instant?
  /// The ids of the candidates. A document can arrive twice if it is changed meanwhile.
  private var seen: Set<[UInt8]> = []
  private var kept: [DocumentRevision] = []
  /// The number of matches.
  private(set) var matches = 0

  /// More matches than this and twice the page are reduced to those that can be in the page.
  private static let reserve = 1_000

  /// - Throws: `QueryError` if the query can't be evaluated here.
  init(_ query: Query, isInOrder: Bool, textIndex: IndexDefinition?) throws(QueryError) {
    guard query.bookmark == nil, !query.isBackward else { throw QueryError(.bookmarkWithoutStore) }
    self.query = query
    self.textIndex = textIndex
    self.isInOrder = isInOrder
    end = ResultPage(skip: query.skip, limit: query.limit).end
    deadline = query.timeLimit.map { ContinuousClock.now + $0 }
    _ = try query.find(in: [], textIndex: textIndex)
  }

  /// The number of matches that are still wanted; `nil` for all.
  var needed: Int? { isInOrder ? end.map { max(0, $0 - matches) } : nil }

  /// Keeps the documents of a page that match.
  mutating func take(_ page: [DocumentRevision]) throws(QueryError) {
    kept += try matching(page)
    guard !isInOrder, let end, kept.count > Self.reserve, kept.count / 2 > end else { return }
    var best = query
    (best.skip, best.limit, best.fields, best.snippets) = (0, end, [], nil)
    best.returnsDistance = false
    kept = try best.find(in: kept, textIndex: textIndex)
  }

  /// Counts the documents of a page that match.
  mutating func count(_ page: [DocumentRevision]) throws(QueryError) {
    _ = try matching(page)
  }

  /// The results that are known and were not returned before: none if the candidates have yet to be sorted.
  mutating func next() throws(QueryError) -> [DocumentRevision] {
    guard isInOrder else { return [] }
    let first = matches - kept.count
    var part = query
    part.skip = max(0, query.skip - first)
    part.limit = end.map { max(0, $0 - max(first, query.skip)) }
    defer { kept = [] }
    return try part.find(in: kept, textIndex: textIndex)
  }

  /// The results that ``next()`` has not returned, after all candidates have arrived.
  mutating func rest() throws(QueryError) -> [DocumentRevision] {
    try isInOrder ? next() : query.find(in: kept, textIndex: textIndex)
  }

  private mutating func matching(_ page: [DocumentRevision]) throws(QueryError) -> [DocumentRevision] {
    if let deadline, let limit = query.timeLimit, ContinuousClock.now >= deadline {
      throw QueryError(.timedOut(limit))
    }
    let new = page.filter { seen.insert(Array($0.id.utf8)).inserted }
    let found = try query.withoutPage.find(in: new, textIndex: textIndex)
    matches += found.count
    return found
  }
}
