import CDTDatastore
import CDTJSON
import CouchDB

/// The parameters of a request's query, with CouchDB's rules for their values. The last of several wins.
struct Parameters: Sendable {
  private let values: [String: String]

  init(_ query: String) throws(CouchError) {
    var values: [String: String] = [:]
    for parameter in try QueryString(query).parameters { values[parameter.name] = parameter.value }
    self.values = values
  }

  subscript(name: String) -> String? { values[name] }

  /// Each value as JSON, or as a string if it isn't.
  ///
  /// - Parameter names: The parameters that must be JSON.
  func members(areJSON names: Set<String>) throws(CouchError) -> JSONObject {
    var members = JSONObject()
    for (name, value) in values {
      members[name] =
        names.contains(name) ? try json(name) : (try? JSONValue(parsing: value)) ?? .string(value)
    }
    return members
  }

  /// Whether a parameter is `true`. As at CouchDB, any other value is ignored.
  func flag(_ name: String) -> Bool { values[name] == "true" }

  /// A number that is not negative.
  func count(_ name: String) throws(CouchError) -> Int? {
    guard let value = values[name] else { return nil }
    guard let number = Int(value), number >= 0 else {
      throw .invalidParameter(name, value, expected: "a number that is not negative")
    }
    return number
  }

  /// A JSON value, under one of several names.
  func json(_ names: String...) throws(CouchError) -> JSONValue? {
    guard let name = names.first(where: { values[$0] != nil }), let value = values[name] else { return nil }
    do throws(JSONError) {
      return try JSONValue(parsing: value)
    } catch {
      throw .invalidParameter(name, value, expected: "JSON")
    }
  }

  /// A revision id, which may be in quotation marks.
  func revision(_ name: String) throws(CouchError) -> RevisionID? {
    guard let value = values[name], !value.isEmpty else { return nil }
    guard let revision = RevisionID(value) else { throw .invalidRevision }
    return revision
  }
}

extension CouchError {
  static func invalidParameter(_ name: String, _ value: String, expected: String) -> CouchError {
    CouchError(
      400, "query_parse_error", "Invalid value for \(name): \(value.prefix(100)); expected \(expected)")
  }
}
