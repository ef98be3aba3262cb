import ArgumentParser
import CDTPlatform

/// The command line: one subcommand a file in `Commands`.
@main
struct CDTQueryTool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cdtquery",
    abstract: "Keep JSON documents in a store, and ask for them.",
    discussion: """
      STORE is the path of a store: the directory of its manager and its name, as in people/contacts. Data goes to \
      standard output, JSON by default; progress and errors go to standard error. After -- nothing is an option, \
      whatever it begins with.

      EXIT CODES
        0   done
        1   findings of test and check
        64  bad usage
        65  bad data or query
        66  no such store or document
        69  busy: another process was writing for too long
        70  our fault
        73  cannot create
        74  input or output failed

      EXAMPLE, which those of the commands go on from
        $ printf '{"_id":"mike","age":36}\\n{"_id":"zoe","age":12}\\n' > people.jsonl
        $ cdtquery import people/contacts people.jsonl
        2 imported
        $ cdtquery find people/contacts '{"age": {"$gte": 18}}'
        {"_id":"mike","_rev":"1-dc7c404fb82b5e0160f925a3aaa9534b","age":36}
      """,
    version: "0.1.0",
    subcommands: [
      ImportCommand.self, ExportCommand.self, GetCommand.self, PutCommand.self, DeleteCommand.self,
      FindCommand.self, ExplainCommand.self, CountCommand.self, IndexCommand.self, ChangesCommand.self,
      ConflictsCommand.self, ResolveCommand.self, AttachmentCommand.self, InfoCommand.self, CheckCommand.self,
      CompactCommand.self, ListCommand.self, DropCommand.self, TestCommand.self,
    ])

  static func main() {
    // A reader that has seen enough closes the pipe; that ends the output, and is no error.
    CurrentProcess.ignoreBrokenPipes()
    do {
      var command = try GetCommand(plain: CommandLine.arguments.dropFirst()) ?? parseAsRoot()
      // The threads of Swift's concurrency take as long to start as a query to run, so only who awaits starts them.
      if command is any AsyncParsableCommand { runAwaiting() }
      try command.run()
      try Output.standard.flush()
    } catch {
      exit(report(error))
    }
    exit(ExitStatus.done.rawValue)
  }

  /// Runs a command that awaits. It is parsed again in its task, as a command can't be handed over to one.
  private static func runAwaiting() -> Never {
    Task {
      do {
        guard var command = try parseAsRoot() as? any AsyncParsableCommand else {
          exit(ExitStatus.fault.rawValue)
        }
        try await command.run()
        try Output.standard.flush()
      } catch {
        exit(report(error))
      }
      exit(ExitStatus.done.rawValue)
    }
    Pause.forever()
  }

  private static func exit(_ status: Int32) -> Never {
    Stores.closeAll()
    CurrentProcess.exit(status)
  }

  /// Says what went wrong and gives the status for it.
  private static func report(_ error: any Error) -> Int32 {
    if case Output.Failure.closedPipe = error { return ExitStatus.done.rawValue }
    if let silent = error as? ExitStatus {
      try? Output.standard.flush()
      return silent.rawValue
    }
    if let status = ExitStatus(error) {
      try? Output.standard.flush()
      Message.write("cdtquery: \(error)")
      return status.rawValue
    }
    return reportParsing(error)
  }

  /// Help and version are asked for, bad usage is refused; whatever else comes here should not have.
  private static func reportParsing(_ error: any Error) -> Int32 {
    let code = exitCode(for: error)
    if code.isSuccess {
      do {
        try Output.standard.line(fullMessage(for: error))
        try Output.standard.flush()
        return ExitStatus.done.rawValue
      } catch {
        return report(error)
      }
    }
    guard code == .validationFailure else {
      Message.write("cdtquery: \(error); this is a defect of cdtquery, please report it")
      return ExitStatus.fault.rawValue
    }
    let text = fullMessage(for: error)
    let prefix = "Error: "
    Message.write("cdtquery: " + (text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text))
    return ExitStatus.usage.rawValue
  }
}
