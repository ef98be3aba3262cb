import CDTDatastore
import CDTJSON
import CDTPlatform

/// A document of MongoDB in plain JSON, with the names and the id that a document here can have.
///
/// ```
/// {"_id": {"$oid": "5f1b…"}, "at": {"$date": 0}, "__v": 3}
/// →  id "5f1b…", {"at": "1970-01-01T00:00:00.000Z", "v": 3}
/// ```
struct MongoDocument {
  let id: String?
  /// The text of the other members; `nil` if it is as it was.
  private(set) var text: [UInt8]?
  /// The names that begin with an underscore, and those that replace them.
  private(set) var renamed: [(name: String, new: String)] = []

  /// - Parameters:
  ///   - text: The compact text of the members whose names don't begin with an underscore.
  ///   - reserved: The others.
  ///   - names: The action for the others.
  ///   - isKnown: Whether the document is known to be of MongoDB.
  /// - Returns: `nil` if nothing tells that it is.
  /// - Throws: `DatastoreError` if the `_id` can't be one.
  init?(
    _ text: [UInt8], reserved: [ReservedField], _ names: DocumentImporter.ReservedNames, isKnown: Bool
  ) throws(DatastoreError) {
    let converted = ExtendedJSON.converted(text)
    guard isKnown || converted != nil || reserved.contains(where: { Self.tells($0.name, $0.value) }) else {
      return nil
    }
    var whole = converted ?? text
    var id: String?
    for (name, value) in reserved {
      let plain = Self.plain(value)
      if name == "_id" {
        id = try Self.id(plain)
        continue
      }
      guard let new = names == .fail ? Self.withoutUnderscores(name) : names.renamed(name) else { continue }
      renamed.append((name, new))
      whole.addMember(new, plain.utf8Text)
    }
    self.id = id
    if converted != nil || !renamed.isEmpty { self.text = whole }
  }

  /// Whether a member with an underscore is one of MongoDB or of what writes to it.
  private static func tells(_ name: String, _ value: JSONValue) -> Bool {
    switch (name, value) {
    case ("_id", .int), ("__v", .int): true
    case ("_id", .object): plain(value).objectValue == nil
    default: false
    }
  }

  private static func withoutUnderscores(_ name: String) -> String {
    String(decoding: name.utf8.drop { $0 == UInt8(ascii: "_") }, as: UTF8.self)
  }

  private static func plain(_ value: JSONValue) -> JSONValue {
    let converted = ExtendedJSON.converted(value.utf8Text)
    return converted.flatMap { try? JSONValue(parsing: $0) } ?? value
  }

  private static func id(_ value: JSONValue) throws(DatastoreError) -> String {
    switch value {
    case .string(let text): return text
    case .int(let number): return String(number)
    case .spelled(let number) where number.isInteger: return number.text
    default: throw DatastoreError(.importedID)
    }
  }
}
