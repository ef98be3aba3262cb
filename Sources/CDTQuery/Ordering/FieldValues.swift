package import JSON

/// The values a field has for sorting and for indexes: those its path reaches, arrays opened once.
///
/// ```
/// tags     in {"tags": ["red", ["blue"]]}               →  "red", ["blue"]
/// pets.age in {"pets": [{"age": 3}, {"age": [4, 5]}]}   →  3, 4, 5
/// ```
package struct FieldValues {
  /// Where each value starts.
  package private(set) var offsets: [Int] = []

  /// Why there is no value, when there is none.
  package private(set) var absence = Absence.missing

  /// Whether an array was opened on the way: the field may then have any number of values.
  package private(set) var isMultiple = false

  /// What a field without values holds: nothing at all, or an empty array, which sorts as if missing.
  package enum Absence: Sendable, Hashable {
    case missing, emptyArray
  }

  package init(of path: FieldPath, in bytes: JSONBytes) {
    var walk = PathWalk(bytes, from: 0, through: path.segments)
    var reached = 0
    while let value = walk.next() {
      reached += 1
      guard bytes.kind(at: value) == .array else {
        offsets.append(value)
        continue
      }
      isMultiple = true
      absence = .emptyArray
      var elements = bytes.elements(at: value)
      while let element = elements.next() { offsets.append(element) }
    }
    if reached > 1 { isMultiple = true }
  }
}
