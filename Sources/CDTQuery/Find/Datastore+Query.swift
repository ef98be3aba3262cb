public import CDTDatastore
public import JSON
import SQLite

extension Datastore {
  /// Finds the documents that a selector matches.
  ///
  /// ```swift
  /// let adults = try store.find(["age": ["$gte": 18]], limit: 10, sort: ["name"])
  /// for document in try adults.documents() { print(document.body["name"] ?? nil) }
  /// ```
  ///
  /// - Parameters:
  ///   - selector: Which documents; `[:]` is every one.
  ///   - skip: How many matches are passed over.
  ///   - limit: How many results at most; 0 is no limit.
  ///   - fields: Paths of the fields that the results have; none is every field.
  ///   - sort: Paths, or objects of one path and its direction. Ties go by `_id`; without a sort the order is
  ///     unspecified, but every match is in exactly one page as long as nothing is written.
  /// - Returns: The results, read as they are asked for, from one snapshot.
  /// - Throws: ``QueryError`` for a selector or request that is refused, before anything runs; ``DatastoreError``.
  /// - Complexity: With an index that decides and orders, O(log *n* + *results*); otherwise each candidate is read.
  ///
  /// Source: `docs/query.md`, find.
  public func find(
    _ selector: JSONObject, skip: Int = 0, limit: Int = 0, fields: [String] = [], sort: [JSONValue] = []
  ) throws -> ResultSet {
    try find(try Query(selector, skip: skip, limit: limit, fields: fields, sort: sort))
  }

  /// Finds the documents that a query asks for.
  public func find(_ query: Query) throws -> ResultSet {
    let manager = try indexManager()
    let run = try start(query, .documents, manager: manager)
    return ResultSet(
      Cursor(
        self, manager: manager, plan: run.plan, projection: query.projection, snapshot: run.snapshot,
        reader: run.reader))
  }

  /// How many documents a selector matches. Where an index decides, no document is read.
  public func count(_ selector: JSONObject) throws -> Int {
    Int(try single(.count, of: Query(try Selector(selector))))
  }

  /// How many documents a query's selector matches; its page does not matter.
  public func count(_ query: Query) throws -> Int {
    Int(try single(.count, of: Query(query.selector)))
  }

  /// Whether a selector matches any document.
  public func exists(_ selector: JSONObject) throws -> Bool {
    try exists(Query(try Selector(selector)))
  }

  /// Whether a query's selector matches any document; its page does not matter.
  public func exists(_ query: Query) throws -> Bool {
    try single(.exists, of: Query(query.selector)) != 0
  }

  /// Tells how a query would be answered, without running it.
  ///
  /// ```swift
  /// print(try store.explain(["age": ["$gte": 18]], sort: ["name"]))
  /// ```
  public func explain(
    _ selector: JSONObject, skip: Int = 0, limit: Int = 0, fields: [String] = [], sort: [JSONValue] = []
  ) throws -> Explanation {
    try explain(try Query(selector, skip: skip, limit: limit, fields: fields, sort: sort))
  }

  /// Tells how a query would be answered, without running it.
  public func explain(_ query: Query) throws -> Explanation {
    let manager = try indexManager()
    let run = try start(query, .documents, manager: manager)
    defer { finish(run, manager: manager) }
    return Explanation(query: query, plan: run.plan, snapshot: run.snapshot, store: directory)
  }

  // MARK: Running

  /// A query that has been planned in its snapshot.
  private struct Run {
    let plan: QueryPlan
    let snapshot: QueryReader.Snapshot
    let reader: ConnectionPool<QueryReader>.Lease
  }

  private func single(_ output: QuerySQL.Output, of query: Query) throws -> Int64 {
    let manager = try indexManager()
    let run = try start(query, output, manager: manager)
    var cost: Int64 = 0
    defer {
      finish(run, manager: manager)
      manager.noteTail(run.snapshot, cost: cost)
    }
    let running = try RunningQuery(
      run.plan, output: output, snapshot: run.snapshot, reader: run.reader.reader)
    defer { running.end() }
    cost = running.tailCost
    return try running.number()
  }

