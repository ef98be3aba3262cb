import CDTDatastore
import CDTJSON
import CDTRules
import Synchronization

/// A document among the results of a live query.
final class LiveRow: Sendable {
  /// The document's number, which never changes.
  let number: Int64
  /// The place of the document in the order of the query.
  let key: OrderKey
  let document: DocumentRevision

  init(number: Int64, key: OrderKey, document: DocumentRevision) {
    (self.number, self.key, self.document) = (number, key, document)
  }

  /// Whether both are the same revision of a document.
  func isSame(as other: LiveRow) -> Bool {
    self === other || number == other.number && document.revisionID == other.document.revisionID
  }

  /// Whether both are the same document with the same fields, perhaps of two revisions.
  func hasSameFields(as other: LiveRow) -> Bool {
    isSame(as: other)
      || number == other.number && document.body.isSpelled(like: other.document.body)
  }
}

/// A live query of one consumer, and its results as of the last commit that was read.
///
/// Of a page, only the rows up to its end are known, and a few that follow, which move up when others are deleted. When
/// they are used up, the query is run again.
final class LiveObserver: Sendable {
  /// The number of rows that are known after the end of a page; up to twice as many are kept.
  static let buffer = 64

  private struct State {
    /// The first matches, in the order of the query.
    var rows: [LiveRow] = []
    /// The documents that the rows of the page link, and the ids of those that exist or may come to exist.
    var included: (documents: IncludedDocuments, ids: Set<KeyBytes>) = ([:], [])
    /// Whether `rows` has every match.
    var isComplete = true
    /// The documents that the reader saw when the query was run; `nil` for all.
    var visible: Clause?
    /// Decides the selector and what the reader sees.
    var matcher: Matcher
    /// Whether the query must be run to know the results.
    var isStale = true
    /// The result with which the query has ended; `nil` while it runs.
    var end: Result<Void, any Error>?
  }

  /// The rules of the reader; `nil` for those of the datastore.
  let rules: (any DocumentRules)?
  /// Whether the results can be kept up to date by looking at each changed document. Only the datastore can answer a text search.
  let isIncremental: Bool
  private let query: Query
  private let resolved: ResolvedQuery
  /// The place after which the results begin.
  private let start: OrderKey?
  /// The number of rows up to the end of the page; `nil` if there is no limit.
  private let window: Int?
  private let state: Mutex<State>
  /// The newest sequence of the documents that the query has found when it was run.
  private let found = Atomic(Int64.min)

  /// Counts what a consumer waits for: new results, and the end.
  let changeCount = EventCount()

  /// - Throws: ``QueryError`` with the path of the invalid part.
  init(_ query: Query, as rules: (any DocumentRules)? = nil) throws(QueryError) {
    var query = query.inLiveOrder
    guard !query.isBackward else { throw QueryError(.backwardLive) }
    resolved = try ResolvedQuery(query)
    self.rules = rules
    isIncremental = query.selector.clause.textSearch == nil
    state = Mutex(State(matcher: Matcher(resolved.selector.clause)))
    let sort = resolved.sort
    start = resolved.start.map { bookmark in
      var key = OrderKey()
      sort.write(bookmark.values, id: bookmark.id, to: &key)
      return key
    }
    window = query.limit.map { query.skip.addingClamped($0) }
    query.skip = 0
    query.limit = window?.addingClamped(isIncremental && query.include.isEmpty ? Self.buffer : 0)
    query.include = [:]
    self.query = query
  }

  /// The selector, and what the reader saw when the query was run.
  var clause: Clause { clause(seeing: state.withLock { $0.visible }) }

  private func clause(seeing visible: Clause?) -> Clause {
    visible.map { .all([$0, resolved.selector.clause]) } ?? resolved.selector.clause
  }

  /// Whether the query includes documents. It is then run again after each change of one of these, or of a row.
  var hasIncludes: Bool { !resolved.includes.isEmpty }

  /// Whether a row of the page has the id of a document.
  func links(to id: String) -> Bool { state.withLock { $0.included.ids.contains(KeyBytes(id)) } }

  /// Whether the query must be run; it then takes no changes.
  var isStale: Bool { state.withLock { $0.isStale } }

  /// Whether the query has ended.
  var hasEnded: Bool { state.withLock { $0.end != nil } }

  /// The numbers of the documents that are rows.
  var rowNumbers: [Int64] { state.withLock { $0.rows.map(\.number) } }

  // MARK: Running

  /// The result of a run.
  struct Found: Sendable {
    let rows: [LiveRow]
    let included: IncludedDocuments
    let linkedIDs: [String]
    let isComplete: Bool
    /// The rules of the user who reads, and the documents that the user sees; `nil` for all.
    let rules: (any DocumentRules)?
    let visible: Clause?
    /// The newest sequence of the documents in which it was found.
    let sequence: Int64
  }

  /// Runs the query.
  func run(_ transaction: ReadTransaction) throws -> Found {
    let (rows, included, ids) = try QueryEngine.answering(in: transaction) { engine in
      let cursor = try engine.cursor(query)
      defer { cursor.end() }
      var rows: [LiveRow] = []
      let links = LinkedIDs(resolved.includes)
      try cursor.forEachDocument { document, number, bytes in
        var key = OrderKey()
        resolved.sort.write(bytes, to: &key)
        if rows.count >= resolved.skip { links?.add(from: bytes.body) }
        rows.append(LiveRow(number: number, key: key, document: document))
      }
      return (rows, try cursor.included(links), links?.ids ?? [])
    }
    let isComplete = query.limit.map { rows.count < $0 } ?? true
    return Found(
      rows: rows, included: included, linkedIDs: ids, isComplete: isComplete,
      rules: transaction.view.rules, visible: try transaction.visibleClause,
      sequence: try transaction.lastSequence())
  }

