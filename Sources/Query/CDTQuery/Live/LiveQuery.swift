public import CDTDatastore
public import CDTJSON

/// The results of a query, and how they change, from ``CDTDatastore/Datastore``'s `live`.
///
/// The first element has the results as they are; another element follows whenever a commit, of any process, has changed
/// them. Each iterator observes on its own. It keeps its results in memory, with up to 128 documents after a page.
///
/// An element has the newest results at the time you ask for it, and their difference from the element that you got
/// before. So if you are slower than the commits, several are combined, and nothing is queued.
///
/// The sequence ends when the datastore is closed or deleted, and when its task is cancelled. It throws ``QueryError`` or
/// `DatastoreError` if the query can't be run, and then ends. It never blocks a thread of Swift's pool.
///
/// See <doc:FollowingResults>.
public struct LiveQuery<Item: Sendable>: AsyncSequence, Sendable {
  fileprivate let store: Datastore
  fileprivate let query: Query
  /// The rules of the reader; `nil` for those of the datastore.
  fileprivate var rules: (any DocumentRules)?
  fileprivate let decode: @Sendable (DocumentRevision) throws -> Item
  /// Called with the errors of documents that can't be decoded.
  fileprivate var undecodable: @Sendable (DatastoreError) throws -> Void = { _ in }
  fileprivate var comparesRevisions = true

  /// The same query for a consumer that shows fields without the revision: a new revision with the same fields is not a change.
  package var withoutRevisions: LiveQuery {
    var query = self
    query.comparesRevisions = false
    return query
  }

  /// The results now, on this thread.
  func firstResults() throws -> LiveUpdate<Item> {
    let page = try store.readForQuery { try $0.page(query.inLiveOrder) }
    var (results, errors): ([Item], [DatastoreError]) = ([], [])
    for document in page.documents {
      switch try item(document) {
      case .success(let item): results.append(item)
      case .failure(let error): errors.append(error)
      }
    }
    return LiveUpdate(
      results: results, difference: ResultDifference(), included: page.included, undecodable: errors)
  }

  /// The result that a document is, or the error of a document that can't be decoded and is left out.
  fileprivate func item(_ document: DocumentRevision) throws -> Result<Item, DatastoreError> {
    do {
      return .success(try decode(document))
    } catch let error as DatastoreError where error.code == .undecodable {
      try undecodable(error)
      return .failure(error)
    }
  }

  /// Creates an iterator, which runs the query when you ask for the first element.
  public func makeAsyncIterator() -> Iterator {
    Iterator(self)
  }

  /// Observes the results.
  public struct Iterator: AsyncIteratorProtocol, Sendable {
    /// `nil` after the end of the sequence.
    private var source: LiveQuery?
    private var subscription: LiveSubscription?
    private var rows: [LiveRow]?
    private var items: [Item] = []
    private var included: IncludedDocuments = [:]
    /// The rows that can't be decoded, which are left out, by the numbers of their documents.
    private var leftOut: [Int64: (row: LiveRow, error: DatastoreError)] = [:]
    private var undecodable: [DatastoreError] = []

    fileprivate init(_ source: LiveQuery) {
      self.source = source
    }

    /// The results, waiting until they differ from those of the previous element; `nil` at the end.
    ///
    /// - Throws: ``QueryError`` for an invalid query; `DatastoreError`; the errors of `undecodable`. The sequence then ends.
    public mutating func next(
      isolation: isolated (any Actor)? = #isolation
    ) async throws -> LiveUpdate<Item>? {
      while !Task.isCancelled {
        let heard = changeCount
        if let update = try await take() { return update }
        guard source != nil else { return nil }
        await wait(since: heard)
      }
      end()
      return nil
    }

    /// The number of events that may have changed the results.
    package var changeCount: UInt64 { subscription?.observer.changeCount.value ?? 0 }

    /// Whether the sequence has ended.
    package var isOver: Bool { source == nil }

    /// Waits until there may be other results, or the task is cancelled.
    package func wait(since changeCount: UInt64, isolation: isolated (any Actor)? = #isolation) async {
      await subscription?.observer.changeCount.wait(since: changeCount)
    }