  /// Runs a query to its end, each document looked up, and counts what it met.
  ///
  /// - Parameter usingIndexes: Whether indexes are used at all.
  package func visits(
    _ query: Query, _ output: QuerySQL.Output = .documents, usingIndexes: Bool = true
  ) throws -> QueryVisits {
    let manager = try indexManager()
    let run = try start(query, output, manager: manager)
    defer { finish(run, manager: manager) }
    var plan = run.plan
    if !usingIndexes {
      plan = try Planner(
        query, catalog: .empty, output: output, lastSequence: run.snapshot.lastSequence, store: directory
      ).plan()
    }
    let running = try RunningQuery(
      plan, output: output, snapshot: run.snapshot, reader: run.reader.reader, looksUpAll: true)
    defer { running.end() }
    return try running.visits()
  }

  /// How many ways there are to answer a query, for `forcedWay` to choose from.
  package func ways(_ query: Query) throws -> Int {
    let manager = try indexManager()
    let run = try start(query, .documents, manager: manager)
    defer { finish(run, manager: manager) }
    return try Planner(
      query, catalog: run.snapshot.catalog, lastSequence: run.snapshot.lastSequence, store: directory
    ).ways
  }

  private func finish(_ run: Run, manager: IndexManager) {
    run.reader.reader.end()
    manager.readers.checkIn(run.reader)
  }

  /// Takes a snapshot and plans the query in it. An index file that can't be read is made again first; if that can't be
  /// done now, the query does without indexes.
  private func start(
    _ query: Query, _ output: QuerySQL.Output, manager: IndexManager
  ) throws -> Run {
    // Only what is in the text index has a score.
    if query.sort.isByScore { try manager.catchUp() }
    let reader = try manager.readers.checkOut()
    reader.reader.renewIfWorn()
    let indexFile = try indexFile(for: reader, manager)
    do {
      return try start(query, output, manager: manager, reader: reader, indexFile: indexFile)
    } catch let error where IndexManager.isDamage(error) {
      try? manager.repair(foundBy: reader)
      let indexFile = try manager.fileForReaders()
      do {
        return try start(
          query, output, manager: manager, reader: try manager.readers.checkOut(), indexFile: indexFile)
      } catch let error where IndexManager.isDamage(error) {
        return try start(
          query, output, manager: manager, reader: try manager.readers.checkOut(), indexFile: nil)
      }
    }
  }

  /// The index file for a reader to attach. One that has a file keeps it: should the file be gone or another by now, what
  /// is open is no more than behind, until the indexes are caught up.
  private func indexFile(
    for reader: ConnectionPool<QueryReader>.Lease, _ manager: IndexManager
  ) throws -> String? {
    if reader.reader.isAttached { return manager.path }
    do {
      return try manager.fileForReaders()
    } catch {
      manager.readers.checkIn(reader)
      throw error
    }
  }

  private func start(
    _ query: Query, _ output: QuerySQL.Output, manager: IndexManager,
    reader: ConnectionPool<QueryReader>.Lease, indexFile: String?
  ) throws -> Run {
    do {
      let snapshot = try reader.reader.begin(indexFile: indexFile)
      do {
        let plan = try Planner(
          query, catalog: manager.pages.catalog(for: query, snapshot), output: output,
          lastSequence: snapshot.lastSequence, store: directory
        ).plan()
        return Run(plan: plan, snapshot: snapshot, reader: reader)
      } catch {
        reader.reader.end()
        throw error
      }
    } catch {
      manager.readers.checkIn(reader)
      throw error
    }
  }
}

extension Datastore {
  /// The datastore's index manager, made when it is first asked for.
  package func indexManager() throws -> IndexManager {
    try checkOpen()
    return try extensionObject(named: IndexManager.extensionName) { directory in
      let access = DatastoreAccess(
        databasePath: databasePath, storeID: storeID,
        openReader: { [weak self] in
          guard let self else { throw QueryError.resultSetClosed }
          return try openReader()
        })
      return IndexManager(access, directory: directory)
    }
  }
}
