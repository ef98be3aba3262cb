public import CDTDatastore
public import CDTJSON
public import CDTQuery
public import CDTReplication
import CouchDB
import Synchronization

/// A database at a server, queried with the selectors of this package.
///
/// ```swift
/// let tasks = try RemoteDatastore("https://couch.example.org/tasks", credentials: .session("ana", password))
/// let open = try await tasks.find(["completed": false], sort: ["created"])
/// ```
///
/// The results are those of a datastore with the same documents. The server is asked for candidates: what it evaluates as
/// this package does, or so that it accepts more. The matcher decides here. ``explain(_:)`` shows what is sent. Pages are
/// read one after the other, each at its own time, so a query may or may not see what is written while it runs.
///
/// Attachments are not read. See <doc:QueryingServers>.
public final class RemoteDatastore: Sendable {
  /// The database.
  public let database: RemoteDatabase
  /// The fields and the tokenizer that `$text` uses; `nil` if it is not used. The words are searched here.
  public let textIndex: IndexDefinition?
  /// The number of times that a request that failed is repeated.
  public let retries: RetryPolicy
  let connection: RemoteConnection
  private let replyLimit: Int
  private let read = Atomic(0)

  /// Opens a database. Nothing is sent yet.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - textIndex: The fields and the tokenizer that `$text` uses.
  ///   - retries: The rule for repeating failed requests; by default twice within a second.
  public convenience init(
    _ database: RemoteDatabase, textIndex: IndexDefinition? = nil, retries: RetryPolicy? = nil
  ) {
    self.init(database, textIndex: textIndex, retries: retries, replyLimit: 16 * 1024 * 1024)
  }

  /// - Parameter replyLimit: The maximum length of a reply with several documents, in bytes.
  init(_ database: RemoteDatabase, textIndex: IndexDefinition?, retries: RetryPolicy?, replyLimit: Int) {
    self.database = database
    self.textIndex = textIndex
    var policy = RetryPolicy()
    policy.maximumAttempts = 3
    self.retries = retries ?? policy
    self.replyLimit = replyLimit
    connection = RemoteConnection(database, concurrentRequests: 4)
  }

  /// Opens the database with a URL.
  ///
  /// - Throws: `ReplicationError` with the code `.invalidRequest` if the URL is not one of a database.
  public convenience init(_ url: String, credentials: Credentials? = nil) throws(ReplicationError) {
    self.init(try RemoteDatabase(url, credentials: credentials))
  }

  /// The number of documents that were received.
  package var documentsRead: Int { read.load(ordering: .relaxed) }

  // MARK: Documents

  /// Reads a document, or one of its revisions.
  ///
  /// - Throws: `DatastoreError` with the code `.notFound` if the document or the revision does not exist, or if the
  ///   document is deleted; `ReplicationError` for the server's errors.
  public func document(withID id: String, revisionID: RevisionID? = nil) async throws -> DocumentRevision {
    guard RemoteConnection.isDocumentID(id) else { throw DatastoreError(.noSuchDocument(id)) }
    let query = revisionID.map { "?rev=\(PercentCoding.encode($0.description))" } ?? ""
    return try await retries.run {
      let reply = try await connection.send(.init(RemoteConnection.path(id) + query))
      guard reply.status != 404 else {
        let refusal = await reply.refusal()
        switch refusal.reason {
        case "deleted": throw DatastoreError(.documentDeleted(id))
        case "missing":
          throw revisionID.map { DatastoreError(.noSuchRevision($0, of: id)) }
            ?? DatastoreError(.noSuchDocument(id))
        default: throw ReplicationError(refusal, "GET \(database.url)", pause: nil)
        }
      }
      guard reply.status == 200 else { throw await reply.failure() }
      return try DocumentRevision(received: try await reply.json())
    }
  }

  // MARK: Queries

  /// Returns the documents that match a selector.
  ///
  /// - Throws: `QueryError` before anything is sent if the query is malformed; `ReplicationError` for the server's
  ///   errors.
  /// - Complexity: The candidates are transferred; without a sort, or sorted by `_id` without a selector, only as many as
  ///   the page needs. In memory are the results, and the ids of all candidates.
  public func find(
    _ selector: JSONObject, skip: Int = 0, limit: Int? = nil, fields: [String] = [], sort: [SortField] = []
  ) async throws -> [DocumentRevision] {
    try await find(Query(selector, skip: skip, limit: limit, fields: fields, sort: sort))
  }

  /// Returns the documents that match a query. Its `useIndex` is ignored: the server chooses.
  public func find(_ query: Query) async throws -> [DocumentRevision] {
    var results: [DocumentRevision] = []
    try await forEach(query) { results.append($0) }
    return results
  }

