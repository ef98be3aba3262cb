import FoundationEssentials

/// What a command found: written as JSON, and shown as tables that are made of nothing else.
protocol Measured: Codable {
  var machine: Machine { get }
  var tables: [MarkdownTable] { get }
}

extension Measured {
  init(from file: String) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(filePath: file)))
  }

  func write(to file: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try (encoder.encode(self) + Data("\n".utf8)).write(to: URL(filePath: file))
  }
}
