/// Commands with their output, as help and pages show them: a line that begins with `$ ` is a command, a backslash at
/// its end continues it, as do lines behind `> ` that follow, and the lines up to the next command are its output. In output, `…` stands for any text in a
/// line, and a line that is `…` alone for any lines.
struct Example: Sendable {
  var command: String
  var output: [String] = []
  /// Where it stands.
  let line: Int
}

enum Examples {
  static func read(_ lines: [(number: Int, text: String)]) -> [Example] {
    var examples: [Example] = []
    var isContinued = false
    for (number, text) in lines {
      if isContinued {
        examples[examples.count - 1].command += "\n" + text
      } else if text.hasPrefix("$ ") {
        examples.append(Example(command: String(text.dropFirst(2)), line: number))
      } else if let last = examples.last, last.output.isEmpty, text == ">" || text.hasPrefix("> ") {
        examples[examples.count - 1].command += "\n" + text.dropFirst(2)
      } else if !examples.isEmpty {
        examples[examples.count - 1].output.append(text)
        continue
      } else {
        continue
      }
      isContinued = text.hasSuffix("\\")
    }
    for index in examples.indices {
      while examples[index].output.last?.isEmpty == true { examples[index].output.removeLast() }
    }
    return examples
  }

  /// Whether a text is as the pattern shows it.
  static func matches(_ text: String, _ pattern: String) -> Bool {
    matches(lines(text)[...], lines(pattern)[...])
  }

  private static func lines(_ text: String) -> [Substring] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }

  private static func matches(_ text: ArraySlice<Substring>, _ pattern: ArraySlice<Substring>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first == "…" {
      return (text.startIndex...text.endIndex).contains { matches(text[$0...], pattern.dropFirst()) }
    }
    guard let line = text.first, lineMatches(line, first) else { return false }
    return matches(text.dropFirst(), pattern.dropFirst())
  }

  private static func lineMatches(_ text: Substring, _ pattern: Substring) -> Bool {
    let parts = pattern.split(separator: "…", omittingEmptySubsequences: false)
    guard parts.count > 1, let first = parts.first, let last = parts.last else { return text == pattern }
    guard text.hasPrefix(first) else { return false }
    var rest = text.dropFirst(first.count)
    for part in parts.dropFirst().dropLast() {
      guard let found = rest.firstRange(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return rest.hasSuffix(last)
  }
}

extension Substring {
  /// Where a part first stands; an empty one stands everywhere.
  fileprivate func firstRange(of part: Substring) -> Range<Index>? {
    var start = startIndex
    while true {
      if self[start...].hasPrefix(part) { return start..<index(start, offsetBy: part.count) }
      guard start < endIndex else { return nil }
      start = index(after: start)
    }
  }
}