    /// The results if they differ from those of the previous element; `nil` if not, or at the end.
    package mutating func take(
      isolation: isolated (any Actor)? = #isolation
    ) async throws -> LiveUpdate<Item>? {
      guard let source else { return nil }
      do {
        guard let (rows, included) = try await currentRows(source) else {
          end()
          return nil
        }
        return try update(to: rows, included, source)
      } catch let error as DatastoreError where error.code == .closed {
        end()
        return nil
      } catch let error as DatastoreError where error.code == .suspended {
        await source.store.untilResumed()
        return try await take()
      } catch is CancellationError {
        end()
        return nil
      } catch {
        end()
        throw error
      }
    }

    private mutating func currentRows(
      _ source: LiveQuery, isolation: isolated (any Actor)? = #isolation
    ) async throws -> (ArraySlice<LiveRow>, IncludedDocuments)? {
      let store = source.store
      var subscription = self.subscription
      while true {
        if let subscription, let page = try subscription.observer.page() {
          return page.isOver ? nil : (page.rows, page.included)
        }
        let known = subscription
        subscription = try await store.runQuery { stop in
          let made = try known ?? LiveSubscription(source.query, as: source.rules, in: store)
          try made.run(stop)
          return made
        }
        self.subscription = subscription
      }
    }

    private mutating func update(
      to page: ArraySlice<LiveRow>, _ included: IncludedDocuments, _ source: LiveQuery
    ) throws -> LiveUpdate<Item>? {
      var rows = Array(page)
      if !leftOut.isEmpty {
        let known = leftOut
        leftOut = [:]
        for row in rows where known[row.number]?.row.isSame(as: row) == true {
          leftOut[row.number] = known[row.number]
        }
        rows.removeAll { leftOut[$0.number] != nil }
      }
      var (difference, origins) = ResultDifference.between(
        self.rows ?? [], rows, comparesRevisions: source.comparesRevisions)
      var isSame = included.isSame(as: self.included)
      if self.rows != nil, difference.isEmpty, isSame, leftOut.count == undecodable.count { return nil }
      var decoded: [Item?] = []
      decoded.reserveCapacity(rows.count)
      for (row, origin) in zip(rows, origins) {
        switch try origin.map({ .success(items[$0]) }) ?? source.item(row.document) {
        case .success(let item): decoded.append(item)
        case .failure(let error):
          decoded.append(nil)
          leftOut[row.number] = (row, error)
        }
      }
      let errors = page.compactMap { leftOut[$0.number]?.error }
      isSame = isSame && errors == undecodable
      let results = decoded.compactMap(\.self)
      if results.count < rows.count {
        rows = zip(rows, decoded).compactMap { $1 == nil ? nil : $0 }
        (difference, _) = ResultDifference.between(
          self.rows ?? [], rows, comparesRevisions: source.comparesRevisions)
      }
      let isFirst = self.rows == nil
      (self.rows, items, self.included, undecodable) = (rows, results, included, errors)
      return isFirst || !difference.isEmpty || !isSame
        ? LiveUpdate(results: items, difference: difference, included: included, undecodable: errors) : nil
    }

    private mutating func end() {
      (source, subscription, rows, items, included, leftOut) = (nil, nil, nil, [], [:], [:])
    }
  }
}

/// The results of a live query, and how they differ from the previous ones.
public struct LiveUpdate<Item: Sendable>: Sendable {
  /// All results, in order.
  public let results: [Item]
  /// The difference from the results of the previous element; in the first one, every result is an insertion. It is empty if only
  /// included documents have changed.
  public let difference: ResultDifference
  /// The documents that the results link, under the names of ``Query/include``.
  public let included: [String: Linked<DocumentRevision>]
  /// The errors of the documents that can't be decoded, in the order of the query. These documents are left out of the results.
  ///
  /// ```swift
  /// for error in update.undecodable { print(error.documentID ?? "", error.message) }
  /// ```
  public let undecodable: [DatastoreError]
}

/// An observer for the lifetime of the object.
private final class LiveSubscription: Sendable {
  let observer: LiveObserver
  private let queries: LiveQueries
  private let store: Datastore

  init(_ query: Query, as rules: (any DocumentRules)?, in store: Datastore) throws {
    observer = try LiveObserver(query, as: rules)
    queries = try store.liveQueries()
    self.store = store
    try queries.enter(observer, store)
  }

