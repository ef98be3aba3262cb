import CDTDatastore
import CDTJSON
import CDTPlatform
import CouchDB
import NIOCore
import Synchronization

/// A database at a server as an end of a replication.
final class RemoteEnd: ReplicationSource, ReplicationTarget {
  let connection: RemoteConnection
  let filter: ReplicationFilter?
  /// The store that revisions are pulled into: the content of their attachments is written to its directory.
  let store: Datastore
  private let state = Mutex(State())

  private struct State {
    /// Whether the server was found to lack `_bulk_get`, and the filter.
    var lacksBulkGet = false
    var lacksFilter = false
    /// The sequence after which the server lists documents that have left the selector.
    var leftFilterAfter = "0"
    /// The revisions that the checkpoints have at the server, as far as known, by the ids of the replications.
    var checkpointRevisions: [String: String] = [:]
  }

  /// The heartbeats that the server is asked for.
  private var heartbeat: Duration { connection.database.timeout / 2 }

  init(_ connection: RemoteConnection, of store: Datastore, filter: ReplicationFilter? = nil) {
    self.connection = connection
    self.store = store
    self.filter = filter
  }

  var lacksBulkGet: Bool {
    get { state.withLock { $0.lacksBulkGet } }
    set { state.withLock { $0.lacksBulkGet = newValue } }
  }

  /// Whether the server does not evaluate the selector, or takes no list of ids that is so long: then everything it sends
  /// has to be filtered here.
  var lacksFilter: Bool { state.withLock { $0.lacksFilter } }

  var identity: String { connection.database.url }

  var reader: UserContext? { nil }

  /// A server says so when it is written to.
  var isWritable: Bool { true }

  func open(creating: Bool) async throws -> String? {
    let reply = try await connection.send(.init(""))
    if reply.status == 404, creating {
      let created = try await connection.send(.init(.PUT, "", json: []))
      guard [201, 202, 412].contains(created.status) else { throw await created.failure() }
      return try await open(creating: false)
    }
    guard reply.status == 200 else {
      guard reply.status == 404 else { throw await reply.failure() }
      throw ReplicationError(
        .notFound,
        "\(identity): the database does not exist; check the URL, or create it: a replication can create its target, but not its source",
        status: 404)
    }
    return Self.created(try await reply.json())
  }

  private static func created(_ json: JSONValue) -> String? {
    let time = json["instance_start_time"]?.stringValue
    return time == "0" ? nil : time
  }

  func beginFilling() async throws {
    guard case .selector = filter else { return }
    guard let sequence = try await information()["update_seq"] else { return }
    state.withLock { $0.leftFilterAfter = sequence.shownSequence }
  }

  func isNew() async throws -> Bool {
    let information = try await information()
    return information["doc_count"] == 0 && information["doc_del_count"] == 0
  }

  private func information() async throws -> JSONValue {
    let reply = try await connection.send(.init(""))
    guard reply.status == 200 else { throw await reply.failure() }
    return try await reply.json()
  }

  func makeDurable() async throws -> String? {
    let reply = try await connection.send(.init(.POST, "/_ensure_full_commit", json: Array("{}".utf8)))
    // Only CouchDB needs it, and only old versions.
    guard [200, 201, 202].contains(reply.status) else {
      if [404, 405, 501].contains(reply.status) { return nil }
      throw await reply.failure()
    }
    return Self.created(try await reply.json())
  }

  // MARK: Checkpoints

  func checkpoint(_ id: String) async throws -> Checkpoint? {
    let reply = try await connection.send(.init("/_local/\(id)"))
    if reply.status == 404 {
      remember(nil, of: id)
      return nil
    }
    guard reply.status == 200 else { throw await reply.failure() }
    guard case .object(let json) = try await reply.json() else {
      throw ReplicationError(.invalidReply, "GET \(identity)/_local/\(id): the reply is not an object")
    }
    let checkpoint = Checkpoint(json)
    remember(checkpoint.revision, of: id)
    return checkpoint
  }

  private func remember(_ revision: String?, of id: String) {
    state.withLock { $0.checkpointRevisions[id] = revision }
  }

  func save(_ checkpoint: Checkpoint, _ id: String) async throws {
    var json = checkpoint.json
    json["_id"] = .string("_local/\(id)")
    for isLast in [false, true] {
      json["_rev"] = state.withLock { $0.checkpointRevisions[id] }.map { .string($0) }
      let reply = try await connection.send(.init(.PUT, "/_local/\(id)", json))
      if [200, 201, 202].contains(reply.status) {
        return remember(try await reply.json()["rev"]?.stringValue, of: id)
      }
      // Another run has saved it meanwhile.
      guard reply.status == 409, !isLast else { throw await reply.failure() }
      _ = try await self.checkpoint(id)
    }
  }

  // MARK: Changes

