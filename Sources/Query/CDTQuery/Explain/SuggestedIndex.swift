import CDTIndex
package import CDTJSON
import CDTPlatform

/// An index that does not exist but would help a query.
package struct SuggestedIndex: Sendable, Hashable {
  private var fields: [SortOrder.Field] = []
  let options: IndexOptions

  init(_ options: IndexOptions) { self.options = options }

  var isEmpty: Bool { fields.isEmpty }
  var paths: [FieldPath] { fields.map(\.path) }

  /// Adds a field unless it is already there.
  mutating func add(_ path: FieldPath, isDescending: Bool = false) {
    guard !fields.contains(where: { $0.path == path }) else { return }
    fields.append(SortOrder.Field(path: path, isDescending: isDescending))
  }

  /// The fields with their directions, and the options, as ``IndexDefinition`` reads them.
  package var json: JSONObject {
    var json: JSONObject = [
      "fields": .array(fields.map { [$0.path.text: .string($0.isDescending ? "desc" : "asc")] })
    ]
    for (name, value) in options.json where name != "type" || options.type != .json { json[name] = value }
    return json
  }

  /// The command that creates it: `cdtquery index create people/contacts name age:desc`.
  package func command(store: String) -> String {
    Self.command(
      fields.map { SortField($0.path.text, $0.isDescending ? .descending : .ascending) }, options,
      store: store)
  }

  /// The command that creates an index on fields, quoted for a shell.
  package static func command(
    _ fields: [SortField], _ options: IndexOptions = IndexOptions(), store: String
  ) -> String {
    let words = fields.map(\.word)
    let ends = ([store] + words).contains { $0.hasBytePrefix("-") } ? ["--"] : []
    let flags =
      (options.collation.map { ["--collation", $0.rawValue] } ?? [])
      + (options.vectorLength.map { ["--vector", "\($0)"] } ?? []) + (options.isPlace ? ["--place"] : [])
    let line = ["cdtquery", "index", "create"] + flags + ends + [store] + words
    return line.map(quoted).joined(separator: " ")
  }

  /// A word quoted for a shell.
  private static func quoted(_ word: String) -> String {
    if !word.isEmpty, word.utf8.allSatisfy(isPlain) { return word }
    return "'" + word.splitBytes(at: "'").joined(separator: "'\\''") + "'"
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte.isLetter || byte.isDigit || "._-/:".utf8.contains(byte)
  }
}
