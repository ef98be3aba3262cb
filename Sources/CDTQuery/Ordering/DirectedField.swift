package import JSON

/// A field with a direction, as sorts and index definitions write it: `"age"` or `{"age": "desc"}`.
package enum DirectedField {
  /// The field and direction of a clause of a sort or an index.
  static func read(
    _ value: JSONValue, at place: String
  ) throws(QueryError) -> (path: String, isDescending: Bool) {
    switch value {
    case .string(let path): return (path, false)
    case .object(let object):
      guard object.count == 1, let (path, direction) = object.first(where: { _ in true }) else {
        throw .directedFieldKeys(object.count, at: place)
      }
      switch direction {
      case "asc": return (path, false)
      case "desc": return (path, true)
      default: throw .unknownDirection(direction, of: path, at: place)
      }
    default:
      throw .notADirectedField(value, at: place)
    }
  }

  /// The clause that a word stands for: `age:desc`. Only a last `:asc` or `:desc` is a direction.
  package static func spelled(_ word: String) -> JSONValue {
    for direction in ["asc", "desc"] where word.hasSuffix(":\(direction)") {
      return .object(JSONObject([(String(word.dropLast(direction.count + 1)), .string(direction))]))
    }
    return .string(word)
  }
}
