import CDTJSON
import CDTQuery

/// The columns of results in a table: `_id`, `_rev`, and the projected fields in their order, or all fields in the order
/// in which they appear.
struct ResultColumns {
  private var columns: [FieldPath] = []
  private var known: Set<FieldPath> = []

  /// - Parameter fields: The paths of the projected fields; empty for all fields, which are added with the rows.
  init(fields: [String] = []) throws {
    for path in ["_id", "_rev"] + fields { add(try Self.path(path)) }
  }

  /// Adds the fields of a row.
  mutating func add(_ row: JSONObject) {
    for (name, _) in row { add(FieldPath(segments: [FieldPath.Segment(name: Array(name.utf8))])) }
  }

  private mutating func add(_ path: FieldPath) {
    if known.insert(path).inserted { columns.append(path) }
  }

  private static func path(_ text: String) throws -> FieldPath {
    do throws(FieldPath.Fault) {
      return try FieldPath(text, allowsDollar: true)
    } catch {
      throw ToolError(.data, "\"\(text)\" is not a field; write a path such as pet.species")
    }
  }

  /// The columns for people.
  var names: [String] {
    columns.map { $0.segments.map { String(decoding: $0.name, as: UTF8.self) }.joined(separator: ".") }
  }

  /// The columns as an import reads them: `\.` is a dot in a name.
  var paths: [String] {
    columns.map { column in
      column.segments.map { segment in
        String(decoding: segment.name, as: UTF8.self).splitBytes(at: ".").joined(separator: "\\.")
      }.joined(separator: ".")
    }
  }

  func values(of row: JSONObject) -> [JSONValue?] {
    columns.map { Self.value(of: .object(row), at: $0.segments[...]) }
  }

  /// The value at a path; behind an array, an array of the values in its elements.
  private static func value(of value: JSONValue, at path: ArraySlice<FieldPath.Segment>) -> JSONValue? {
    guard let segment = path.first else { return value }
    switch value {
    case .object(let object):
      return object[String(decoding: segment.name, as: UTF8.self)].flatMap {
        self.value(of: $0, at: path.dropFirst())
      }
    case .array(let elements):
      // A projection leaves the selected element only, so that its position is not its own.
      let rest = segment.position == nil ? path : path.dropFirst()
      let values = elements.compactMap { self.value(of: $0, at: rest) }
      return values.isEmpty ? nil : .array(values)
    default: return nil
    }
  }
}
