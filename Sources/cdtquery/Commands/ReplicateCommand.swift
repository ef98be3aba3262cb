import ArgumentParser

#if Replication
  import CDTDatastore
  import CDTJSON
  import CDTPlatform
  import CDTReplication
  import UnixSignals
#endif

struct ReplicateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replicate",
    abstract: "Replicate a store with a CouchDB, another server or another store.",
    discussion: """
      SOURCE and TARGET are stores or URLs of databases; one of them is a store. Every revision that TARGET lacks is \
      sent to it, with its history and its attachments; conflicts remain conflicts. The next run goes on where this one \
      ended. The result is one JSON object; with --continuous there is one for each change of state, until SIGINT or \
      SIGTERM.

      The password of --user, or of the name in http://NAME@host/database, is the first line of --password-file (- is \
      standard input), or else the variable CDTQUERY_PASSWORD, or else it is asked for.

      EXIT STATUS
        65  some documents were rejected, which are listed on standard error;
            the next run tries them again
        66  no such store or database
        69  the server can't be reached or is overloaded
        77  not authorized

      EXAMPLE
        $ cdtquery replicate people/contacts backup/contacts --create > result
        $ cdtquery count backup/contacts
        2
      """)

  @Argument(help: "The store or the URL of the database to read from.") var source: String
  @Argument(help: "The store or the URL of the database to write to.") var target: String
  @OptionGroup var key: KeyOptions
  @Flag(help: "Replicate in both directions.") var both = false
  @Flag(help: "Go on with new changes until the program is ended.") var continuous = false
  @Flag(help: "Create the target if it does not exist.") var create = false
  @Option(help: "Replicate only documents that match a selector, as JSON.") var selector: String?
  @Option(help: "Replicate only the documents whose ids are the lines of a file.") var ids: String?
  @Option(help: "The maximum number of requests at the same time.") var jobs = 4
  @OptionGroup var server: ServerOptions
  @Flag(help: "Show no progress.") var quiet = false

  func validate() throws {
    if jobs < 1 { throw ValidationError("--jobs must be at least 1") }
    if selector != nil, ids != nil { throw ValidationError("use either --selector or --ids") }
  }
}

