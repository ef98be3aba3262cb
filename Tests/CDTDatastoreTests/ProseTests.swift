import CDTTestSupport
import Foundation
import Testing

/// Comments and pages are written in plain technical English.
@Suite struct ProseTests {
  /// Words that a doc comment and the name of a test don't begin with. Write a noun phrase for a property ("The longest wait before …"),
  /// a verb in the third person for a function ("Removes …"), and a fact for a test ("a file of another version is refused").
  static let questions = ["What", "Who", "Whose", "Whom", "Which", "Where", "When", "How", "Why"]

  /// Openings of a doc comment that leave out its noun, which is lost when a line is inserted before it. Write "The documents that …" in
  /// place of "Those that …", and "Schedules …" in place of "Has … scheduled".
  private static var openings: Regex<Substring> {
    /^(?:Those|These|They|Has|The same (?:for|of|on|as|from|if|with|in)|Whether (?:those|these|they))\b/
  }

  /// Phrases that a reader has to read twice, unless "there" comes before or "longer" after. Write "is not a number" and "has no value" in
  /// place of "is no number" and "is none", "anyone who" in place of "whoever", "again" in place of "anew", and the noun in place of
  /// "another passphrase".
  static let phrases = [
    "is no", "are no", "was no", "were no", "is none", "are none", "be none", "was none", "than none",
    "whoever", "anew", "another one",
  ]

  /// Names for which the field has a word: completeUpTo, stale rows, overflow, requested, actual and estimated, suggested, left
  /// the filter, reported, shouldContinue, maximum….
  private static var names: Regex<(Substring, Substring)> {
    /\b(floor\(of|isApart|hasApart|strays|isAsked|AskedField|wishe[ds]\w*|WishedIndex|isDeparted|isTold|goesOn|most[A-Z]\w*)\b/
  }

  @Test(arguments: [("Sources", ".swift"), ("Sources", ".js"), ("docs", ".md")])
  func `names are words of the field`(_ directory: String, _ ending: String) throws {
    let names = Self.names
    for (path, lines) in try files(in: directory, ending: ending) {
      for (number, line) in lines.enumerated() where line.contains(names) {
        Issue.record("\(path):\(number + 1): \(line)")
      }
    }
  }

  @Test(arguments: ["Sources", "Benchmarks/Sources", "Examples/Sources", "Tests/Support"])
  func `doc comments begin with a noun or a verb`(_ directory: String) throws {
    for (path, lines) in try files(in: directory, ending: ".swift") {
      for (number, line) in lines.enumerated() where line.hasPrefix("/// ") {
        // A paragraph continues on the lines after its first one, and the text of a parameter follows its name.
        var text = line.dropFirst(4).drop { $0 == " " }
        if text.hasPrefix("- "), let colon = text.firstIndex(of: ":") {
          text = text[colon...].dropFirst(2)
        } else if number > 0, lines[number - 1].hasPrefix("///") {
          continue
        }
        let words = text.split(separator: " ", maxSplits: 2)
        let isQuestion =
          words.count > 1 && Self.questions.contains(String(words[0])) && words[1].first?.isLowercase == true
        if isQuestion || text.prefixMatch(of: Self.openings) != nil {
          Issue.record("\(path):\(number + 1): \(line)")
        }
      }
    }
  }

  @Test(arguments: [("Sources", ".swift"), ("Sources", ".md"), ("docs", ".md")])
  func `comments and pages have no phrases that are read twice`(_ directory: String, _ ending: String) throws
  {
    for (path, lines) in try files(in: directory, ending: ending) {
      let prose = ending == ".swift" ? lines.map { $0.hasPrefix("//") ? $0 : "" } : lines
      for (number, phrase) in Self.occurrences(in: prose) {
        Issue.record("\(path):\(number + 1): \"\(phrase)\" in: \(lines[number])")
      }
    }
  }

  @Test func `names of tests are facts`() throws {
    for (path, lines) in try files(in: "Tests", ending: ".swift") {
      let names = lines.map { line -> Substring in
        line.firstMatch(of: /func `([^`]+)`/)?.1 ?? ""
      }
      let found = Self.occurrences(in: names).map(\.line)
      for (number, name) in names.enumerated() {
        let first = name.prefix { $0 != " " }.capitalized
        if found.contains(number) || Self.questions.contains(first) {
          Issue.record("\(path):\(number + 1): \(name)")
        }
      }
    }
  }

  @Test func `phrases are found across lines`() {
    let lines: [Substring] = [
      "/// The number; `nil` if the text is", "/// none. What is no document", "/// and what are no",
      "/// rows",
      "/// There is no such index, it is no", "/// longer there, and there are", "/// none.", "", "/// is",
      "", "/// no",
    ]
    let found = Self.occurrences(in: lines)
    #expect(found.map(\.line) == [0, 1, 2])
    #expect(found.map(\.phrase) == ["is none", "is no", "are no"])
  }

  /// The phrases in the lines, which may continue on the next line, each with the index of the line in which it begins.
  private static func occurrences(in lines: [Substring]) -> [(line: Int, phrase: String)] {
    var words: [(text: String, line: Int)] = []
    for (line, text) in lines.enumerated() {
      let parts = text.split { $0 == " " || $0 == "/" }
      if parts.isEmpty { words.append(("", line)) }
      words += parts.map { (String($0.prefix { $0.isLetter }).lowercased(), line) }
    }
    func word(_ index: Int) -> String { words.indices.contains(index) ? words[index].text : "" }
    return words.indices.compactMap { index in
      let candidates = [word(index), "\(word(index)) \(word(index + 1))"]
      guard let phrase = phrases.first(where: candidates.contains), word(index - 1) != "there",
        word(index + 2) != "longer"
      else { return nil }
      return (words[index].line, phrase)
    }
  }

  /// The lines of the files, without the spaces before them, each file with its path in the repository.
  private func files(in directory: String, ending: String) throws -> [(path: String, lines: [Substring])] {
    let root = Repository.root.appending(path: directory)
    let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { $0.hasSuffix(ending) }
    #expect(paths.count > 3)
    return try paths.map { path in
      let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      return ("\(directory)/\(path)", lines.map { $0.drop { $0 == " " } })
    }
  }
}
