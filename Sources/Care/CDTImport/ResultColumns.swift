package import CDTJSON
package import CDTQuery

/// The columns of results in a table: `_id`, `_rev`, and the projected fields in their order, or all fields in the order
/// in which they appear.
///
/// ```
/// {"pet": {"species": "cat", "age": 3}}   has the column pet; if flat, pet.species and pet.age
/// ```
package struct ResultColumns {
  private var columns: [FieldPath] = []
  private var known: Set<FieldPath> = []

  /// Whether the fields of objects are columns, instead of the objects.
  private let isFlat: Bool

  package init(isFlat: Bool = false) {
    self.isFlat = isFlat
  }

  /// The columns of a file: the projected fields, or `_id`, `_rev` and the fields of all rows.
  package init(
    fields: [String], _ forEachRow: (_ row: (JSONObject) throws -> Void) throws -> Void
  ) throws {
    self.init()
    for field in fields.isEmpty ? ["_id", "_rev"] : fields { add(try Self.path(field)) }
    if fields.isEmpty { try forEachRow { add($0) } }
  }

  /// Adds a projected field, which is there also if no row has it.
  package mutating func add(_ path: FieldPath, of rows: [JSONObject]) {
    guard isFlat else { return add(path) }
    let count = columns.count
    for row in rows {
      Self.value(of: .object(row), at: path.segments[...]).map { add($0, at: path.segments) }
    }
    if columns.count == count { add(path) }
  }

  /// Adds the fields of a row.
  package mutating func add(_ row: JSONObject) {
    for (name, value) in row { add(value, at: [FieldPath.Segment(name: Array(name.utf8))]) }
  }

  /// Adds a field of a row, or the fields of the object that it is.
  private mutating func add(_ value: JSONValue, at path: [FieldPath.Segment]) {
    guard isFlat, let object = value.objectValue, !object.isEmpty else {
      return add(FieldPath(segments: path))
    }
    for (name, value) in object { add(value, at: path + [FieldPath.Segment(name: Array(name.utf8))]) }
  }

  private mutating func add(_ path: FieldPath) {
    if known.insert(path).inserted { columns.append(path) }
  }

  /// The path of a projected field.
  package static func path(_ text: String) throws(FieldPath.Fault) -> FieldPath {
    try FieldPath(text, allowsDollar: true)
  }

  /// The columns for people.
  package var names: [String] {
    columns.map { $0.segments.map { String(decoding: $0.name, as: UTF8.self) }.joined(separator: ".") }
  }

  /// The columns as an import reads them: `\.` is a dot in a name.
  package var paths: [String] {
    columns.map { column in
      column.segments.map { segment in
        String(decoding: segment.name, as: UTF8.self).splitBytes(at: ".").joined(separator: "\\.")
      }.joined(separator: ".")
    }
  }

  package func values(of row: JSONObject) -> [JSONValue?] {
    columns.map { column in
      let value = Self.value(of: .object(row), at: column.segments[...])
      // The fields of an object have their own columns, also if the value is not an object in other rows.
      return isFlat && value?.objectValue?.isEmpty == false ? nil : value
    }
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
