import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB
import HTTPTypes
import Hummingbird

/// The parameters of `_find` with a live feed: the results, and then what changes in them.
struct FindFeed: Sendable {
  private let isEventSource: Bool
  private let heartbeat: Duration?
  private let timeout: Duration

  /// - Returns: `nil` if the results are asked for once.
  init?(_ parameters: QueryParameters) throws {
    switch parameters["feed"] {
    case nil, "normal": return nil
    case "continuous", "live": isEventSource = false
    case "eventsource": isEventSource = true
    default:
      throw CouchError.badRequest("Supported `feed` types of _find: normal, continuous, live, eventsource")
    }
    heartbeat = try FeedWaiting.heartbeat(parameters)
    timeout = try FeedWaiting.timeout(parameters)
  }

  var type: String { isEventSource ? "text/event-stream" : Reply.json }

  func waiting(_ context: RequestContext) -> FeedWaiting {
    FeedWaiting(
      client: context.client, shutdown: context.server.shutdown, heartbeat: heartbeat, timeout: timeout,
      isEventSource: isEventSource)
  }

  /// Writes the reason for which the feed ends before its client wants it.
  func write(_ reason: CouchError, to out: inout ReplyStream) async throws {
    let text = reason.json.text
    try await out.write(Array((isEventSource ? "event: end\ndata: \(text)\n\n" : "\(text)\n").utf8))
  }

  /// Writes an element as one line of JSON.
  func write(
    _ update: LiveUpdate<DocumentRevision>, of reply: FindReply, to out: inout ReplyStream
  ) async throws {
    if isEventSource { try await out.write("data: ") }
    let difference = update.difference
    let removals = difference.removals.map { JSONValue.int(Int64($0)) }
    let moves = difference.moves.map {
      JSONValue.object(["from": .int(Int64($0.from)), "to": .int(Int64($0.to))])
    }
    try await out.write(Array(#"{"removals":\#(JSONValue.array(removals).text),"moves":"#.utf8))
    try await out.write(JSONValue.array(moves).utf8Text)
    for (name, positions) in [("insertions", difference.insertions), ("updates", difference.updates)] {
      try await out.write(Array(#","\#(name)":["#.utf8))
      for (number, position) in positions.enumerated() {
        try await out.write(Array((number > 0 ? "," : "").utf8) + Array(#"{"at":\#(position),"doc":"#.utf8))
        try await out.write(reply.text(of: update.results[position])[...])
        try await out.write("}")
      }
      try await out.write("]")
    }
    if !update.included.isEmpty {
      let included = update.included.json(FindReply.whole).text
      try await out.write(Array(#","included":\#(included)"#.utf8))
    }
    try await out.write(isEventSource ? "}\n\n" : "}\n")
  }
}

extension RequestContext {
  /// Answers `_find` with a feed: an event for the results as they are, and one for each change of them.
  func findLive(_ wanted: FindRequest, _ feed: FindFeed) async throws -> Response {
    let (database, reply) = (try database, try FindReply(to: wanted))
    // As long as they are present, the query is the user's.
    let sequences = try await database.sequences()
    let commits = database.isForAdmin ? nil : try await database.listener()
    var query = try wanted.liveQuery()
    query.timeLimit = limits.queryTime
    let live = database.live(query)
    var results = (wanted.showsRevisions ? live : live.withoutRevisions).makeAsyncIterator()
    // Before the reply begins, so that a failure can be answered.
    guard let first = try await results.take() else { throw noDatabase }
    let waiting = feed.waiting(self)
    let access = try await FeedAccess(self)
    return Reply.stream(type: feed.type, headers: [.cacheControl: "must-revalidate"]) {
      [results, metrics = server.metrics] out in
      metrics.beginFeed()
      defer { metrics.endFeed() }
      var (results, access, quietSince) = (results, access, ContinuousClock.now)
      var update: LiveUpdate? = first
      // As long as the feed lasts, the database stays open.
      defer { _ = database }
      func next() async throws -> Bool {
        let commit = commits?.commits ?? 0
        try await access.check()
        if !database.isForAdmin {
          let isPresent = try await database.readDocuments { try database.isPresent(sequences, in: $0) }
          guard isPresent else { throw CouchError.rulesChanged }
        }
        if let update {
          try await feed.write(update, of: reply, to: &out)
          quietSince = .now
        }
        guard !results.isOver else { return false }
        let (heard, subscribed) = (results.changeCount, results)
        update = try await results.take()
        if update != nil || results.isOver { return true }
        return try await waiting.wait(quietSince: &quietSince, &access, to: &out) {
          await withTaskGroup { group in
            group.addTask { await subscribed.wait(since: heard) }
            if let commits { group.addTask { await commits.wait(since: commit) } }
            await group.next()
            group.cancelAll()
          }
        }
      }
      do {
        while try await next() {}
      } catch let error as DatastoreError where error.code == .closed {
        // The database was deleted.
      } catch let error as CouchError {
        try await feed.write(error, to: &out)
      }
    }
  }
}