  /// Takes the rows of a run.
  ///
  /// - Returns: The numbers of the documents that were rows before, and whether ``clause`` has changed; `nil` if the query has ended.
  func take(_ found: Found) -> (known: [Int64], hasNewClause: Bool)? {
    self.found.store(found.sequence, ordering: .relaxed)
    return state.withLock { state in
      guard state.end == nil else { return nil }
      let hasNewClause = state.visible != found.visible
      if hasNewClause {
        state.visible = found.visible
        state.matcher = Matcher(clause(seeing: found.visible))
      }
      state.included = (found.included, Set(found.linkedIDs.map(KeyBytes.init)))
      defer { (state.rows, state.isComplete, state.isStale) = (found.rows, found.isComplete, false) }
      return (state.rows.map(\.number), hasNewClause)
    }
  }

  /// Marks the results as stale; the query runs again before they are read.
  func markStale() {
    state.withLock { $0.isStale = true }
    changeCount.increment()
  }

  /// Ends the query; later calls change nothing.
  ///
  /// - Returns: The numbers of the documents that were rows.
  func end(_ error: (any Error)?) -> [Int64] {
    let rows = state.withLock { state in
      if state.end == nil { state.end = error.map { .failure($0) } ?? .success(()) }
      defer { state.rows = [] }
      return state.rows
    }
    changeCount.increment()
    return rows.map(\.number)
  }

  /// The rows of the page, and the documents that they link; `nil` if the query has ended, or must be run.
  ///
  /// - Throws: The error with which the query ended.
  func page() throws -> (rows: ArraySlice<LiveRow>, included: IncludedDocuments, isOver: Bool)? {
    try state.withLock { state in
      if let end = state.end {
        try end.get()
        return ([], [:], true)
      }
      if state.isStale { return nil }
      let rows = ResultPage(skip: resolved.skip, limit: resolved.limit).part(of: state.rows)
      return (rows, state.included.documents, false)
    }
  }

  // MARK: Changes

  /// The row of a changed document, if it matches.
  ///
  /// - Parameter whole: The document.
  /// - Throws: ``QueryError`` if a pattern exceeds its limits.
  func row(for change: LiveChange, _ whole: () throws -> DocumentRevision) throws -> LiveRow? {
    guard !change.isDeleted, try state.withLock({ $0.matcher }).accepts(change.bytes) else { return nil }
    if resolved.hidesDesignDocuments, change.row.isOfDesignDocument() { return nil }
    var key = OrderKey()
    resolved.sort.write(change.bytes, to: &key)
    if let start, !(start < key) { return nil }
    var document = try whole()
    // A query with snippets is run again.
    if !resolved.returnsDocuments {
      document = document.projected(to: resolved.result(document.body, of: change.bytes, nil))
    }
    return LiveRow(number: change.row.number, key: key, document: document)
  }

  /// Whether the rows may lack a change with this sequence.
  func mayLack(_ sequence: Int64) -> Bool { sequence > found.load(ordering: .relaxed) }

  /// Changes the rows.
  ///
  /// - Parameter changes: The row that each changed document has now, if it has one.
  /// - Returns: The numbers of documents that are rows now, and of those that are not.
  /// - Complexity: O(*n* + *c* log *c*), where *n* is the number of rows and *c* that of changes.
  func apply(_ changes: [Int64: LiveRow?]) -> (added: [Int64], removed: [Int64]) {
    let result = state.withLock { state -> (added: [Int64], removed: [Int64]) in
      guard state.end == nil else { return ([], []) }
      // Where not all matches are known, those after the last row are not.
      let last = state.isComplete ? nil : state.rows.last?.key
      var added = changes.values.compactMap(\.self).filter { row in
        state.isComplete || last.map { !($0 < row.key) } ?? false
      }
      added.sort { $0.key < $1.key }
      var rows: [LiveRow] = []
      rows.reserveCapacity(state.rows.count + added.count)
      var next = added.startIndex
      for row in state.rows where changes[row.number] == nil {
        while next < added.endIndex, added[next].key < row.key {
          rows.append(added[next])
          next += 1
        }
        rows.append(row)
      }
      rows += added[next...]
      var removed = Set(changes.keys).subtracting(added.map(\.number))
      if let window {
        if rows.count > window.addingClamped(2 * Self.buffer) {
          let end = window + Self.buffer
          removed.formUnion(rows[end...].map(\.number))
          rows.removeLast(rows.count - end)
          state.isComplete = false
        }
        if !state.isComplete, rows.count < window { state.isStale = true }
      }
      state.rows = rows
      return (added.map(\.number).filter { !removed.contains($0) }, Array(removed))
    }
    changeCount.increment()
    return result
  }
}

extension Query {
  /// The query with the sort that live queries have: without one, the order of `find` depends on the plan.
  var inLiveOrder: Query {
    guard !isOrdered, bookmark == nil else { return self }
    var query = self
    query.sort = ["_id"]
    return query
  }
}

extension Int {
  fileprivate func addingClamped(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
