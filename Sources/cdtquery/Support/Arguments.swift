import CDTCommandLine

/// The arguments of the command line.
enum Arguments {
  /// Throws if an argument is not UTF-8. Swift would replace its invalid bytes, which names another store, file or
  /// document.
  static func check() throws(ToolError) {
    for number in 1..<max(1, Int(CommandLine.argc)) {
      guard let argument = CommandLine.unsafeArgv[number], String(validatingCString: argument) == nil else {
        continue
      }
      let shown = String(cString: argument)
      throw ToolError(
        .usage,
        "argument \(number), \"\(shown)\", is not UTF-8; convert it, and rename a file whose name is not UTF-8"
      )
    }
  }
}
