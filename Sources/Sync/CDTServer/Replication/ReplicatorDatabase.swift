#if Replication
  import CDTDatastore
  import CDTJSON
  import CDTPlatform
  import CDTReplication
  import CouchDB
  import Logging

  /// The documents of `_replicator`. Each with a source and a target is a replication, as long as it has no
  /// `_replication_state`: that is written at its end, as CouchDB does, and so it is not run again.
  extension ReplicationJobs {
    /// Follows the database, if there is one, so that what it describes runs also if no client asks for it.
    func begin() {
      Task {
        if let database = try? await databases.database(named: DatabaseName.replicator) { follow(database) }
      }
    }

    /// Follows the database until it is deleted. Nothing happens if it is followed already.
    func follow(_ database: OpenDatabase) {
      state.withLock { state in
        guard !state.isEnding, !isReadOnly, state.follower?.database.store !== database.store else { return }
        state.follower?.task.cancel()
        state.follower = (database, Task { await self.followChanges(of: database) })
      }
    }

    private func followChanges(of database: OpenDatabase) async {
      do {
        for try await changes in database.store.liveChanges() {
          for change in changes.documents {
            try Task.checkCancellation()
            try await apply(change, database.store)
          }
        }
      } catch is CancellationError {
      } catch let error as DatastoreError where error.code == .closed {
      } catch {
        logger.error("the documents of _replicator can't be read", metadata: ["error": "\(error)"])
      }
      for job in all where job.documentID != nil && !Task.isCancelled { await stop(job.id) }
      state.withLock { if $0.follower?.database === database, !$0.isEnding { $0.follower = nil } }
    }

    private func apply(_ change: Change, _ store: Datastore) async throws {
      if let job = job(ofDocument: change.id) { await stop(job.id) }
      guard !change.isDeleted, !DocumentID.isDesign(change.id),
        let document = try await store.read({ try $0.documents(withIDs: [change.id]).first }),
        !document.isDeleted, document.isReplication, document.body["_replication_state"] == nil
      else { return }
      let request: ReplicationRequest
      do throws(CouchError) {
        request = try ReplicationRequest(document.body, hosts: hosts)
      } catch {
        return await note("failed", ["_replication_state_reason": .string(error.reason)], in: document)
      }
      if let other = start(request, of: document) {
        let owner = other.documentID.map { "document `\($0)`" } ?? "_replicate"
        let reason =
          "Replication `\(request.id)` specified by document `\(change.id)` already started by \(owner)"
        await note("failed", ["_replication_state_reason": .string(reason)], in: document)
      }
    }

    /// Writes how the replication of a document has ended, unless the document has been changed meanwhile.
    func note(_ end: String, _ members: JSONObject, in document: DocumentRevision) async {
      guard let store = state.withLock({ $0.follower?.database.store }) else { return }
      var document = document
      document.body["_replication_state"] = .string(end)
      document.body["_replication_state_time"] = .string(Date.now.formatted(.iso8601))
      for (name, value) in members { document.body[name] = value }
      do {
        _ = try await store.updateDocument(from: document)
      } catch let error as DatastoreError where [.conflict, .closed].contains(error.code) {
      } catch {
        logger.error(
          "the state of a replication can't be written",
          metadata: ["doc_id": "\(document.id)", "error": "\(error)"])
      }
    }

    // MARK: Reports

    /// The counts in CouchDB's words.
    static func counts(_ counts: ReplicationResult.Counts) -> JSONObject {
      [
        "revisions_checked": .int(Int64(counts.changes)),
        "missing_revisions_found": .int(Int64(counts.missing)),
        "docs_read": .int(Int64(counts.revisionsRead)), "docs_written": .int(Int64(counts.revisionsWritten)),
        "doc_write_failures": .int(Int64(counts.rejectedCount)),
        "checkpointed_source_seq": counts.lastSequence.map { .string($0) } ?? .null,
      ]
    }

    /// A document as `_scheduler/docs` lists it; `nil` if it is not a replication.
    func row(_ document: DocumentRevision) -> JSONObject? {
      let body = document.body
      guard document.isReplication else { return nil }
      let job = job(ofDocument: document.id)
      // URLs may have credentials.
      let request = job?.request ?? (try? ReplicationRequest(body, hosts: hosts))
      var row: JSONObject = [
        "database": .string(DatabaseName.replicator), "doc_id": .string(document.id),
        "id": (job?.id).map { .string($0) } ?? body["_replication_id"] ?? .null, "node": "nonode@nohost",
        "source": request.map { .string($0.source.shownName) } ?? .null,
        "target": request.map { .string($0.target.shownName) } ?? .null,
      ]
      if let job {
        row["state"] = .string(job.state)
        row["info"] = .object(job.info)
        row["error_count"] = .int(Int64(job.failures))
        row["start_time"] = .string(job.start.formatted(.iso8601))
        row["last_updated"] = .string(job.updated.formatted(.iso8601))
      } else {
        // It has just been written if there is no state yet.
        let state = body["_replication_state"] ?? "initializing"
        row["state"] = state
        row["info"] =
          state == "failed"
          ? ["error": body["_replication_state_reason"] ?? ""] : body["_replication_stats"] ?? .null
        row["error_count"] = 0
        row["start_time"] = body["_replication_stats"]?["start_time"] ?? .null
        row["last_updated"] = body["_replication_state_time"] ?? .null
      }
      return row
    }
  }

  extension DocumentRevision {
    /// Whether the document of `_replicator` describes a replication.
    fileprivate var isReplication: Bool {
      (body["source"] != nil || body["target"] != nil) && !DocumentID.isDesign(id)
    }
  }

  extension ReplicationJobs.Job {
    /// CouchDB's word for what it does.
    var state: String { reason != nil ? "crashing" : task == nil ? "pending" : "running" }

    /// The counts, or the reason of the failure after which it waits.
    var info: JSONObject {
      var info = ReplicationJobs.counts(request.counts(of: status.result))
      info["changes_pending"] = .int(Int64(status.behind))
      // The time since the target last had everything.
      let lag = status.lag().map { ($0.seconds * 1_000).rounded() / 1_000 }
      info["lag_seconds"] = lag.map { .double($0) } ?? .null
      if let reason { info["error"] = .string(reason) }
      return info
    }

    /// The job as `_scheduler/jobs` lists it.
    var row: JSONObject {
      [
        "database": documentID == nil ? .null : .string(DatabaseName.replicator), "id": .string(id),
        "doc_id": documentID.map { .string($0) } ?? .null, "node": "nonode@nohost", "pid": .null,
        "user": .null,
        "source": .string(request.source.shownName), "target": .string(request.target.shownName),
        "start_time": .string(start.formatted(.iso8601)), "info": .object(info),
        "history": .array(
          history.map { entry in
            var row: JSONObject = [
              "timestamp": .string(entry.time.formatted(.iso8601)), "type": .string(entry.type),
            ]
            if let reason = entry.reason { row["reason"] = .string(reason) }
            return .object(row)
          }),
      ]
    }

    /// The job as `_active_tasks` lists it.
    var activeTask: JSONObject {
      var task: JSONObject = [
        "type": "replication", "pid": .string(id),
        "database": .string((request.isPush ? request.source : request.target).shownName),
        "replication_id": .string(id), "doc_id": documentID.map { .string($0) } ?? .null,
        "source": .string(request.source.shownName), "target": .string(request.target.shownName),
        "continuous": .bool(request.isContinuous),
        "started_on": .int(Int64(start.timeIntervalSince1970)),
        "updated_on": .int(Int64(updated.timeIntervalSince1970)),
      ]
      for (name, value) in info { task[name] = value }
      return task
    }
  }
#endif
