import ArgumentParser
import CDTQuery

/// The names of the commands, for one that is misspelled.
enum CommandNames {
  /// The error if a word stands in place of a command and is not one; `nil` if there is no such word. The argument parser calls
  /// the word and all behind it unexpected.
  static func misspelled(
    in arguments: ArraySlice<String>, of command: any ParsableCommand.Type, named path: String = "cdtquery"
  ) -> ToolError? {
    let subcommands = command.configuration.subcommands
    guard let word = arguments.first, !word.hasPrefix("-"), !subcommands.isEmpty else { return nil }
    if let found = subcommands.first(where: { $0.configuration.commandName == word }) {
      return misspelled(in: arguments.dropFirst(), of: found, named: "\(path) \(word)")
    }
    if word == "help" { return misspelled(in: arguments.dropFirst(), of: command, named: path) }
    let names = subcommands.compactMap { $0.configuration.commandName }
    let meant = NearestName.of(word, among: names).map { "; did you mean \"\($0)\"?" } ?? ";"
    return ToolError(
      .usage, "there is no command \"\(path) \(word)\"\(meant) \"\(path) --help\" lists the commands")
  }
}
