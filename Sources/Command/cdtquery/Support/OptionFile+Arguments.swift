import ArgumentParser

extension OptionFile {
  /// The options of a file without sections, as arguments of a command, without those that its other arguments have. Each is parsed
  /// as if it were on the command line.
  ///
  /// - Parameters:
  ///   - command: The command, which needs one argument besides options.
  ///   - repeatable: The options that may be given several times.
  ///   - given: The other arguments.
  /// - Throws: ``ToolError`` that names the line.
  func arguments(
    of command: (some ParsableCommand).Type, repeatable: Set<String>, besides given: [String]
  ) throws -> [String] {
    if let section = sections.first(where: { $0.name != "" }) {
      throw error(section.line, "the file of this command has no sections; leave out [\(section.name)]")
    }
    let names = given.prefix { $0 != "--" }.map { String($0.prefix { $0 != "=" }) }
    var lines: [String: Int] = [:]
    return try (sections.first?.entries ?? []).compactMap { entry in
      let argument = "--\(entry.name)" + (entry.value.map { "=\($0)" } ?? "")
      guard entry.name != "config" else {
        throw error(entry.line, "a file of options can't name another one")
      }
      if let earlier = lines.updateValue(entry.line, forKey: entry.name), !repeatable.contains(entry.name) {
        throw error(entry.line, "\(entry.name) is already in line \(earlier)")
      }
      do {
        _ = try command.parse([".", argument])
      } catch {
        // Not an option but a request for help, or the like.
        throw self.error(
          entry.line,
          command.exitCode(for: error).isSuccess
            ? "Unknown option '--\(entry.name)'" : command.message(for: error))
      }
      return names.contains("--\(entry.name)") ? nil : argument
    }
  }
}
