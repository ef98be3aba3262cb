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

  /// No values, until some are read.
  init() {}

  package init(of path: FieldPath, in bytes: JSONBytes) {
    read(path, in: bytes)
  }

  /// Reads the values of a field, in place of those that were read before.
  mutating func read(_ path: FieldPath, in bytes: JSONBytes) {
    offsets.removeAll(keepingCapacity: true)
    absence = .missing
    isMultiple = false
    switch path.singleValue(in: bytes) {
    case .missing: return
    case .value(let value): return offsets.append(value)
    case .several: break
    }
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

extension FieldPath {
  /// What a path leads to where no array lies on the way.
  enum SingleValue {
    case missing
    case value(Int)
    /// An array was met: there may be any number of values.
    case several
  }

  @inline(__always)
  func singleValue(in bytes: JSONBytes) -> SingleValue {
    var offset = 0
    for segment in segments {
      switch bytes.kind(at: offset) {
      case .object: break
      case .array: return .several
      default: return .missing
      }
      guard let member = bytes.member(spelled: segment.spelling, at: offset) else { return .missing }
      offset = member
    }
    return bytes.kind(at: offset) == .array ? .several : .value(offset)
  }
}