  func run(_ stop: StopSignal) throws {
    try queries.run(observer, store, stop: stop)
  }

  deinit {
    queries.leave(observer)
  }
}

extension Datastore {
  /// The results of a query, now and after every commit that changes them.
  ///
  /// ```swift
  /// for try await update in store.live(try Query(["done": false], sort: ["due"])) {
  ///   print(update.results.map(\.id), update.difference)
  /// }
  /// ```
  ///
  /// Without a sort, the results are in the order of `_id`, whichever index is used. An invalid query throws when you ask
  /// for the first element.
  ///
  /// See <doc:FollowingResults>.
  public func live(_ query: Query) -> LiveQuery<DocumentRevision> {
    LiveQuery(store: self, query: query) { $0 }
  }

  /// The results of a query as a user, who sees only some of the documents.
  package func live(_ query: Query, as rules: any DocumentRules) -> LiveQuery<DocumentRevision> {
    LiveQuery(store: self, query: query, rules: rules) { $0 }
  }

  /// The results of a typed query, now and after every commit that changes them.
  ///
  /// ```swift
  /// let urgent = try ModelQuery(Task.self, where: { $0.priority > 3 }, sort: \.due.ascending, limit: 5)
  /// for try await update in store.live(urgent) { print(update.results.map(\.title)) }
  /// ```
  public func live<Model>(
    _ query: ModelQuery<Model>,
    undecodable: @escaping @Sendable (DatastoreError) throws -> Void = { _ in }
  ) -> LiveQuery<Model> {
    LiveQuery(store: self, query: query.query, decode: { try $0.decode() }, undecodable: undecodable)
  }

  /// The results of a typed query with their distances, now and after every commit that changes them.
  public func live<Model>(
    _ query: DistanceQuery<Model>,
    undecodable: @escaping @Sendable (DatastoreError) throws -> Void = { _ in }
  ) -> LiveQuery<ModelDistance<Model>> {
    LiveQuery(
      store: self, query: query.query, decode: { ModelDistance(try $0.decode(), of: $0) },
      undecodable: undecodable)
  }

  /// The documents that match a selector, now and after every commit that changes them.
  ///
  /// ```swift
  /// for try await update in try store.live(["owner": name], limit: 20, sort: [.descending("due")]) {
  ///   print(update.results.map(\.id))
  /// }
  /// ```
  ///
  /// The parameters are those of `find(_:skip:limit:fields:sort:)`, except that results are in the order of `_id` if there is
  /// no sort.
  ///
  /// - Throws: ``QueryError`` with the path of the invalid part.
  public func live(
    _ selector: JSONObject, skip: Int = 0, limit: Int? = nil, fields: [String] = [], sort: [SortField] = []
  ) throws(QueryError) -> LiveQuery<DocumentRevision> {
    live(try Query(selector, skip: skip, limit: limit, fields: fields, sort: sort))
  }

  /// The documents that match a selector with variables, now and after every commit that changes them.
  @_disfavoredOverload
  public func live(
    _ selector: JSONLiteral, skip: Int = 0, limit: Int? = nil, fields: [String] = [], sort: [SortField] = []
  ) throws(QueryError) -> LiveQuery<DocumentRevision> {
    try live(JSONObject(selector), skip: skip, limit: limit, fields: fields, sort: sort)
  }

  /// The models that meet a condition, now and after every commit that changes them.
  ///
  /// ```swift
  /// for try await update in try store.live(Task.self, where: { !$0.isDone }, sort: \.due.ascending) {
  ///   print(update.results.map(\.title))
  /// }
  /// ```
  ///
  /// A document that is not a model is left out of the results; `limit` counts it. Its error is in ``LiveUpdate/undecodable``, and
  /// `undecodable` is called with it once for each revision. If the closure throws, the sequence ends.
  ///
  /// - Throws: ``QueryError`` for a property that documents don't have.
  public func live<Model: Decodable & Sendable>(
    _ type: Model.Type, where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all },
    sort: KeyPath<ModelField<Model, Model>, SortField>..., skip: Int = 0, limit: Int? = nil,
    undecodable: @escaping @Sendable (DatastoreError) throws -> Void = { _ in }
  ) throws(QueryError) -> LiveQuery<Model> {
    live(try ModelQuery(condition, sort, skip, limit), undecodable: undecodable)
  }
}
