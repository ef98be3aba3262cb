#if Replication
  import CDTDatastore
  import CDTJSON
  import CDTPlatform
  import CDTQuery
  import CDTReplication

  /// The JSON of a replication on standard output.
  enum ReplicationOutput {
    /// An event: a change of state.
    ///
    /// - Parameter pair: The name of the replication, if there are several.
    static func event(_ status: ReplicationStatus, pair: String? = nil) -> JSONValue {
      let (result, now) = (status.result, Date.now)
      var json: JSONObject = [:]
      if let pair { json["pair"] = .string(pair) }
      json["time"] = .string(now.formatted(.iso8601))
      switch status.state {
      case .running: json["state"] = "running"
      case .idle: json["state"] = "idle"
      case .stopped: json["state"] = "stopped"
      case .waiting(let until, let reason):
        json["state"] = "waiting"
        json["until"] = .string(until.formatted(.iso8601))
        json["reason"] = .string(reason)
      }
      json["behind"] = .int(Int64(status.behind))
      if let lag = status.lag(at: now) { json["lag"] = .double((lag.seconds * 1_000).rounded() / 1_000) }
      addCounts(of: result, to: &json)
      json["rejectedCount"] = .int(Int64(result.pulled.rejectedCount + result.pushed.rejectedCount))
      addTimes(of: result, to: &json)
      return .object(json)
    }

    /// The result of a run.
    static func result(_ result: ReplicationResult) -> JSONValue {
      var json: JSONObject = [:]
      addCounts(of: result, to: &json)
      json["rejected"] = .array(
        result.rejected.map {
          ["id": .string($0.id), "rev": .string($0.revision), "reason": .string($0.reason)]
        })
      addTimes(of: result, to: &json)
      return .object(json)
    }

    private static func addCounts(of result: ReplicationResult, to json: inout JSONObject) {
      json["pulled"] = .object(counts(result.pulled))
      json["pushed"] = .object(counts(result.pushed))
    }

    private static func addTimes(of result: ReplicationResult, to json: inout JSONObject) {
      json["start"] = .string(result.start.formatted(.iso8601))
      if let end = result.end { json["end"] = .string(end.formatted(.iso8601)) }
    }

    private static func counts(_ counts: ReplicationResult.Counts) -> JSONObject {
      [
        "since": counts.startSequence.map { .string($0) } ?? .null,
        "changes": .int(Int64(counts.changes)), "missing": .int(Int64(counts.missing)),
        "read": .int(Int64(counts.revisionsRead)), "written": .int(Int64(counts.revisionsWritten)),
        "attachments": .int(Int64(counts.attachments)),
        "bytes": .int(counts.bytes),
        "retries": .int(Int64(counts.retries)), "leftFilter": .int(Int64(counts.leftFilter)),
        "removed": .int(Int64(counts.removed)),
      ]
    }
  }

  /// Lists rejected revisions on standard error, each once.
  struct RejectionReport {
    /// The name of the replication, if there are several.
    private let name: String?
    private var listed = (pulled: 0, pushed: 0)

    init(of name: String? = nil) {
      self.name = name
    }

    /// The number of revisions that were listed.
    var count: Int { listed.pulled + listed.pushed }

    mutating func list(_ result: ReplicationResult) {
      listed.pulled = list(result.pulled, after: listed.pulled)
      listed.pushed = list(result.pushed, after: listed.pushed)
    }

    /// - Returns: The number that are listed then.
    private func list(_ counts: ReplicationResult.Counts, after listed: Int) -> Int {
      let prefix = name.map { "[\($0)] " } ?? ""
      for revision in counts.rejected.suffix(counts.rejectedCount - listed) {
        Message.write(
          "cdtquery: \(prefix)\(revision.id) \(revision.revision) was rejected: \(revision.reason)")
      }
      return counts.rejectedCount
    }
  }

  /// Warns on standard error of functions and rules that were replicated and are not enforced, once for each design document.
  struct ProtectionReport {
    /// The name of the replication, if there are several.
    private let name: String?
    private var listed: Set<String> = []

    init(of name: String? = nil) {
      self.name = name
    }

    /// - Parameters:
    ///   - store: The store that pulls.
    ///   - other: The store to which it pushes.
    mutating func list(_ result: ReplicationResult, of store: Datastore, and other: Datastore?) async throws {
      for (store, counts) in [(store, result.pulled), (other, result.pushed)] {
        guard let store, counts.revisionsWritten > 0 else { continue }
        for finding in try await store.checkProtections() {
          let place = "\(store.name): document \(JSONValue.string(finding.documentID ?? "").text)"
          guard listed.insert(place).inserted else { continue }
          Message.write("cdtquery: \(name.map { "[\($0)] " } ?? "")\(place): \(finding.message)")
        }
      }
    }
  }
#endif
