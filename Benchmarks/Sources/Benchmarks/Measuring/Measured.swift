import CDTJSON
import FoundationEssentials

/// The result of a command: written as JSON, and shown as tables that are made of nothing else.
protocol Measured: Codable {
  var machine: Machine { get }
  var tables: [MarkdownTable] { get }
}

extension Measured {
  init(from file: String) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(filePath: file)))
  }

  /// Writes the result with a line for each case, so that a new one can be compared with it.
  func write(to file: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let json = try JSONValue(parsing: Array(encoder.encode(self)))
    try Data((Self.text(json, isWhole: true) + "\n").utf8).write(to: URL(filePath: file))
  }

  /// A value on one line, unless it is the whole result or one of its parts with many cases.
  private static func text(_ value: JSONValue, isWhole: Bool = false) -> String {
    let line = value.text
    if !isWhole, line.utf8.count <= 2_000 { return line }
    switch value {
    case .object(let object):
      let members = object.map { "\(JSONValue.string($0).text):\(text($1))" }
      return "{\n" + members.joined(separator: ",\n") + "\n}"
    case .array(let elements):
      return "[\n" + elements.map { text($0) }.joined(separator: ",\n") + "\n]"
    default: return line
    }
  }
}
