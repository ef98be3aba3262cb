public import CDTDatastore
public import CDTJSON

extension Datastore {
  /// Changes the documents that match a selector, once in the life of the store.
  ///
  /// ```swift
  /// try store.migrate("2026-11-split-name", matching: ["name": ["$type": "string"]]) { person in
  ///   let words = (person.body["name"]?.stringValue ?? "").split(separator: " ", maxSplits: 1)
  ///   person.body["first"] = .string("\(words.first ?? "")")
  ///   person.body["last"] = .string("\(words.dropFirst().first ?? "")")
  ///   person.body["name"] = nil
  /// }
  /// ```
  ///
  /// The documents are read in the order of their ids, in batches. Each batch is a transaction, which also notes in the store how far
  /// the migration has come, in a local document, which is not replicated. If the process ends, the task is cancelled or an error is thrown, the
  /// batches before are kept, and the next call with the same name continues after them. Calls of several processes share the work. A
  /// call after the end does nothing.
  ///
  /// Documents that arrive later, by a replication, are not changed. See <doc:ChangingAModel#Documents-that-arrive-later>.
  ///
  /// - Parameters:
  ///   - name: The name under which the store remembers the migration.
  ///   - selector: The documents; `[:]` for every document but design documents.
  ///   - batch: The number of documents in a transaction.
  ///   - progress: Called after each batch with the number of documents that were read, by all calls, and the total.
  ///   - change: Called with each document, and with each of its versions that match if it has a conflict. A version that it leaves as
  ///     it is gets no new revision.
  /// - Returns: The number of revisions that this call has saved.
  /// - Throws: ``QueryError`` for an invalid selector; `DatastoreError`, also if the rules refuse a change; the errors of `change`.
  @discardableResult
  public func migrate(
    _ name: String, matching selector: JSONObject, batch: Int = 200,
    progress: (_ done: Int, _ total: Int) -> Void = { _, _ in },
    _ change: (inout DocumentRevision) throws -> Void
  ) throws -> Int {
    try migrate(Migration(name, selector, batch), nil, progress, change)
  }

  /// Changes the documents that match a selector, once in the life of the store, on one of the datastore's threads.
  @discardableResult
  public func migrate(
    _ name: String, matching selector: JSONObject, batch: Int = 200,
    progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in },
    _ change: @escaping @Sendable (inout DocumentRevision) throws -> Void
  ) async throws -> Int {
    let migration = try Migration(name, selector, batch)
    return try await runLong { try self.migrate(migration, $0, progress, change) }
  }

  private func migrate(
    _ migration: Migration, _ stop: StopSignal?, _ progress: (Int, Int) -> Void,
    _ change: (inout DocumentRevision) throws -> Void
  ) throws -> Int {
    var (state, rest) = try readForQuery { transaction in
      let state = try migration.state(in: transaction)
      return (state, state.isComplete ? 0 : try transaction.count(migration.rest(after: state)))
    }
    let total = state.done + rest
    var saved = 0
    while !state.isComplete {
      try stop?.check()
      let (reached, count) = try write(stop: stop) { try migration.step(in: $0, change) }
      (state, saved) = (reached, saved + count)
      progress(state.done, max(total, state.done))
    }
    return saved
  }
}

/// A change of documents that a store remembers.
private struct Migration: Sendable {
  private let localID: String
  private let query: Query
  private let batch: Int

  init(_ name: String, _ selector: JSONObject, _ batch: Int) throws(QueryError) {
    localID = "migrations/\(name)"
    query = try Query(selector, sort: ["_id"])
    self.batch = max(1, batch)
  }

  /// The progress of a migration, stored as `{"last": "tool-17", "done": 400, "complete": false}`.
  struct State: Codable {
    /// The id of the last document that was read.
    var last: String?
    var done = 0
    var isComplete = false

    private enum CodingKeys: String, CodingKey {
      case last, done
      case isComplete = "complete"
    }
  }

  func state(in transaction: ReadTransaction) throws -> State {
    try transaction.localDocument(withID: localID)?.decode() ?? State()
  }

  /// The query for the documents that are left.
  func rest(after state: State) throws(QueryError) -> Query {
    guard let last = state.last else { return query }
    var rest = query
    let (matching, after) = (query.selector.clause.selector, ["_id": ["$gt": .string(last)]] as JSONObject)
    rest.selector = try QuerySelector(
      matching.isEmpty ? after : ["$and": [.object(matching), .object(after)]])
    return rest
  }

  /// Changes the next batch.
  ///
  /// - Returns: The new state, and the number of revisions that were saved.
  func step(
    in transaction: WriteTransaction, _ change: (inout DocumentRevision) throws -> Void
  ) throws -> (State, saved: Int) {
    // Another process may have done the batch.
    var state = try state(in: transaction)
    guard !state.isComplete else { return (state, 0) }
    var next = try rest(after: state)
    next.limit = batch
    let ids = try transaction.documentIDs(next)
    var saved = 0
    for id in ids {
      let leaves = try transaction.currentRevisions(ofDocument: id)
      for known in leaves.count > 1 ? try query.find(in: leaves) : leaves {
        var document = known
        try change(&document)
        if document.says(theSameAs: known) { continue }
        try transaction.updateDocument(from: document)
        saved += 1
      }
    }
    state = State(
      last: ids.last ?? state.last, done: state.done + ids.count, isComplete: ids.count < batch)
    try transaction.setLocalDocument(JSONObject(encoding: state), withID: localID)
    return (state, saved)
  }
}