  /// Calls a closure with each result of a query.
  ///
  /// - Complexity: As `find(_:)`. Unless the results have to be sorted, each page is passed on as it arrives, and only the
  ///   ids of the candidates are held in memory.
  public func forEach(_ query: Query, _ body: (DocumentRevision) throws -> Void) async throws {
    let plan = try RemotePlan(query)
    var results = try RemoteResults(query, isInOrder: plan.isInOrder, textIndex: textIndex)
    try await reader.read(plan.source, fields: [], needed: { results.needed }) { page in
      try results.take(page)
      try results.next().forEach(body)
    }
    try results.rest().forEach(body)
  }

  /// Calls a closure with each result of a query, and returns the documents that the query includes. They are read after the results,
  /// so they may be newer.
  public func forEachIncluding(
    _ query: Query, _ body: (DocumentRevision) throws -> Void
  ) async throws -> [String: Linked<DocumentRevision>] {
    let resolved = try ResolvedQuery(query)
    guard let links = LinkedIDs(resolved.includes) else {
      try await forEach(query, body)
      return [:]
    }
    var whole = query
    (whole.include, whole.fields) = ([:], [])
    try await forEach(whole) { document in
      document.bodyText.withUnsafeBytes { links.add(from: JSONBytes($0)) }
      guard !resolved.projection.isEverything else { return try body(document) }
      var fields = resolved.projection.apply(to: document.body)
      for name in query.addedMembers { fields[name] = document.body[name] }
      try body(document.projected(to: fields))
    }
    var found: [DocumentRevision] = []
    try await reader.read(.ids(links.ids), fields: [], needed: { nil }) { found += $0 }
    return IncludedDocuments(links, found)
  }

  /// The number of documents that match a selector.
  public func count(_ selector: JSONObject) async throws -> Int {
    try await count(Query(selector))
  }

  /// The number of documents that match a query's selector, ignoring its page.
  ///
  /// - Complexity: As `find(_:)`, but only the fields are transferred that the selector uses, if it is sent. Without a
  ///   selector, the server counts, and lists the design documents, which are not results.
  public func count(_ query: Query) async throws -> Int {
    let whole = query.withoutPage
    let plan = try RemotePlan(whole)
    if case .always = query.selector.clause { return try await countAll() }
    var results = try RemoteResults(whole, isInOrder: false, textIndex: textIndex)
    try await reader.read(plan.source, fields: plan.fields, needed: { nil }) { page in
      try results.count(page)
    }
    return results.matches
  }

  private func countAll() async throws -> Int {
    try await retries.run {
      let range = "startkey=%22_design/%22&endkey=%22_design0%22&inclusive_end=false"
      let reply = try await connection.send(.init("/_all_docs?\(range)"), expecting: 200).json()
      guard let count = reply["total_rows"]?.intValue, let designs = reply["rows"]?.arrayValue else {
        throw ReplicationError(
          .invalidReply, "GET \(database.url)/_all_docs: the reply has no total_rows, or no rows")
      }
      return count - designs.count
    }
  }

  /// Explains how a query would be answered: what is sent, what is left to the matcher, and which index the server would
  /// use.
  ///
  /// - Throws: `QueryError` if the query is malformed; `ReplicationError` for the server's errors.
  public func explain(_ query: Query) async throws -> RemoteExplanation {
    let plan = try RemotePlan(query)
    var index: JSONValue?
    if case .find(let selector) = plan.source {
      index = try await reader.explain(selector)["index"]
    }
    return RemoteExplanation(query, plan, index: index)
  }

  // MARK: Changes

  /// The documents that changed since a sequence, each once.
  ///
  /// - Parameters:
  ///   - sequence: The ``RemoteChanges/lastSequence`` of an earlier call; `nil` for the beginning. Sequences of a server
  ///     are opaque: don't compare them.
  ///   - limit: The maximum number of changes.
  /// - Throws: `ReplicationError`.
  public func changes(since sequence: String? = nil, limit: Int = 1_000) async throws -> RemoteChanges {
    try await retries.run {
      try await connection.changes(since: sequence, limit: limit, waits: false)
    }
  }

  /// The changes since a sequence, and those to come, until the task is cancelled.
  public func liveChanges(since sequence: String? = nil) -> LiveRemoteChanges {
    LiveRemoteChanges(database: self, sequence: sequence)
  }

  var reader: CandidateReader {
    CandidateReader(connection: connection, retries: retries, replyLimit: replyLimit) { [self] count in
      read.add(count, ordering: .relaxed)
    }
  }
}

extension RetryPolicy {
  /// Runs a step, and runs it again after an error that may not occur again.
  ///
  /// - Parameter afterSilence: Whether a server that sends nothing for too long is such an error.
  func run<R>(afterSilence: Bool = true, _ body: () async throws -> R) async throws -> R {
    var failures = 0
    while true {
      do {
        return try await body()
      } catch let error as ReplicationError where error.isTransient && (afterSilence || !error.isSilence) {
        failures += 1
        guard failures < maximumAttempts else { throw error }
        try await Task.sleep(for: pause(afterFailures: failures, requested: error.pause))
      }
    }
  }
}
