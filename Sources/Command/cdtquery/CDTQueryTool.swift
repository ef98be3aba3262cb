import ArgumentParser
import CDTPlatform

#if !Command
  #error("cdtquery needs the trait Command: swift build --traits Command")
#endif

/// The command-line tool. Each subcommand has a file in `Commands`.
@main
struct CDTQueryTool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cdtquery",
    abstract: "Store and query JSON documents.",
    discussion: """
      STORE is a directory and a store name, as in people/contacts. Data goes to \
      standard output, JSON by default; progress and errors go to standard error. Arguments after -- are not read as \
      options.

      EXIT CODES
        0   done
        1   test, check or verify found problems; diff found differences
        64  bad usage
        65  bad data or query
        66  no such store or document
        69  busy: another process was writing for too long
        70  internal error
        73  cannot create
        74  input or output failed
        77  a server refused the user

      find, count, group, distinct, describe and sample also take a file that import reads, or - for standard input, in place of a store. These, \
      explain, get, changes, export, import, index, backup and verify take the URL of a database, and test --at takes that of a \
      server; see docs/remote.md. Commands that read documents also take the state of a backup, BACKUP@TIME; see docs/backup.md. URLs, replicate, serve, look and user need a build with them: make server.

      EXAMPLE, used by the examples of the commands
        $ printf '{"_id":"mike","age":36}\\n{"_id":"zoe","age":12}\\n' > people.jsonl
        $ cdtquery import people/contacts people.jsonl
        2 imported
        $ cdtquery find people/contacts '{"age": {"$gte": 18}}'
        {"_id":"mike","_rev":"1-dc7c404fb82b5e0160f925a3aaa9534b","age":36}
      """,
    version: Version.current,
    subcommands: [
      ImportCommand.self, ExportCommand.self, GetCommand.self, PutCommand.self, UpdateCommand.self,
      DeleteCommand.self, FindCommand.self, ExplainCommand.self, CountCommand.self, GroupCommand.self,
      DistinctCommand.self, DescribeCommand.self, SampleCommand.self, IndexCommand.self,
      ChangesCommand.self, LogCommand.self, ConflictsCommand.self, ResolveCommand.self,
      AttachmentCommand.self,
      RulesCommand.self,
      InfoCommand.self, CheckCommand.self, BackupCommand.self, RestoreCommand.self, DiffCommand.self,
      VerifyCommand.self,
      RecoverCommand.self, CompactCommand.self, RekeyCommand.self, ListCommand.self, DropCommand.self,
      TestCommand.self,
      ReplicateCommand.self, ServeCommand.self, UserCommand.self, LookCommand.self, MCPCommand.self,
    ])

  static func main() {
    // A reader may close the pipe early, which ends the output and is not an error.
    CurrentProcess.ignoreSignalsOfWrites()
    CopiedPageMessage.enable()
    do {
      try checkEncoding()
      var command = try parseAsRoot(Array(CurrentProcess.arguments.dropFirst()))
      try command.run()
      try Output.standard.flush()
    } catch {
      exit(report(error))
    }
    exit(.done)
  }

  /// Throws if an argument is not UTF-8. Swift would replace its invalid bytes, which names another store, file or
  /// document.
  private static func checkEncoding() throws(ToolError) {
    guard let number = CurrentProcess.misencodedArgument, number > 0 else { return }
    let shown = CurrentProcess.arguments[number]
    throw ToolError(
      .usage,
      "argument \(number), \"\(shown)\", is not UTF-8; convert it, and rename a file whose name is not UTF-8")
  }

  private static func exit(_ status: ExitStatus) -> Never {
    Stores.closeAll()
    CurrentProcess.exit(status.rawValue)
  }
}
