import ArgumentParser

#if Replication
  import CDTDatastore
  import CDTJSON
  import CDTPlatform
  import CDTReplication
  import Logging
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

      --config FILE runs several replications at the same time, each in a section of its own with its source, its target and \
      the options above, as in "continuous = true". Each tries again by itself. Their events have the name of the section as \
      "pair".

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
        $ printf '[people]\\nsource=people/contacts\\ntarget=copy/contacts\\n' > pairs
        $ echo 'create = true' >> pairs
        $ cdtquery replicate --config pairs > events; cdtquery count copy/contacts
        2
      """)

  @Argument(help: "The store or the URL of the database to read from.") var source: String?
  @Argument(help: "The store or the URL of the database to write to.") var target: String?
  @Option(help: "A file with several replications, in place of SOURCE and TARGET; see docs/replication.md.")
  var config: String?
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions
  @Flag(help: "Replicate in both directions.") var both = false
  @Flag(help: "Go on with new changes until the program is ended.") var continuous = false
  @Flag(help: "Create the target if it does not exist.") var create = false
  @Option(help: "Replicate only documents that match a selector, as JSON.") var selector: String?
  @Flag(
    help:
      "With --selector, also send the revision with which a document leaves it to a target that has the document."
  )
  var pushLeftFilter = false
  @Option(help: "Replicate only the documents whose ids are the lines of a file.") var ids: String?
  @Option(help: "The maximum number of requests at the same time.") var jobs = 4
  @OptionGroup var server: ServerOptions
  @Option(
    help:
      "The log level: debug, info (each batch), notice (each attempt that fails), warning or error.")
  var logLevel = "warning"
  @Option(help: "The format of the log: text or json.") var logFormat = "text"
  @Flag(help: "Show no progress.") var quiet = false

  func validate() throws {
    let isInFile =
      [source, selector, ids].contains { $0 != nil } || both || continuous || create || !server.isEmpty
    try refuse([
      "--jobs must be at least 1": jobs < 1,
      "--push-left-filter needs --selector": pushLeftFilter && selector == nil,
      "use either --selector or --ids": selector != nil && ids != nil,
      "SOURCE and TARGET are missing; give them, or --config": config == nil && source == nil,
      "TARGET is missing": config == nil && target == nil,
      "with --config, the ends and their options are in the file": config != nil && isInFile,
    ])
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
      let logger = try LogLines.logger(level: logLevel, format: logFormat)
      if let config { return try await ReplicationPairs(config, logger).run() }
      let (replication, store, other, undo) = try ends(try prepared(), logger)
      let replicator = Replicator(replication, of: store)
      // Otherwise a signal ends the program at once, which loses nothing.
      let stopping = continuous ? await Self.onSignal { replicator.stop() } : nil
      defer { stopping?.cancel() }
      let bar = ProgressBar(noun: "changes", isQuiet: quiet)
      var last: ReplicationStatus?
      var report = RejectionReport()
      var protections = ProtectionReport()
      do {
        for try await status in replicator.run() {
          if continuous, status.state != last?.state {
            bar.clear()
            report.list(status.result)
            try await protections.list(status.result, of: store, and: other)
            try Output.standard.line(ReplicationOutput.event(status).text)
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
      if !continuous { try Output.standard.line(ReplicationOutput.result(last.result).text) }
      try await protections.list(last.result, of: store, and: other)
      report.list(last.result)
      if report.count > 0 { throw ToolError(.data, "\(report.count) revisions were rejected") }
    }

    /// Calls a closure at the first SIGTERM or SIGINT, and ends the program at the second.
    static func onSignal(_ stop: @escaping @Sendable () -> Void) async -> Task<Void, Never> {
      let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
      return Task {
        var isStopping = false
        for await signal in signals {
          if isStopping { CurrentProcess.exit(128 + signal.rawValue) }
          isStopping = true
          stop()
        }
      }
    }

    // MARK: Ends

    /// The settings that are read once, before a store is opened: a password may come from standard input.
    struct Prepared: Sendable {
      let remote: RemoteDatabase?
      let filter: ReplicationFilter?
    }

    /// - Parameter isArgument: Whether the ends are arguments of the program.
    func prepared(isArgument: Bool = true) throws -> Prepared {
      let (source, target) = (source ?? "", target ?? "")
      let filter = try filter()
      switch (DatabaseArgument.isURL(source), DatabaseArgument.isURL(target)) {
      case (true, true):
        throw ValidationError("one of SOURCE and TARGET must be a store: start cdtquery where it is")
      case (false, true):
        return Prepared(remote: try server.database(target, isArgument: isArgument), filter: filter)
      case (true, false):
        return Prepared(remote: try server.database(source, isArgument: isArgument), filter: filter)
      case (false, false):
        guard server.isEmpty else { throw ServerOptions.storeNeedsNone }
        return Prepared(remote: nil, filter: filter)
      }
    }

    /// The replication, its store, the other end if it is a store, and what deletes a target that was created for nothing.
    func ends(
      _ prepared: Prepared, _ logger: Logger
    ) throws -> (Replication, Datastore, other: Datastore?, undo: () -> Void) {
      let (source, target) = (source ?? "", target ?? "")
      var replication: Replication
      let store: Datastore
      var (other, undo) = (Datastore?.none, {})
      if let remote = prepared.remote {
        let isPush = DatabaseArgument.isURL(target)
        replication = Replication(isPush ? .push : .pull, with: remote, filter: prepared.filter)
        if isPush {
          store = try StoreArgument(orURL: source).open()
        } else {
          (store, undo) = try openTarget()
        }
      } else {
        store = try StoreArgument(orURL: source).open()
        let made = try openTarget()
        (other, undo) = (made.store, made.undo)
        replication = Replication(.push, with: made.store, filter: prepared.filter)
      }
      if both { replication.direction = .both }
      replication.isContinuous = continuous
      replication.createsDatabase = create
      replication.pushesLeftFilter = pushLeftFilter
      replication.concurrentRequests = jobs
      replication.logger = logger
      return (replication, store, other, undo)
    }

    private func openTarget() throws -> (store: Datastore, undo: () -> Void) {
      let argument = try StoreArgument(orURL: target ?? "")
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
  }
#else
  extension ReplicateCommand {
    func run() throws {
      throw ToolError.needsFullBuild("replicate")
    }
  }
#endif
