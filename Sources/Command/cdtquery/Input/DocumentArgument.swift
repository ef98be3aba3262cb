import CDTDatastore
import CDTJSON

/// A document's body on the command line, which may contain its id and a revision.
struct DocumentArgument {
  let body: JSONObject
  /// Its `_id`.
  let id: String?
  /// Its `_rev`.
  let revision: String?

  init(_ text: String) throws {
    var body: JSONObject
    do {
      body = try JSONObject(parsing: text)
    } catch {
      throw ToolError(.data, "the body must be a JSON object: \(error)")
    }
    id = try Self.take("_id", from: &body)
    revision = try Self.take("_rev", from: &body)
    self.body = body
  }

  private static func take(_ key: String, from body: inout JSONObject) throws -> String? {
    guard let value = body.removeValue(forKey: key) else { return nil }
    guard let text = value.stringValue else { throw ToolError(.data, "\(key) must be a string; quote it") }
    return text
  }

  /// Throws if the body has another document's id.
  func check(id given: String) throws {
    guard id == nil || id.map({ Array($0.utf8) }) == Array(given.utf8) else {
      throw ToolError(.usage, "the id argument and the body's _id differ; give only one of them")
    }
  }
}
