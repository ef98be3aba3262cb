import CDTDatastore
import CDTJSON
import CDTPlatform

extension DocumentImporter {
  /// The action for a field such as `_links`, whose name begins with an underscore and can't be a field's name here. The members of
  /// CouchDB's documents, such as `_id` and `_attachments`, are not fields.
  public enum ReservedNames: String, Sendable, CaseIterable {
    /// The document is invalid. In documents of MongoDB the name loses its underscores.
    case fail
    /// The field is imported with an `x` before its name: `x_links`.
    case rename
    /// The field is left out.
    case drop

    /// The name under which a field is imported; `nil` to leave it out.
    func renamed(_ name: String) -> String? { self == .drop ? nil : "x\(name)" }
  }
}

/// A field whose name begins with an underscore.
typealias ReservedField = (name: String, value: JSONValue)

extension [UInt8] {
  /// Adds a member to the compact text of an object.
  mutating func addMember(_ name: String, _ value: [UInt8]) {
    // The closing brace moves behind the member.
    guard popLast() == UInt8(ascii: "}") else { return }
    if count > 1 { append(UInt8(ascii: ",")) }
    JSONString.write(name, to: &self)
    append(UInt8(ascii: ":"))
    self += value
    append(UInt8(ascii: "}"))
  }
}
