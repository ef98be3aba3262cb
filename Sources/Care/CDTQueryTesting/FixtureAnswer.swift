import CDTDatastore
package import CDTJSON
import CDTQuery

/// The result of a query, in the form of goldens.
package enum FixtureAnswer: Sendable, Equatable {
  /// The ids of whole documents.
  case ids([String])
  /// Projected documents with their ids, or rows of groups.
  case documents([JSONObject])
  /// The failures of a write by rules; empty if it is allowed.
  case failures([String])
  /// The message of an error.
  case error(String)

  /// The outcome of a write by rules.
  init(ofWrite run: () throws -> RuleViolation?) {
    do {
      let violation = try run()
      let failures = violation?.failures.map(\.description) ?? []
      self = .failures(violation?.isUnauthorized == true ? ["unauthorized"] + failures : failures)
    } catch {
      self = .error(String(describing: error))
    }
  }

  /// Parses the failures of a write; `nil` if there are no lines.
  init?(failures lines: [String]) {
    guard let first = lines.first else { return nil }
    if let message = first.afterBytePrefix("error: ") {
      self = .error(String(message))
    } else {
      self = .failures(lines == ["allowed"] ? [] : lines)
    }
  }

  /// Runs a query and captures its result.
  init(of query: Query, _ run: () throws -> [DocumentRevision]) {
    do {
      let documents = try run()
      self =
        query.fields.isEmpty ? .ids(documents.map(\.id)) : .documents(documents.map(Self.projected))
    } catch {
      self = .error(String(describing: error))
    }
  }

  /// Runs a query for groups and captures its rows.
  init(groups run: () throws -> [JSONObject]) {
    do {
      self = .documents(try run())
    } catch {
      self = .error(String(describing: error))
    }
  }

  /// Runs a query for ids and captures its result.
  init(ids run: () throws -> [String]) {
    do {
      self = .ids(try run())
    } catch {
      self = .error(String(describing: error))
    }
  }

  /// A result without its revision, which can't be written by hand.
  private static func projected(_ document: DocumentRevision) -> JSONObject {
    var json = document.json
    json["_rev"] = nil
    return json
  }

  /// The answer without an order, for requests without a sort.
  package var inAnyOrder: FixtureAnswer {
    switch self {
    case .ids(let ids): .ids(ids.sorted { $0.precedesInBytes($1) })
    case .documents(let documents):
      .documents(documents.sorted { Self.id(of: $0).precedesInBytes(Self.id(of: $1)) })
    case .error, .failures: self
    }
  }

  private static func id(of document: JSONObject) -> String { document["_id"]?.stringValue ?? "" }

  /// Whether both have the same text: ids and members are compared byte by byte, in order.
  package static func == (left: FixtureAnswer, right: FixtureAnswer) -> Bool {
    left.items.elementsEqual(right.items) { $0.hasSameBytes(as: $1) }
  }
}

// MARK: - Text

extension FixtureAnswer {
  /// The items of the answer, as shown in a difference.
  package var items: [String] {
    switch self {
    case .ids([]), .documents([]): ["none"]
    case .failures(let failures): failures.isEmpty ? ["allowed"] : failures
    case .ids(let ids): ids.map(Self.spelling)
    case .documents(let documents): documents.map(\.text)
    case .error(let message): ["error: \(message)"]
    }
  }

  /// The answer as in a fixture: ids on one line, other items on one line each.
  var lines: [String] {
    guard case .ids = self else { return items }
    var lines: [String] = []
    for id in items {
      if let last = lines.last, last.utf8.count + id.utf8.count < 100 {
        lines[lines.count - 1] = "\(last) \(id)"
      } else {
        lines.append(id)
      }
    }
    return lines
  }

  /// An id as a word, or quoted if it would be ambiguous.
  private static func spelling(of id: String) -> String {
    let isWord = !id.utf8.contains { $0 <= 0x20 || $0 == 0x7F } && !id.isEmpty
    let isPlain =
      isWord && id != "none" && id != "error:"
      && !["\"", "{", "#", "==", "----"].contains { id.hasBytePrefix($0) }
    return isPlain ? id : JSONValue.string(id).text
  }

  /// Parses an answer from its lines; `nil` if there are none.
  init?(lines: [String]) throws(JSONError) {
    guard let first = lines.first else { return nil }
    if let message = first.afterBytePrefix("error:") {
      let text = [message.drop { $0 == " " }] + lines.dropFirst().map { $0[...] }
      self = .error(text.joined(separator: "\n"))
    } else if first.hasBytePrefix("{") {
      var documents: [JSONObject] = []
      for line in lines { documents.append(try JSONObject(parsing: line)) }
      self = .documents(documents)
    } else if lines == ["none"] {
      self = .ids([])
    } else {
      var ids: [String] = []
      for line in lines { try Self.readIDs(line, into: &ids) }
      self = .ids(ids)
    }
  }

  /// Parses words and quoted strings.
  private static func readIDs(_ line: String, into ids: inout [String]) throws(JSONError) {
    var rest = Array(line.utf8)[...]
    while let first = rest.first {
      if first == UInt8(ascii: "\"") {
        let end = rest.withUnsafeBytes { JSONBytes($0).endOfString(at: 0) }
        ids.append(try JSONValue(parsing: Array(rest.prefix(end))).stringValue ?? "")
        rest = rest.dropFirst(end)
      } else if first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") {
        rest = rest.dropFirst()
      } else {
        let word = rest.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        ids.append(String(decoding: word, as: UTF8.self))
        rest = rest.dropFirst(word.count)
      }
    }
  }
}
