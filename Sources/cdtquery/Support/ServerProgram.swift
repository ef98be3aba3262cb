import CDTCommandLine
import CDTPlatform

/// The program that has the commands of the server. It is apart from this one because of what it is made of: an HTTP
/// server takes longer to compile than everything else.
enum ServerProgram {
  static let commands = ["replicate", "serve", "user"]

  /// Becomes the program, if the arguments are for it.
  static func runIfAsked(_ arguments: ArraySlice<String>) throws(ToolError) {
    guard let command = arguments.first, commands.contains(command) else { return }
    let path = CurrentProcess.directory.map { "\($0)/cdtquery-server" } ?? "cdtquery-server"
    let error = CurrentProcess.become(path, Array(arguments))
    guard error.isMissing else {
      throw ToolError(.io, "can't start \(path): \(error); check its permissions")
    }
    throw ToolError(
      .missing,
      "\(command) needs the program cdtquery-server beside cdtquery; build it with make server")
  }
}
