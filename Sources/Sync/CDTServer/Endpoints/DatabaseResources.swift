import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB
import HTTPTypes
import Hummingbird

/// A database as a whole, its settings, and its maintenance.
extension RequestContext {
  func createDatabase() async throws -> Response {
    try checkWritable()
    if parameters.flag("partitioned") {
      throw CouchError.unsupported("A partitioned database", instead: "a database without partitions")
    }
    let name = names["db"] ?? ""
    try await databases.create(name)
    return Reply.json(Reply.ok, .created, headers: [.location: url(name)])
  }

  func deleteDatabase() async throws -> Response {
    try checkWritable(makesSpace: true)
    if let revision = parameters["rev"] {
      throw CouchError.badRequest(
        "You tried to DELETE a database with a ?rev=\(revision.prefix(50)) parameter. Did you mean to DELETE a document instead?"
      )
    }
    try await databases.delete(database.name)
    return Reply.json(Reply.ok)
  }

  func info() async throws -> Response {
    Reply.json(try await database.info(database.lastSequence()))
  }

  // MARK: Content

  /// The ids of the documents that have a conflict.
  func conflicts() async throws -> Response {
    let page = try parameters.page()
    let ids = try await database.query(until: .now + limits.queryTime) { try $0.conflictedDocumentIDs() }
    return Reply.json([
      "total_rows": .int(Int64(ids.count)),
      "ids": .array(page.part(of: ids).map { .string($0) }),
    ])
  }

  /// The rules, and the documents that break one, for the admins of the database, as `cdtquery rules show` and `check` print them.
  func brokenRules() async throws -> Response {
    // An admin also asks which documents another user could not save.
    try security().checkAdmin(sender)
    let page = try parameters.page(limit: 100)
    let database = try database
    let id = parameters["id"]
    let (rules, total, rows) = try await database.query(until: .now + limits.queryTime) { transaction in
      var (total, page, rows): (Int, ResultPage, [JSONValue]) = (0, page, [])
      try database.forEachViolation(ofDocument: id, in: transaction) { violation in
        if page.take() {
          rows.append([
            "id": .string(violation.documentID), "reason": .string(violation.reason),
            "failures": .array(violation.failures.map { .object($0.json) }),
          ])
        }
        total += 1
      }
      let rules = try transaction.rules().map {
        JSONValue.object(["name": .string($0.name), "rules": .object($0.rules)])
      }
      return (rules, total, rows)
    }
    return Reply.json([
      "rules": .array(rules), "total_rows": .int(Int64(total)), "offset": .int(Int64(page.skip)),
      "rows": .array(rows),
    ])
  }

  /// The fields of the documents, or of some of them, as `cdtquery describe` prints them, and the operators of selectors.
  func fields() async throws -> Response {
    let limit = try parameters.count("limit")
    let isSampling = parameters.flag("statistics")
    let summary = try await database.query(until: .now + limits.queryTime) {
      try $0.summarizeFields(ofFirst: limit, isSampling: isSampling)
    }
    var json = summary.json
    json["operators"] = .array(OperatorNames.all.map { .string($0) })
    return Reply.json(json)
  }

  // MARK: Settings

  func setSecurity() async throws -> Response {
    guard try !Databases.isReplicator(database.name) else {
      throw CouchError.forbidden("Only server admins can use _replicator, whose documents have passwords.")
    }
    // As at CouchDB, of any content type.
    let object = try DatabaseSecurity(try await body(limit: 1 << 20).json()).json
    try await database.changeSettings { $0.security = object }
    return Reply.json(Reply.ok)
  }

  func setRevisionsLimit() async throws -> Response {
    guard let limit = try await body(limit: 1_000).json().intValue, limit > 0 else {
      throw CouchError.badRequest("`_revs_limit` must be a positive number.")
    }
    try await database.changeSettings { $0.revisionsLimit = limit }
    return Reply.json(Reply.ok)
  }

  // MARK: Maintenance

  /// Starts to compact the database, and answers at once.
  func compact() async throws -> Response {
    _ = try await jsonBody(limit: 1 << 20)
    let (database, tasks, logger) = (try database, server.tasks, server.logger)
    server.background.add {
      do {
        try await database.compact(listedIn: tasks)
      } catch {
        logger.error("compaction failed", metadata: ["database": "\(database.name)", "error": "\(error)"])
      }
    }
    return Reply.json(Reply.ok, .accepted)
  }

  /// Answers at once, as every acknowledged change is on disk already.
  func ensureFullCommit() async throws -> Response {
    _ = try await jsonBody(limit: 1 << 20)
    return Reply.json(["ok": true, "instance_start_time": .string(try database.created)], .created)
  }

  /// Answers at once, as views are indexes, which have nothing to clean up.
  func cleanViews() async throws -> Response {
    try security().checkAdmin(identity)
    _ = try await jsonBody(limit: 1 << 20)
    return Reply.json(Reply.ok, .accepted)
  }
}
