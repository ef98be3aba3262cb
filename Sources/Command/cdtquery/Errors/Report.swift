import ArgumentParser
import CDTJSON
import CDTPlatform

extension ParsableCommand {
  /// Prints the error that ended a run, or help, or the version.
  ///
  /// Errors that no status is known for are internal ones.
  static func report(_ error: any Error) -> ExitStatus {
    if case Output.Failure.closedPipe = error { return .done }
    if let silent = error as? ExitStatus {
      try? Output.standard.flush()
      return silent
    }
    if let status = ExitStatus(error) {
      try? Output.standard.flush()
      Message.write("cdtquery: \(ErrorText.of(error))")
      return status
    }
    return reportParsing(error)
  }

  private static func reportParsing(_ error: any Error) -> ExitStatus {
    // Also "help improt" is about a misspelled command, although the parser would help with all of them.
    if let error = CommandNames.misspelled(in: CurrentProcess.arguments.dropFirst(), of: Self.self) {
      return report(error)
    }
    let code = exitCode(for: error)
    if code.isSuccess {
      do {
        try Output.standard.line(fullMessage(for: error))
        try Output.standard.flush()
        return .done
      } catch {
        return report(error)
      }
    }
    guard code == .validationFailure else {
      Message.write("cdtquery: \(error); this is an internal error of cdtquery, please report it")
      return .fault
    }
    let text = fullMessage(for: error)
    let prefix = "Error: "
    let shown = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    Message.write("cdtquery: " + withOtherToolsOption(shown))
    return .usage
  }

  /// The equivalents of other tools' options.
  private static var otherNames: [String: String] {
    [
      "--where": "the selector is an argument: cdtquery find people/contacts '{\"age\": 36}'",
      "--filter": "the selector is an argument: cdtquery find people/contacts '{\"age\": 36}'",
      "--query": "the selector is an argument: cdtquery find people/contacts '{\"age\": 36}'",
      "--order": "did you mean '--sort'?", "--order-by": "did you mean '--sort'?",
      "--columns": "did you mean '--fields'?", "--select": "did you mean '--fields'?",
      "--pk": "did you mean '--id'?", "--head": "did you mean '--limit'?", "-n": "did you mean '--limit'?",
      "--desc": SelectorArgument.descending,
      "--count": "'cdtquery group --by FIELD --count NAME' counts the documents of each value",
      "--inc": "did you mean '--increment'?", "--push": "did you mean '--append'?",
      "--pull": "did you mean '--remove'?",
    ]
  }

  /// The message about an unknown option, with the name that it has here in place of the nearest one. What else is wrong may be only
  /// because of it.
  private static func withOtherToolsOption(_ text: String) -> String {
    let given = CurrentProcess.arguments.dropFirst().prefix { $0 != "--" }
    let lines = text.splitBytes(at: "\n")
    for argument in given {
      guard let name = argument.splitBytes(at: "=").first, let instead = otherNames[name],
        text.hasPrefix("Unknown option '\(name)'") || text.hasPrefix("nothing is to be changed")
      else { continue }
      return (["Unknown option '\(name)'; \(instead)"] + lines.dropFirst()).joined(separator: "\n")
    }
    return text
  }
}
