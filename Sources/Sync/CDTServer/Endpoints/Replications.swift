import CDTDatastore
import CDTJSON
import CouchDB
import Hummingbird

#if Replication
  import CDTPlatform
  import CDTReplication

  extension Route {
    /// The resources of replications by this server.
    static let replications: [Route] = [
      Route(.post, "/_replicate", .serverAdmin) { try await $0.replicate() },
      Route(.get, "/_scheduler/jobs", .serverAdmin) { try $0.replicationJobs() },
      Route(.get, "/_scheduler/jobs/{job}", .serverAdmin) { try $0.replicationJob() },
      Route(.get, "/_scheduler/docs", .serverAdmin) { try await $0.replicationDocuments() },
      Route(.get, "/_scheduler/docs/_replicator", .serverAdmin) { try await $0.replicationDocuments() },
      Route(.get, "/_scheduler/docs/_replicator/{document}", .serverAdmin) {
        try await $0.replicationDocument()
      },
    ]
  }

  extension RequestContext {
    /// Follows the documents of `_replicator`, if that is the database of the request.
    func followReplicator(_ database: OpenDatabase) {
      if Databases.isReplicator(database.name) { server.replications.follow(database) }
    }

    var replicationTasks: [JSONValue] { server.replications.all.map { .object($0.activeTask) } }

    /// Runs a replication and answers at its end; a continuous one is answered at once.
    func replicate() async throws -> Response {
      try checkWritable()
      let body = try await jsonObject()
      let jobs = server.replications
      let isCancellation = body["cancel"] == true
      if isCancellation,
        let id = ["_local_id", "replication_id", "id"].lazy.compactMap({ body[$0]?.stringValue }).first
      {
        return try await cancel(id)
      }
      let request = try ReplicationRequest(body, hosts: jobs.hosts)
      if isCancellation { return try await cancel(request.id) }
      // One that can't begin would be tried again for ever.
      if request.isContinuous {
        do {
          try await request.withReplication(databases) { _, _ in }
        } catch let error as ReplicationError {
          throw CouchError(error)
        }
      }
      let (task, isNew) = try jobs.start(request)
      if request.isContinuous {
        return Reply.json(["ok": true, "_local_id": .string(request.id)], .accepted)
      }
      do {
        let result = try await withTaskCancellationHandler {
          try await task.value
        } onCancel: {
          // Nobody waits for it any more, unless it was started by another request.
          if isNew { task.cancel() }
        }
        return Reply.json(Self.reply(result, request))
      } catch let error as ReplicationError {
        throw CouchError(error)
      }
    }

    private func cancel(_ id: String) async throws -> Response {
      guard await server.replications.stop(id) else { throw CouchError.missing }
      return Reply.json(["ok": true, "_local_id": .string(id)])
    }

    private static func reply(_ result: ReplicationResult, _ request: ReplicationRequest) -> JSONObject {
      func date(_ date: Date) -> JSONValue { .string(HTTPDate.text(Int64(date.timeIntervalSince1970))) }
      let counts = request.counts(of: result)
      let (session, last) = (
        JSONValue.string(RandomID.digits()), JSONValue.string(counts.lastSequence ?? "0")
      )
      var reply: JSONObject = ["ok": true]
      if counts.changes == 0 { reply["no_changes"] = true }
      reply["session_id"] = session
      reply["source_last_seq"] = last
      reply["replication_id_version"] = 4
      reply["history"] = [
        [
          "session_id": session, "start_time": date(result.start), "end_time": date(result.end ?? .now),
          "start_last_seq": .string(counts.startSequence ?? "0"), "end_last_seq": last, "recorded_seq": last,
          "missing_checked": .int(Int64(counts.changes)), "missing_found": .int(Int64(counts.missing)),
          "docs_read": .int(Int64(counts.revisionsRead)),
          "docs_written": .int(Int64(counts.revisionsWritten)),
          "doc_write_failures": .int(Int64(counts.rejectedCount)),
        ]
      ]
      return reply
    }

    // MARK: Lists

    func replicationJobs() throws -> Response {
      try list(server.replications.all, "jobs") { $0.row }
    }

    func replicationJob() throws -> Response {
      guard let job = server.replications.all.first(where: { $0.id == names["job"] }) else {
        throw CouchError.missing
      }
      return Reply.json(job.row)
    }

    func replicationDocuments() async throws -> Response {
      let jobs = server.replications
      return try list(try await replicatorDocuments { try $0.allDocumentIDs() }, "docs") { jobs.row($0) }
    }

    func replicationDocument() async throws -> Response {
      let id = names["document"] ?? ""
      guard let document = try await replicatorDocuments({ _ in [id] }).first,
        let row = server.replications.row(document)
      else { throw CouchError.missing }
      return Reply.json(row)
    }

    private func list<Element>(
      _ all: [Element], _ name: String, _ row: (Element) -> JSONObject?
    ) throws -> Response {
      let page = try parameters.page(limit: 100)
      let rows = all.compactMap(row)
      return Reply.json([
        "total_rows": .int(Int64(rows.count)), "offset": .int(Int64(page.skip)),
        name: .array(page.part(of: rows).map { .object($0) }),
      ])
    }

    /// The documents of `_replicator` with some ids; none if the database does not exist.
    private func replicatorDocuments(
      _ ids: @escaping @Sendable (ReadTransaction) throws -> [String]
    ) async throws -> [DocumentRevision] {
      do {
        let database = try await databases.database(named: DatabaseName.replicator)
        return try await database.store.read { transaction in
          try transaction.documents(withIDs: ids(transaction)).filter { !$0.isDeleted }
        }
      } catch let error as CouchError where error == .noDatabase {
        return []
      }
    }
  }

  extension CouchError {
    /// An error of the other end, or of the network, in CouchDB's words.
    init(_ error: ReplicationError) {
      switch error.code {
      case .notFound: self.init(404, "db_not_found", error.message)
      case .unauthorized: self.init(401, "unauthorized", error.message)
      case .forbidden: self.init(403, "forbidden", error.message)
      case .invalidRequest: self.init(400, "bad_request", error.message)
      default: self.init(502, "replication_error", error.message)
      }
    }
  }
#else
  extension Route {
    /// None: replication is a trait of the package, which this server was built without.
    static let replications: [Route] = []
  }

  extension RequestContext {
    func followReplicator(_ database: OpenDatabase) {}

    var replicationTasks: [JSONValue] { [] }
  }
#endif
