import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB
import HTTPTypes
import Hummingbird

/// Queries: `_find` and `_explain`.
extension RequestContext {
  func find() async throws -> Response {
    let start = ContinuousClock.now
    let wanted = try FindRequest(await jsonObject())
    if let feed = try FindFeed(parameters) { return try await findLive(wanted, feed) }
    if wanted.group != nil { return try await findGroups(wanted) }
    let reply = try FindReply(to: wanted)
    let (limit, slow) = (limits.queryTime, server.configuration.slowQuery)
    let (documents, end, slowPlan) = try await database.query(until: start + limit) { transaction in
      // Nothing is sent before the last result is found, so the query can begin again without a damaged index.
      try QueryEngine.answering(in: transaction) { engine in
        var (count, documents) = (0, ReplySpool())
        let (cursor, warning) = try wanted.cursor(by: engine)
        defer { cursor.end() }
        try reply.forEachText(cursor, transaction) { document in
          try documents.append(row: document)
          count += 1
        }
        try appendIncluded(cursor, transaction, to: &documents)
        let examined = cursor.examined
        var end: JSONObject = ["bookmark": try cursor.bookmark().map { .string($0.text) } ?? wanted.bookmark]
        if wanted.hasFirstBookmark {
          end["first_bookmark"] =
            try cursor.bookmark(ofFirst: true).map { .string($0.text) } ?? wanted.bookmark
        }
        if wanted.wantsStatistics {
          var statistics: JSONObject = [
            "total_keys_examined": .int(Int64(examined.keys)),
            "total_docs_examined": .int(Int64(examined.documents)), "total_quorum_docs_examined": 0,
          ]
          // They would count documents that the user does not see.
          if try !transaction.seesEverything { statistics = [:] }
          statistics["results_returned"] = .int(Int64(count))
          statistics["execution_time_ms"] = .double((ContinuousClock.now - start) / .milliseconds(1))
          end["execution_stats"] = .object(statistics)
        }
        if let warning {
          end["warning"] = .string(warning)
        } else if try cursor.isScan && cursor.explanation().suggested != nil {
          end["warning"] = "No matching index found, create an index to optimize query time."
        }
        let isSlow = slow.map { ContinuousClock.now - start >= $0 } ?? false
        return (documents, end, isSlow ? try cursor.explanation().description : nil)
      }
    }
    if let slowPlan { noteSlowQuery(wanted, slowPlan, since: start) }
    return Reply.spooled(documents, after: #"{"docs":["#, before: "," + end.text.dropFirst())
  }

  /// Ends the array of the results, and appends the documents that they link.
  private func appendIncluded(
    _ cursor: Cursor, _ transaction: ReadTransaction, to spool: inout ReplySpool
  ) throws {
    try spool.append("\n]".utf8)
    guard let links = cursor.links else { return }
    let text = DocumentText(transaction, DocumentOptions())
    for (number, name) in links.names.enumerated() {
      try spool.append("\(number == 0 ? ",\"included\":{" : "\n},")\(JSONValue.string(name).text):{".utf8)
      try cursor.forEachLinked(links.ids(ofInclude: number)) { document in
        let row = Array("\(JSONValue.string(document.id).text):".utf8) + (try text.text(of: document))
        try spool.append(row: row)
      }
    }
    try spool.append("\n}}".utf8)
  }

  /// The rows of a request with a member `group`.
  private func findGroups(_ wanted: FindRequest) async throws -> Response {
    guard !wanted.wantsStatistics else {
      throw CouchError(
        400, "invalid_key", "execution_stats can't be combined with group; POST _explain has what is read.")
    }
    let start = ContinuousClock.now
    let slow = server.configuration.slowQuery
    let (rows, slowPlan) = try await database.query(until: start + limits.queryTime) { transaction in
      try QueryEngine.answering(in: transaction) { engine in
        var rows = ReplySpool()
        guard let query = try wanted.groupQuery(engine) else { return (rows, String?.none) }
        for row in try engine.groups(query) { try rows.append(row: row.utf8Text) }
        let isSlow = slow.map { ContinuousClock.now - start >= $0 } ?? false
        return (rows, isSlow ? try engine.explain(query).description : nil)
      }
    }
    if let slowPlan { noteSlowQuery(wanted, slowPlan, since: start) }
    return Reply.spooled(rows, after: #"{"groups":["#, before: "\n]}")
  }

  /// Logs a query that took long, with the time that it waited for its turn.
  private func noteSlowQuery(_ wanted: FindRequest, _ plan: String, since start: ContinuousClock.Instant) {
    server.logger.notice(
      "slow query",
      metadata: [
        "database": "\(names["db"] ?? "")", "selector": "\(wanted.selector.text.boundedMessage)",
        "plan": "\(plan.boundedMessage)",
        "milliseconds": .milliseconds(since: start),
      ])
  }

  /// The plan of a query in our own form, inside the members that clients of CouchDB look for.
  func explain() async throws -> Response {
    let database = try database
    let wanted = try FindRequest(await jsonObject())
    let wantsHints = parameters.flag("hints")
    let (explanation, hints, isRestricted) = try await database.query(until: .now + limits.queryTime) {
      transaction in
      try QueryEngine.answering(in: transaction) { engine in
        (
          try wanted.explanation(by: engine), wantsHints ? try wanted.hints(by: engine) : nil,
          try !transaction.seesEverything
        )
      }
    }
    var plan = explanation.json
    // In place of a command, which would name a directory of the server.
    plan["suggestedIndex"] = explanation.request
    if isRestricted {
      // The others would tell of documents that the user does not see.
      let allowed = ["source", "residual", "order", "covered", "skip", "limit", "collation", "groups"]
      plan = plan.filter { allowed.contains($0.key) }
    }
    let used = explanation.considered.first(where: \.isUsed)?.definition
    var reply: JSONObject = [
      "dbname": .string(database.name),
      "index": .object(used.map(IndexJSON.of) ?? IndexJSON.allDocuments), "partitioned": false,
      "selector": wanted.selector, "opts": .object(wanted.opts), "limit": .int(Int64(wanted.limit)),
      "skip": .int(Int64(wanted.page.skip)), "fields": .array(wanted.fields.map { .string($0) }),
      "index_candidates": isRestricted ? [] : .array(explanation.candidates), "selector_hints": [],
      "covering": plan["covered"] ?? false,
      "plan": .object(wanted.filter?.completed(plan) ?? plan),
    ]
    reply["hints"] = hints.map { .array($0.map { .string($0) }) }
    return Reply.json(reply)
  }
}

extension Explanation {
  /// The body of `POST _index` for an index that would help; null if there is none.
  fileprivate var request: JSONValue {
    guard var index = suggested?.json else { return .null }
    let type = index["type"]
    index["type"] = nil
    var request: JSONObject = ["index": .object(index)]
    request["type"] = type
    return .object(request)
  }

  /// The indexes that are not used, the usable ones first, as CouchDB describes them.
  fileprivate var candidates: [JSONValue] {
    let others = considered.filter { !$0.isUsed }
    let ranked = others.filter(\.isUsable) + others.filter { !$0.isUsable }
    return ranked.enumerated().map { position, other in
      [
        "index": .object(IndexJSON.of(other.definition)),
        "analysis": [
          "usable": .bool(other.isUsable), "reasons": [["name": .string(other.reason)]],
          "ranking": .int(Int64(position + 1)), "covering": false,
        ],
      ]
    }
  }
}
