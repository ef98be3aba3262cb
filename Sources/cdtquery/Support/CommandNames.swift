import ArgumentParser
import CDTCommandLine
import CDTQuery

/// The names of the commands, for one that is misspelled.
enum CommandNames {
  /// Throws if a word stands where a command must, and is none. The argument parser would call it and all behind it
  /// unexpected.
  static func check(
    _ arguments: ArraySlice<String>, of command: any ParsableCommand.Type, named path: String = "cdtquery"
  ) throws {
    let subcommands = command.configuration.subcommands
    guard let word = arguments.first, !word.hasPrefix("-"), !subcommands.isEmpty else { return }
    if let found = subcommands.first(where: { $0.configuration.commandName == word }) {
      return try check(arguments.dropFirst(), of: found, named: "\(path) \(word)")
    }
    if word == "help" { return try check(arguments.dropFirst(), of: command, named: path) }
    var names = subcommands.compactMap { $0.configuration.commandName }
    if path == "cdtquery" { names += ServerProgram.commands }
    if names.contains(word) { return }
    let meant = NearestName.of(word, among: names).map { "; did you mean \"\($0)\"?" } ?? ";"
    throw ToolError(
      .usage, "there is no command \"\(path) \(word)\"\(meant) \"\(path) --help\" lists the commands")
  }
}
