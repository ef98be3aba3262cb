import ArgumentParser
import CDTPlatform

/// How documents are printed.
struct OutputOptions: ParsableArguments {
  @Option(help: "How documents are printed; auto is a table on a terminal, else jsonl. (default: jsonl)")
  var format: ResultFormat?
  @Flag(help: "Print JSON over several lines, with indentation.") var pretty = false
  @Flag(help: "Leave out _rev.") var noRev = false
  @Flag(help: "Print the fields of objects in columns of their own, as in pet.species.") var flatten = false

  init() {}

  var isEmpty: Bool { format == nil && !pretty && !noRev && !flatten }

  func validate() throws {
    guard !pretty || [nil, .jsonl, .json].contains(format) else {
      throw ValidationError("--pretty is for JSON; leave it out with --format \(format?.rawValue ?? "")")
    }
    guard !flatten || [.table, .csv, .tsv, .auto].contains(format) else {
      throw ValidationError("--flatten is for tables; give --format table, csv or tsv")
    }
  }
}

/// The terminal that a command writes to.
enum Terminal {
  /// Whether standard output shows colors: it is a terminal, and its user has not asked for text without them.
  static let hasColors: Bool = {
    let environment = ProcessInfo.processInfo.environment
    return OpenFile.standardOutput.isTerminal && environment["NO_COLOR", default: ""].isEmpty
      && environment["TERM"] != "dumb"
  }()

  private static let isShown = OpenFile.standardOutput.isTerminal

  /// Text of documents, which could control the terminal, as it can be shown: where standard output is a terminal, with `\u{FFFD}`
  /// in place of control characters and of those that change the direction of text.
  static func shown(_ text: String) -> String { isShown ? printable(text) : text }

  /// The same for JSON, with escapes in place of such characters.
  static func shownJSON(_ text: UnsafeRawBufferPointer) -> [UInt8] {
    guard isShown else { return Array(text) }
    var shown = ""
    for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
      if controls(scalar) {
        let digits = String(scalar.value, radix: 16)
        shown += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      } else {
        shown.unicodeScalars.append(scalar)
      }
    }
    return Array(shown.utf8)
  }

  /// The text with `\u{FFFD}` in place of characters that control a terminal, but for line feeds and tabs.
  static func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: controls) else { return text }
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { shown.append(controls(scalar) ? "\u{FFFD}" : scalar) }
    return String(shown)
  }

  /// Whether a character controls a terminal or changes the direction of the text that follows.
  static func controls(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A: false
    case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200B, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x206F, 0xFEFF:
      true
    default: false
    }
  }

  /// The columns of standard output, if it is a terminal.
  static var columns: Int? { OpenFile.standardOutput.terminalColumns }
}
