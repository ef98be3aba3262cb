package import CDTJSON

/// The values of a field for sorting and for indexes: those its path reaches, with arrays expanded once.
///
/// ```
/// tags     in {"tags": ["red", ["blue"]]}               →  "red", ["blue"]
/// pets.age in {"pets": [{"age": 3}, {"age": [4, 5]}]}   →  3, 4, 5
/// ```
package struct FieldValues {
  /// The offset of each value.
  package private(set) var offsets: [Int] = []

  /// The reason if there are no values.
  package private(set) var absence = Absence.missing

  /// Whether an array was expanded, so that the field may have any number of values.
  package private(set) var isMultiple = false

  /// What a field without values has: nothing, or an empty array, which sorts as if missing.
  package enum Absence: Sendable, Hashable {
    case missing, emptyArray
  }

  /// Creates a list without values.
  package init() {}

  package init(of path: FieldPath, in bytes: JSONBytes) {
    read(path, in: bytes)
  }

  /// Reads the values of a field, replacing the previous ones.
  package mutating func read(_ path: FieldPath, in bytes: JSONBytes) {
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
  /// The value at the end of a path without arrays.
  package enum SingleValue {
    case missing
    case value(Int)
    /// The path goes through an array, so there may be any number of values.
    case several
  }

  @inline(__always)
  package func singleValue(in bytes: JSONBytes) -> SingleValue {
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
