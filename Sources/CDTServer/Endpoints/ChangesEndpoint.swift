import CDTDatastore
import CDTJSON
import CouchDB
import HTTPTypes
import Hummingbird

/// The changes of a database: `_changes`.
struct ChangesEndpoint: Sendable {
  let exchange: Exchange
  let access: DatabaseAccess

  private var database: Database { access.database }

  func respond() async throws -> Response {
    var body: JSONObject?
    switch exchange.method {
    case .get, .head: break
    case .post:
      let bytes = try await exchange.jsonBody()
      if bytes.readableBytes > 0 {
        guard case .object(let object) = try bytes.json() else {
          throw CouchError.badRequest("Request body must be a JSON object")
        }
        body = object
      }
    default: throw exchange.methodNotAllowed("GET,HEAD,POST")
    }
    let request = try ChangesRequest(
      exchange.parameters, lastEventID: exchange.request.headers[.lastEventID], body: body)
    let start = try await start(request)
    let feed = ChangesFeed(
      request: request, database: database, client: exchange.client, shutdown: exchange.server.shutdown)
    let headers: HTTPFields = [.cacheControl: "must-revalidate"]
    if request.isDescending, !request.feed.isLive {
      return Reply.stream(headers: headers) { out in try await feed.writeDescending(to: &out) }
    }
    // Before the reply begins, so that a failure can be answered.
    let listener = request.feed.isLive ? try ChangeListener(to: database.store) : nil
    let type = request.feed == .eventsource ? "text/event-stream" : Reply.json
    return Reply.stream(type: type, headers: headers) { out in
      var feed = feed
      try await feed.write(since: start, listener: listener, to: &out)
    }
  }

  private func start(_ request: ChangesRequest) async throws -> Int64 {
    let last = try await database.store.lastSequence()
    guard let since = request.since else { return 0 }
    if since == "now" || since == "\"now\"" { return last }
    let sequence = try database.sequence(since)
    // A sequence from before a backup was restored.
    return sequence > last ? 0 : sequence
  }
}

extension HTTPField.Name {
  fileprivate static var lastEventID: HTTPField.Name { .init("Last-Event-ID") ?? .eTag }
}
