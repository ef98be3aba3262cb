import ArgumentParser

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
    if let error = CommandNames.misspelled(in: CommandLine.arguments.dropFirst(), of: Self.self) {
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
    Message.write("cdtquery: " + (text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text))
    return .usage
  }
}
