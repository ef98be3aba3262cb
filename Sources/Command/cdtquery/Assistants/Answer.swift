import CDTDatastore
import CDTJSON
import CDTQuery

/// The rows of an answer, up to the limits.
struct Answer {
  private let limits: AnswerLimits
  private(set) var rows: [JSONValue] = []
  private var bytes = 0
  private var notes: [String] = []

  init(_ limits: AnswerLimits) { self.limits = limits }

  /// Whether there is no room for another row.
  var isFull: Bool { rows.count >= limits.rows }

  /// Takes the room for a value, if there is any.
  private mutating func makeRoom(for value: JSONValue) -> Bool {
    let size = value.utf8Text.count
    guard bytes + size <= limits.bytes else { return false }
    bytes += size
    return true
  }

  /// Adds a row, unless there is no room for it. The first row always has room: without its long members, if it must be.
  mutating func add(_ row: JSONValue) -> Bool {
    guard !isFull else { return false }
    if makeRoom(for: row) {
      rows.append(row)
    } else {
      guard rows.isEmpty else { return false }
      notes.append(
        "the first row has \(row.utf8Text.count) bytes, more than \(limits.bytes), so its long values are cut or left out; find returns single fields of a document"
      )
      rows.append(shortened(row))
      bytes = limits.bytes
    }
    return true
  }

  /// The linked documents for which there is room, by their names and ids.
  mutating func included(_ linked: [String: Linked<DocumentRevision>]) -> JSONObject {
    var (included, left) = (JSONObject(), 0)
    for (name, documents) in linked.sorted(by: { $0.key.precedesInBytes($1.key) }) {
      var shown = JSONObject()
      for (id, document) in documents {
        let json = JSONValue.object(document.json)
        if makeRoom(for: json) { shown[id] = json } else { left += 1 }
      }
      included[name] = .object(shown)
    }
    if left > 0 { notes.append("\(left) linked documents are left out; get returns documents by their ids") }
    return included
  }

  /// Adds the rows after the first `skip` of them.
  ///
  /// - Returns: The member `more`; `nil` if all have room.
  mutating func add(_ rows: some Collection<JSONValue>, skip: Int) -> JSONObject? {
    for row in rows.dropFirst(skip) where !add(row) {
      let next = skip + self.rows.count
      return Self.more("\(rows.count - next) of \(rows.count)", ["skip": .int(Int64(next))])
    }
    return nil
  }

  /// The member `more` of an answer without all results.
  ///
  /// - Parameter arguments: The arguments with which the tool is called again for the other rows.
  static func more(_ leftOut: String, _ arguments: JSONObject) -> JSONObject {
    ["left_out": .string(leftOut), "add": .object(arguments)]
  }

  mutating func note(_ notes: [String]) { self.notes += notes }

  /// The answer, with its rows as a member.
  func json(_ name: String, more: JSONObject?) -> JSONObject {
    var json: JSONObject = [name: .array(rows)]
    if let more { json["more"] = .object(more) }
    json.add(notes: notes)
    return json
  }

  /// The beginning of a string, or the members that are in half of the limit, with long strings cut.
  private func shortened(_ value: JSONValue) -> JSONValue {
    if case .string(let text) = value { return .string("\(text.prefix(max(1, limits.bytes / 8)))…") }
    guard case .object(let members) = value else { return "…" }
    var (kept, left) = (JSONObject(), limits.bytes / 2)
    for (name, value) in members {
      let isLong = value.stringValue != nil && value.utf8Text.count > left
      let value = isLong ? shortened(value) : value
      let size = name.utf8.count + value.utf8Text.count
      guard size <= left else { continue }
      kept[name] = value
      left -= size
    }
    return .object(kept)
  }
}

extension JSONObject {
  /// Adds the notes of an answer, if there are any.
  mutating func add(notes: [String]) {
    if !notes.isEmpty { self["notes"] = .array(notes.map { .string($0) }) }
  }
}
