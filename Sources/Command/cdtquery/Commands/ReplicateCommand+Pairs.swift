#if Replication
  import ArgumentParser
  import CDTDatastore
  import CDTPlatform
  import CDTQuery
  import CDTReplication
  import Logging
  import Synchronization

  /// The replications of `cdtquery replicate --config`, which run at the same time. Each has a section of the file:
  ///
  /// ```
  /// [contacts]
  /// source = people/contacts
  /// target = https://ana@couch.example.org/contacts
  /// password-file = secrets/ana
  /// continuous = true
  /// ```
  struct ReplicationPairs: Sendable {
    private struct Pair: Sendable {
      let name: String
      let command: ReplicateCommand
      let prepared: ReplicateCommand.Prepared
    }

    private let pairs: [Pair]
    private let logger: Logger
    private let control = Control()

    /// Reads the file, and the passwords that it names.
    ///
    /// - Throws: `ToolError` with the line.
    init(_ path: String, _ logger: Logger) throws {
      let file = try OptionFile(path)
      self.logger = logger
      pairs = try file.sections.map { section in
        guard !section.name.isEmpty else {
          throw file.error(section.line, "a replication begins with a section, such as [contacts]")
        }
        let command = try Self.command(section, of: file)
        return Pair(
          name: section.name, command: command,
          prepared: try Self.locating(section.line, in: file) { try command.prepared(isArgument: false) })
      }
      if pairs.isEmpty { throw ToolError(.data, "\(path) has no section; see docs/replication.md") }
    }

    // MARK: The file

    private static let ends = ["source", "target"]
    private static let flags = ["both", "continuous", "create"]
    private static let options = ["selector", "ids", "jobs", "user", "password-file", "ca"]

    private static func command(
      _ section: OptionFile.Section, of file: OptionFile
    ) throws -> ReplicateCommand {
      var arguments: [String] = []
      var known: Set<String> = []
      for entry in section.entries {
        guard known.insert(entry.name).inserted else {
          throw file.error(entry.line, "\(entry.name) is there twice")
        }
        guard let argument = try argument(entry, of: file) else { continue }
        // Alone, so that an error is that of the line.
        _ = try locating(entry.line, in: file) { try ReplicateCommand.parse(["a", "b", argument]) }
        arguments.append(argument)
      }
      guard let source = section["source"], let target = section["target"] else {
        throw file.error(section.line, "the section [\(section.name)] needs a source and a target")
      }
      return try locating(section.line, in: file) {
        try ReplicateCommand.parse(arguments + ["--", source, target])
      }
    }

    /// The entry as an argument; `nil` for an end, or for a flag that is not set.
    private static func argument(_ entry: OptionFile.Entry, of file: OptionFile) throws(ToolError) -> String?
    {
      if ends.contains(entry.name) { return nil }
      if options.contains(entry.name) {
        guard let value = entry.value else { throw file.error(entry.line, "\(entry.name) needs a value") }
        return "--\(entry.name)=\(value)"
      }
      guard flags.contains(entry.name) else {
        let meant =
          NearestName.of(entry.name, among: ends + flags + options).map { "did you mean \($0)?" }
          ?? "there are \((ends + flags + options).joined(separator: ", "))"
        throw file.error(entry.line, "there is no option \(entry.name); \(meant)")
      }
      switch entry.value {
      case "true", nil: return "--\(entry.name)"
      case "false": return nil
      default: throw file.error(entry.line, "\(entry.name) is either true or false")
      }
    }

    /// Adds the line to an error.
    private static func locating<R>(_ line: Int, in file: OptionFile, _ body: () throws -> R) throws -> R {
      do {
        return try body()
      } catch {
        let status = ExitStatus(error)
        throw file.error(
          line, status == nil ? ReplicateCommand.message(for: error) : ErrorText.of(error), status ?? .data)
      }
    }

    // MARK: Running

    /// Runs all until they have ended, or a signal has stopped them. One that fails does not end the others.
    ///
    /// - Throws: `ToolError` if any failed, with the status of the first one.
    func run() async throws {
      let stopping = await ReplicateCommand.onSignal { [control] in control.stop() }
      defer { stopping.cancel() }
      let failures = try await withThrowingTaskGroup(of: (any Error)?.self) { group in
        for pair in pairs { group.addTask { try await run(pair) } }
        var failures: [any Error] = []
        for try await error in group { if let error { failures.append(error) } }
        return failures
      }
      guard let first = failures.first else { return }
      throw ToolError(
        ExitStatus(first) ?? .fault, "\(failures.count) of \(pairs.count) replications failed")
    }

    /// Runs a replication, again and again if it is continuous and fails.
    ///
    /// - Returns: The error that ended it.
    /// - Throws: An error of the output, for which all end.
    private func run(_ pair: Pair) async throws -> (any Error)? {
      var logger = logger
      logger[metadataKey: "pair"] = "\(pair.name)"
      let policy = RetryPolicy()
      var (last, isFirst) = (ReplicationStatus(), true)
      var failures = 0
      var protections = ProtectionReport(of: pair.name)
      while true {
        var report = RejectionReport(of: pair.name)
        do {
          try await attempt(pair, logger) { status, store, other in
            if status.state == .idle { failures = 0 }
            let (state, caughtUp) = (last.state, last.caughtUp)
            last = status
            // Of an earlier attempt.
            last.caughtUp = status.caughtUp ?? caughtUp
            guard state != status.state || isFirst else { return }
            isFirst = false
            report.list(status.result)
            try await protections.list(status.result, of: store, and: other)
            try control.write(last, of: pair.name)
          }
          report.list(last.result)
          return report.count > 0 ? ToolError(.data, "\(report.count) revisions were rejected") : nil
        } catch let error as Output.Failure {
          throw error
        } catch {
          try Task.checkCancellation()
          if control.isStopping { return nil }
          failures += 1
          let text = ErrorText.of(error)
          let isLasting = (error as? ReplicationError)?.code == .invalidRequest
          guard pair.command.continuous, !isLasting else {
            Message.write("cdtquery: [\(pair.name)] \(text)")
            return error
          }
          let pause = policy.pause(afterFailures: failures, requested: nil)
          logger.warning(
            "replication failed", metadata: ["error": "\(text)", "pause": .stringConvertible(pause.seconds)])
          last.state = .waiting(until: .now.addingTimeInterval(pause.seconds), reason: text)
          try control.write(last, of: pair.name)
          guard try await control.sleep(for: pause) else { return nil }
        }
      }
    }

    private func attempt(
      _ pair: Pair, _ logger: Logger,
      _ report: (ReplicationStatus, Datastore, _ other: Datastore?) async throws -> Void
    ) async throws {
      let (replicator, store, other) = try await Datastore.useFiles {
        let (replication, store, other, _) = try pair.command.ends(pair.prepared, logger)
        return (Replicator(replication, of: store), store, other)
      }
      let statuses = replicator.run()
      control.add(replicator, of: pair.name)
      for try await status in statuses { try await report(status, store, other) }
    }

    /// Stops all pairs, and serializes their output.
    private final class Control: Sendable {
      private let stopping = ReplicationStop()
      private let replicators = Mutex<[String: Replicator]>([:])
      private let output = Mutex(())

      var isStopping: Bool { stopping.isSet }

      /// Adds the replicator of a pair, in place of its last one.
      func add(_ replicator: Replicator, of pair: String) {
        replicators.withLock { $0[pair] = replicator }
        if isStopping { replicator.stop() }
      }

      /// Ends all at the end of their batches.
      func stop() {
        stopping.set()
        for replicator in replicators.withLock({ Array($0.values) }) { replicator.stop() }
      }

      /// - Returns: Whether the time has passed; otherwise it was told to stop.
      func sleep(for pause: Duration) async throws -> Bool {
        try await stopping.interruptible { try await Task.sleep(for: pause) } != nil
      }

      func write(_ status: ReplicationStatus, of pair: String) throws {
        // A line at a time.
        try output.withLock { _ in
          try Output.standard.line(ReplicationOutput.event(status, pair: pair).text)
          try Output.standard.flush()
        }
      }
    }
  }
#endif