  func changes(since sequence: JSONValue, limit: Int, waits: Bool) async throws -> ChangeBatch {
    var query = "?style=all_docs&limit=\(limit)&since=\(PercentCoding.encode(sequence.shownSequence))"
    query += waits ? "&feed=longpoll&heartbeat=\(max(1, heartbeat.milliseconds))" : ""
    let reply = try await connection.send(request(query))
    guard reply.status == 200 else {
      guard !lacksFilter, filter?.isReplaceable == true, Self.lacksFilter(reply.status) else {
        throw await reply.failure()
      }
      state.withLock { $0.lacksFilter = true }
      return try await changes(since: sequence, limit: limit, waits: waits)
    }
    let batch: ChangeBatch
    do {
      batch = try Self.batch(
        try await reply.json(limit: limit > 1 ? Self.pageLength : Self.changeLength), limit: limit)
    } catch let error as ReplicationError where error.isTooLong && limit > 1 {
      // Each change names every leaf of its document.
      return try await changes(since: sequence, limit: limit / 2, waits: waits)
    }
    guard let late = try lateFilter() else { return batch }
    return batch.filtered { late.accepts(id: $0.id) }
  }

  /// The most bytes of a page of changes, and of one change.
  private static let pageLength = 16 << 20
  private static let changeLength = 64 << 20

  private var leftFilterAfter: String {
    PercentCoding.encode(state.withLock { $0.leftFilterAfter })
  }

  private func request(_ query: String) -> RemoteConnection.Request {
    switch filter {
    case .selector(let selector) where !lacksFilter:
      return .init(
        .POST, "/_changes\(query)&filter=_selector&left_filter=\(leftFilterAfter)",
        ["selector": .object(selector)]
      )
    case .documentIDs(let ids) where !lacksFilter:
      return .init(
        .POST, "/_changes\(query)&filter=_doc_ids", ["doc_ids": .array(ids.map { .string($0) })])
    case .designDocument(let name, let parameters):
      let rest = parameters.sorted { $0.key < $1.key }
        .map { "&\(PercentCoding.encode($0.key))=\(PercentCoding.encode($0.value))" }.joined()
      return .init("/_changes\(query)&filter=\(PercentCoding.encode(name))\(rest)")
    case nil, .selector, .documentIDs, .closure: return .init("/_changes\(query)")
    }
  }

  /// CouchDB looks up so many documents, and reads every change for more of them.
  private static let idsTogether = 100

  func leaves(of ids: [String]) async throws -> [ChangedDocument]? {
    var documents: [ChangedDocument] = []
    for start in stride(from: 0, to: ids.count, by: Self.idsTogether) {
      let page = ids[start..<min(ids.count, start + Self.idsTogether)]
      let reply = try await connection.send(
        .init(
          .POST, "/_changes?style=all_docs&filter=_doc_ids",
          ["doc_ids": .array(page.map { .string($0) })]))
      guard reply.status == 200 else {
        if Self.lacksFilter(reply.status) { return nil }
        throw await reply.failure()
      }
      documents += try Self.batch(try await reply.json(), limit: .max).documents
    }
    return documents
  }

  /// Whether a status says that the server has no such filter, or takes no body.
  private static func lacksFilter(_ status: Int) -> Bool {
    [400, 403, 404, 405, 413, 501].contains(status)
  }

  private static func batch(_ json: JSONValue, limit: Int) throws(ReplicationError) -> ChangeBatch {
    guard let rows = json["results"]?.arrayValue, let last = json["last_seq"] else {
      throw ReplicationError(.invalidReply, "the reply of _changes has no results or no last_seq")
    }
    var documents: [ChangedDocument] = []
    documents.reserveCapacity(rows.count)
    for row in rows {
      guard let id = row["id"]?.stringValue, let revisions = row["changes"]?.arrayValue else {
        throw ReplicationError(.invalidReply, "a row of _changes has no id or no changes")
      }
      var document = ChangedDocument(id: id)
      document.leftFilter = ((row["left_filter"] ?? row["departed"])?.arrayValue ?? []).compactMap {
        $0.stringValue.flatMap { RevisionID($0) }
      }
      document.isRemoved = ![nil, .null, false].contains(row["removed"])
      document.known =
        row["revisions"]?.arrayValue?.compactMap { $0.stringValue.flatMap { RevisionID($0) } } ?? []
      for text in revisions.compactMap({ $0["rev"]?.stringValue }) { document.add(text) }
      documents.append(document)
    }
    return ChangeBatch(
      documents: documents, last: last, isLast: rows.count < limit,
      pending: min(max(0, json["pending"]?.intValue ?? 0), Int(Int32.max)))
  }

  func missing(_ documents: [ChangedDocument]) async throws -> [RevisionDifference] {
    let request = RevisionsDiffRequest.json(documents.map { ($0.id, $0.revisions) })
    let reply = try await connection.send(.init(.POST, "/_revs_diff", request))
    if reply.status == 413, documents.count > 1 {
      let (first, second) = documents.halves
      return try await missing(first) + missing(second)
    }
    guard reply.status == 200 else { throw await reply.failure() }
    guard case .object(let json) = try await reply.json() else {
      throw ReplicationError(.invalidReply, "the reply of _revs_diff is not an object")
    }
    return try json.map { id, entry in
      RevisionDifference(
        id: id, missing: try RevisionID.list(json: entry["missing"] ?? []),
        ancestors: (entry["possible_ancestors"]?.arrayValue ?? []).compactMap {
          $0.stringValue.flatMap { RevisionID($0) }
        })
    }
  }
}
