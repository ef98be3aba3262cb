import ArgumentParser
import Glibc

/// The command line: one subcommand a file in `Commands`.
@main
struct CDTQueryTool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cdtquery",
    abstract: "Keep JSON documents in a store, and ask for them.",
    discussion: """
      STORE is the path of a store: the directory of its manager and its name, as in people/contacts. Data goes to
      standard output, JSON by default; progress and errors go to standard error.

      Exit codes: 0 done, 1 findings of test and check, 64 bad usage, 65 bad data or query, 66 no such store or \
      document, 69 busy, 70 our fault, 73 cannot create, 74 input or output failed.

      EXAMPLE
        $ echo '{"_id": "mike", "age": 36}' | cdtquery import people/contacts -
        $ cdtquery find people/contacts '{"age": {"$gte": 18}}'
      """,
    version: "0.1.0",
    subcommands: [
      ImportCommand.self, ExportCommand.self, GetCommand.self, PutCommand.self, DeleteCommand.self,
      FindCommand.self, ExplainCommand.self, CountCommand.self, IndexCommand.self, InfoCommand.self,
      ListCommand.self, DropCommand.self, TestCommand.self,
    ])

  static func main() {
    // A reader that has seen enough closes the pipe; that ends the output, and is no error.
    signal(SIGPIPE, SIG_IGN)
    let status: Int32
    do {
      var command = try parseAsRoot()
      try command.run()
      try Output.standard.flush()
      status = ExitStatus.done.rawValue
    } catch {
      status = report(error)
    }
    Glibc.exit(status)
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
    // ArgumentParser's own: help and version are asked for, everything else is bad usage.
    let text = fullMessage(for: error)
    if exitCode(for: error).isSuccess {
      print(text)
      return ExitStatus.done.rawValue
    }
    Message.write(text)
    return ExitStatus.usage.rawValue
  }
}
