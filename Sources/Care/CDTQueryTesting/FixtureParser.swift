import CDTDatastore
import CDTJSON
import CDTQuery

/// Parses a fixture: sections under headings, with comments.
struct FixtureParser {
  let lines: [String]
  private let name: String
  private var position = 0

  private(set) var documents: [DocumentRevision] = []
  private(set) var indexes: [IndexDefinition] = []
  private(set) var rules: JSONObject?
  private(set) var cases: [QueryFixture.Case] = []

  private static let heading = "== "
  private static let divider = "----"

  init(_ text: String, name: String) {
    self.name = name
    var text = text
    // Split bytes, as a carriage return and a line feed are one Character.
    lines = text.withUTF8 { utf8 in
      utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
        String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
      }
    }
  }

  mutating func parse() throws(FixtureError) {
    while let line = nextLine() {
      guard line.hasPrefix(Self.heading) else {
        throw error(
          "the line is outside any section; start one with \"== documents\", \"== indexes\" or \"== a case's name\""
        )
      }
      let title = String(line.dropFirst(Self.heading.count).drop { $0 == " " })
      switch title {
      case "documents": try parseDocuments()
      case "indexes": try parseIndexes()
      case "rules": try parseRules()
      case "": throw error("the heading has no name; add one")
      default: try parseCase(title)
      }
    }
  }

  // MARK: Lines

  private func error(_ message: String) -> FixtureError {
    FixtureError(file: name, line: position, message: message)
  }

  private static func isContent(_ line: String) -> Bool {
    line.utf8.contains { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") } && !line.hasPrefix("#")
  }

  /// The next line that is not empty or a comment.
  private mutating func nextLine() -> String? {
    while position < lines.count {
      let line = lines[position]
      position += 1
      if Self.isContent(line) { return line }
    }
    return nil
  }

  /// The next line of the section, or `nil` before a heading and at the end.
  private mutating func nextInSection() -> String? {
    let start = position
    guard let line = nextLine() else { return nil }
    if line.hasPrefix(Self.heading) {
      position = start
      return nil
    }
    return line
  }

  // MARK: Sections

  private mutating func parseDocuments() throws(FixtureError) {
    while let line = nextInSection() {
      var body: JSONObject
      do {
        body = try JSONObject(parsing: line)
      } catch {
        throw self.error("not a document: \(error)")
      }
      guard let id = body["_id"]?.stringValue else {
        throw error("the document has no _id; write it as in {\"_id\": \"a\", …}")
      }
      guard !documents.contains(where: { $0.id.hasSameBytes(as: id) }) else {
        throw error("the document \(JSONValue.string(id).text) is already above")
      }
      body["_id"] = nil
      body["_rev"] = nil
      documents.append(DocumentRevision(id: id, revisionID: Self.revisionID, body: body))
    }
  }

  /// The revision of a document in memory. Real revision ids can't be written by hand.
  private static let revisionID = RevisionID(generation: 1, suffix: "fixture")

  private mutating func parseIndexes() throws(FixtureError) {
    while let line = nextInSection() {
      do {
        indexes.append(try Self.index(line))
      } catch {
        throw self.error("not an index: \(error)")
      }
    }
    guard indexes.count(where: { $0.type == .text }) < 2 else {
      throw error("there are two text indexes; keep one")
    }
  }

  /// `name age:desc`, `["name", {"age": "desc"}]`, `{"fields": ["name"], "type": "text"}`,
  /// `{"fields": ["name"], "where": {"age": {"$gte": 18}}}`, or `{"fields": ["name"], "collation": "unicode"}`.
  private static func index(_ line: String) throws -> IndexDefinition {
    guard line.hasPrefix("[") || line.hasPrefix("{") else {
      let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
      let fields = try SortField.fields(words: words, at: "fields")
      return try IndexDefinition(fields: fields)
    }
    let value = try JSONValue(parsing: line)
    return try IndexDefinition(json: value.objectValue ?? ["fields": value])
  }

  private mutating func parseRules() throws(FixtureError) {
    let heading = position
    var text: [String] = []
    while let line = nextInSection() { text.append(line) }
    do {
      rules = try DesignRules.parse(text.joined(separator: "\n"))
    } catch {
      throw FixtureError(file: name, line: heading, message: "not rules: \(error)")
    }
  }

  private mutating func parseCase(_ title: String) throws(FixtureError) {
    let headingLine = position
    var request: [String] = []
    while true {
      guard let line = nextInSection() else {
        throw FixtureError(
          file: name, line: headingLine,
          message: "the case needs a line \"----\" between its query and its answer")
      }
      if line == Self.divider { break }
      request.append(line)
    }
    let start = position
    var end = position
    var golden: [String] = []
    while let line = nextInSection() {
      golden.append(line)
      end = position
    }
    do {
      cases.append(
        QueryFixture.Case(
          name: title, line: headingLine, request: request.joined(separator: "\n"),
          golden: rules == nil ? try FixtureAnswer(lines: golden) : FixtureAnswer(failures: golden),
          goldenLines: start..<end))
    } catch {
      throw FixtureError(file: name, line: start + 1, message: "not an answer: \(error)")
    }
  }
}
