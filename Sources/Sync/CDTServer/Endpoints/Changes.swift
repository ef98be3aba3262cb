import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB
import HTTPTypes
import Hummingbird

extension RequestContext {
  /// Answers `_changes`: the changes of a database.
  func changes() async throws -> Response {
    var body: JSONObject?
    if method == .post {
      let bytes = try await jsonBody()
      if bytes.readableBytes > 0 { body = try bytes.jsonObject() }
    }
    let database = try database
    let wanted = try ChangesRequest(
      parameters, lastEventID: request.headers[.lastEventID], body: body)
    let sequences = try await database.sequences(since: wanted.since)
    var feed = ChangesFeed(
      request: wanted, database: database, sequences: sequences, access: try await FeedAccess(self),
      client: client, shutdown: server.shutdown, queryTime: limits.queryTime)
    if let leftFilter = wanted.leftFilter {
      feed.leftFilterAfter = try await max(
        sequences.start, database.sequences(since: leftFilter).start)
    }
    let headers: HTTPFields = [.cacheControl: "must-revalidate"]
    if wanted.isDescending, !wanted.feed.isLive {
      return Reply.stream(headers: headers) { [feed] out in try await feed.writeDescending(to: &out) }
    }
    // Before the reply begins, so that a failure can be answered.
    let listener = wanted.feed.isLive ? try await database.listener() : nil
    let type = wanted.feed == .eventsource ? "text/event-stream" : Reply.json
    return Reply.stream(type: type, headers: headers) { [metrics = server.metrics, feed] out in
      var feed = feed
      if listener != nil { metrics.beginFeed() }
      defer { if listener != nil { metrics.endFeed() } }
      try await feed.write(listener: listener, to: &out)
    }
  }
}

/// The options of `_changes`.
struct ChangesRequest: Sendable {
  enum Feed: String, Sendable {
    case normal, longpoll, continuous, eventsource

    /// Whether it waits for changes.
    var isLive: Bool { self != .normal }
  }

  var feed = Feed.normal
  /// The text of `since`; `nil` for the beginning.
  var since: String?
  var limit: Int?
  var isDescending = false
  var includesDocuments = false
  var options = DocumentOptions()
  /// Whether every leaf is listed, or the winner alone.
  var listsLeaves = false
  /// The interval in which something is sent while nothing happens; `nil` for never.
  var heartbeat: Duration?
  /// The time to wait for a change.
  var timeout: Duration
  var filter = ChangesFilter.none
  /// The sequence, as text, after which documents are listed that a selector accepted in an earlier revision; `nil` for none.
  var leftFilter: String?

  init(_ parameters: QueryParameters, lastEventID: String?, body: JSONObject?) throws {
    if let text = parameters["feed"] {
      guard let feed = text == "live" ? .continuous : Feed(rawValue: text) else {
        throw CouchError.badRequest("Supported `feed` types: normal, continuous, live, longpoll, eventsource")
      }
      self.feed = feed
    }
    // A browser that connects again sends the URL of the beginning, and the header.
    since =
      (feed == .eventsource ? lastEventID : nil) ?? parameters["since"] ?? parameters["last-event-id"]
      ?? lastEventID
    limit = try parameters.count("limit")
    isDescending = parameters.flag("descending")
    includesDocuments = parameters.flag("include_docs")
    options.conflicts = parameters.flag("conflicts")
    options.attachments = parameters.flag("attachments")
    switch parameters["style"] {
    case nil, "main_only": break
    case "all_docs": listsLeaves = true
    case let style?: throw CouchError.invalidParameter("style", style, expected: "main_only or all_docs")
    }
    heartbeat = try FeedWaiting.heartbeat(parameters)
    timeout = try FeedWaiting.timeout(parameters)
    // Every row has its sequence, which costs nothing here.
    _ = try parameters.count("seq_interval")
    filter = try ChangesFilter(parameters, body: body)
    // Replicators of earlier builds send the second name.
    leftFilter = parameters["left_filter"] ?? parameters["departed"]
  }
}

/// The filter of the listed changes.
enum ChangesFilter: Sendable {
  case none
  case documents(Set<KeyBytes>)
  case design
  /// The documents that a selector accepts, of which the projection is listed.
  case selector(SelectorFilter, Projection)

  init(_ parameters: QueryParameters, body: JSONObject?) throws {
    switch parameters["filter"] {
    case nil: self = .none
    case "_doc_ids":
      let value = try body?["doc_ids"] ?? parameters.json("doc_ids")
      guard case .array(let ids)? = value else {
        throw CouchError.badRequest("`doc_ids` filter parameter must be an array of ids.")
      }
      self = .documents(Set(ids.compactMap { $0.stringValue.map(KeyBytes.init) }))
    case "_design": self = .design
    case "_selector":
      guard let body, case .object(let selector)? = body["selector"] else {
        throw CouchError.badRequest("Selector error: expected a JSON object")
      }
      var query = Query(try QuerySelector(selector))
      query.fields = try Self.fields(body["fields"])
      self = .selector(try SelectorFilter(query.selector), try ResolvedQuery(query).projection)
    case "_view": throw CouchError.unsupported("The filter _view", instead: "filter=_selector")
    case let name? where name.contains("/"):
      throw CouchError.unsupported("A filter of a design document", instead: "filter=_selector")
    case let name?:
      throw CouchError.badRequest("The filter \"\(name)\" is unknown: use _doc_ids, _selector or _design")
    }
  }

  private static func fields(_ json: JSONValue?) throws(CouchError) -> [String] {
    guard let json else { return [] }
    let names = json.arrayValue?.compactMap(\.stringValue)
    guard let names, names.count == json.arrayValue?.count else {
      throw .badRequest("Selector error: fields must be an array of strings")
    }
    return names
  }

  /// The listed part of each document.
  var projection: Projection {
    if case .selector(_, let projection) = self { projection } else { .everything }
  }

  /// Whether a body decides.
  var isOfBodies: Bool { if case .selector = self { true } else { false } }

  /// Whether a revision passes.
  func accepts(_ id: String, _ revision: () throws -> DocumentRevision?) throws -> Bool {
    switch self {
    case .none: return true
    case .documents(let ids): return ids.contains(KeyBytes(id))
    case .design: return DocumentID.isDesign(id)
    case .selector(let selector, _):
      guard let revision = try revision() else { return false }
      return try selector.matches(revision, with: DocumentText.attachmentMembers(of: revision))
    }
  }

  /// The same filter for other changes: the patterns of a selector have limits for all changes together.
  var renewed: ChangesFilter {
    get throws {
      guard case .selector(let selector, let projection) = self else { return self }
      return .selector(try selector.renewed, projection)
    }
  }
}
