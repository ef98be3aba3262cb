import CDTCommandLine
import CDTPlatform

/// The program that has the commands of the server. It is apart from this one because of what it is made of: an HTTP
/// server takes longer to compile than everything else.
enum ServerProgram {
  static let commands = ["replicate", "serve", "user"]
  /// Commands of both programs. This one has them for stores, the other for the URLs of databases.
  static let sharedCommands = ["find", "count", "explain", "get", "changes", "export", "import", "index"]

  /// Becomes the program, if the arguments are for it.
  static func runIfAsked(_ arguments: ArraySlice<String>) throws(ToolError) {
    guard let command = arguments.first, isForServer(command, arguments.dropFirst()) else { return }
    let path = CurrentProcess.directory.map { "\($0)/cdtquery-server" } ?? "cdtquery-server"
    let error = CurrentProcess.become(path, Array(arguments))
    guard error.isMissing else {
      throw ToolError(.io, "can't start \(path): \(error); check its permissions")
    }
    throw ToolError(
      .missing,
      "\(command) needs the program cdtquery-server beside cdtquery; build it with make server")
  }

  /// A URL stands where the store does, directly after the command; after that of `index`, too.
  private static func isForServer(_ command: String, _ rest: ArraySlice<String>) -> Bool {
    if commands.contains(command) { return true }
    if command == "test" { return rest.contains { $0 == "--at" || $0.hasPrefix("--at=") } }
    let rest = command == "index" ? rest.dropFirst() : rest
    return sharedCommands.contains(command) && rest.first.map(StoreArgument.isURL) == true
  }
}
