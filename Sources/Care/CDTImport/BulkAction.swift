import CDTJSON
import CDTPlatform

/// The line before a document in what Elasticsearch's `_bulk` takes.
///
/// ```
/// {"index": {"_index": "bank", "_id": "1"}}
/// {"balance": 39225}
/// ```
enum BulkAction {
  /// The document is on the next line.
  case save(id: String?)
  /// There is no document.
  case delete
  /// The next line has a part of a document.
  case update

  private static let names = ["index", "create", "update", "delete"]

  /// Whether an object begins with the name of an action, as any of them does.
  static func canBegin(_ text: UnsafeRawBufferPointer) -> Bool {
    let text = JSONBytes(text)
    var members = text.members(at: 0)
    guard let first = members.next() else { return false }
    return names.contains(text.string(at: first.keyStart - 1)) && text.kind(at: first.value) == .object
  }

  /// - Returns: `nil` for an object that is not an action.
  init?(_ text: UnsafeRawBufferPointer) {
    guard let object = try? JSONObject(parsing: Array(text)), object.count == 1,
      let (name, value) = object.first,
      let parameters = value.objectValue, Self.names.contains(name),
      parameters.allSatisfy({
        $0.key.hasBytePrefix("_") || ["routing", "version", "version_type"].contains($0.key)
      })
    else { return nil }
    switch name {
    case "delete": self = .delete
    case "update": self = .update
    default: self = .save(id: parameters["_id"]?.stringValue ?? parameters["_id"]?.intValue.map(String.init))
    }
  }
}