#if Replication
  extension ReplicateCommand {
    func run() throws {
      try waiting { try await replicate() }
    }

    private func replicate() async throws {
      // By default there are eight heaps for each processor, and memory that one has free serves no other. A server is faster
      // with them.
      CurrentProcess.limitHeaps(to: Processors.count)
      let (replication, store, undo) = try ends()
      let replicator = Replicator(replication, of: store)
      // Otherwise a signal ends the program at once, which loses nothing.
      let stopping = continuous ? await Self.stop(replicator) : nil
      defer { stopping?.cancel() }
      let bar = ProgressBar(noun: "changes", isQuiet: quiet)
      var last: ReplicationStatus?
      var report = RejectionReport()
      do {
        for try await status in replicator.run() {
          if continuous, status.state != last?.state {
            bar.clear()
            report.list(status.result)
            try Output.standard.line(Self.json(status).text)
            try Output.standard.flush()
          } else {
            bar.show(status.done, of: max(status.done, status.total))
          }
          last = status
        }
      } catch {
        bar.clear()
        // The next run may not come to them.
        if let last { report.list(last.result) }
        undo()
        throw error
      }
      bar.clear()
      guard let last else { return }
      if !continuous { try Output.standard.line(Self.json(last, rejected: last.result.rejected).text) }
      report.list(last.result)
      if report.count > 0 { throw ToolError(.data, "\(report.count) revisions were rejected") }
    }

    /// Ends a continuous replication at the end of its batch with the first signal, and the program with the second.
    private static func stop(_ replicator: Replicator) async -> Task<Void, Never> {
      let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
      return Task {
        var isStopping = false
        for await signal in signals {
          if isStopping { CurrentProcess.exit(128 + signal.rawValue) }
          isStopping = true
          replicator.stop()
        }
      }
    }

    // MARK: Ends

    /// The replication, its store, and what deletes a target that was created for nothing.
    private func ends() throws -> (Replication, Datastore, undo: () -> Void) {
      let filter = try filter()
      var replication: Replication
      let store: Datastore
      var undo = {}
      switch (DatabaseArgument.isURL(source), DatabaseArgument.isURL(target)) {
      case (true, true):
        throw ValidationError("one of SOURCE and TARGET must be a store: start cdtquery where it is")
      case (false, true):
        store = try StoreArgument(orURL: source).open()
        replication = Replication(.push, with: try server.database(target), filter: filter)
      case (true, false):
        // Before the store is created.
        replication = Replication(.pull, with: try server.database(source), filter: filter)
        (store, undo) = try openTarget()
      case (false, false):
        guard server.isEmpty else { throw ServerOptions.storeNeedsNone }
        store = try StoreArgument(orURL: source).open()
        let made = try openTarget()
        undo = made.undo
        replication = Replication(.push, with: made.store, filter: filter)
      }
      if both { replication.direction = .both }
      replication.isContinuous = continuous
      replication.createsDatabase = create
      replication.concurrentRequests = jobs
      return (replication, store, undo)
    }

    private func openTarget() throws -> (store: Datastore, undo: () -> Void) {
      let argument = try StoreArgument(orURL: target)
      return try create ? argument.createUndoably() : (argument.open(), {})
    }

    private func filter() throws -> ReplicationFilter? {
      if let selector {
        do {
          return .selector(try JSONObject(parsing: selector))
        } catch {
          throw ToolError(.data, "--selector: \(error)")
        }
      }
      guard let ids else { return nil }
      guard let data = try? Data(contentsOf: URL(filePath: ids)) else {
        throw ToolError(.missing, "can't read \(ids); check the path")
      }
      // Some programs write a byte order mark at the start of UTF-8; it is not part of the first id.
      let bytes = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data
      guard String(validating: bytes, as: UTF8.self) != nil else {
        throw ToolError(.data, "\(ids) is not UTF-8; convert it to UTF-8")
      }
      let lines = bytes.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
      return .documentIDs(lines.map { String(decoding: $0, as: UTF8.self) })
    }

    // MARK: Output

    /// The result of a run.
    ///
    /// - Parameter rejected: What was rejected; `nil` in an event, which gives the number.
    private static func json(_ status: ReplicationStatus, rejected: [RejectedRevision]? = nil) -> JSONValue {
      let result = status.result
      var json: JSONObject = [:]
      if rejected == nil {
        switch status.state {
        case .running: json["state"] = "running"
        case .idle: json["state"] = "idle"
        case .stopped: json["state"] = "stopped"
        case .waiting(let until, let reason):
          json["state"] = "waiting"
          json["until"] = .string(until.formatted(.iso8601))
          json["reason"] = .string(reason)
        }
      }
      json["pulled"] = .object(counts(result.pulled))
      json["pushed"] = .object(counts(result.pushed))
      if let rejected {
        json["rejected"] = .array(
          rejected.map {
            ["id": .string($0.id), "rev": .string($0.revision), "reason": .string($0.reason)]
          })
      } else {
        json["rejectedCount"] = .int(Int64(result.pulled.rejectedCount + result.pushed.rejectedCount))
      }
      json["start"] = .string(result.start.formatted(.iso8601))
      if let end = result.end { json["end"] = .string(end.formatted(.iso8601)) }
      return .object(json)
    }

    private static func counts(_ counts: ReplicationResult.Counts) -> JSONObject {
      [
        "since": counts.startSequence.map { .string($0) } ?? .null,
        "changes": .int(Int64(counts.changes)), "missing": .int(Int64(counts.missing)),
        "read": .int(Int64(counts.revisionsRead)), "written": .int(Int64(counts.revisionsWritten)),
        "attachments": .int(Int64(counts.attachments)), "bytes": .int(counts.bytes),
        "retries": .int(Int64(counts.retries)),
      ]
    }
  }

  /// Lists rejected revisions on standard error, each once.
  private struct RejectionReport {
    private var listed = (pulled: 0, pushed: 0)

    /// The number of revisions that were listed.
    var count: Int { listed.pulled + listed.pushed }

    mutating func list(_ result: ReplicationResult) {
      Self.list(result.pulled, after: &listed.pulled)
      Self.list(result.pushed, after: &listed.pushed)
    }

    private static func list(_ counts: ReplicationResult.Counts, after listed: inout Int) {
      for revision in counts.rejected.suffix(counts.rejectedCount - listed) {
        Message.write("cdtquery: \(revision.id) \(revision.revision) was rejected: \(revision.reason)")
      }
      listed = counts.rejectedCount
    }
  }
#else
  extension ReplicateCommand {
    func run() throws {
      throw ToolError.needsFullBuild("replicate")
    }
  }
#endif
