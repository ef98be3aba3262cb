package import CDTJSON

/// The values that a path reaches from a value, in document order.
///
/// ```
/// pets.name in {"pets": [{"name": "mike"}, {"age": 3}, {"name": "zoe"}]}   →  "mike", "zoe"
/// ```
///
/// A segment steps into one array level: a name applies to its elements that are objects, a position selects one
/// element.
package struct PathWalk: ~Copyable {
  private let bytes: JSONBytes
  private let segments: [FieldPath.Segment]
  /// The values still to be followed, each with the index of its next segment.
  private var pending: [(value: Int, segment: Int)]
  /// The arrays being iterated, innermost last.
  private var open: [(elements: ElementIterator, segment: Int)] = []

  package init(_ bytes: JSONBytes, from start: Int, through segments: [FieldPath.Segment]) {
    self.bytes = bytes
    self.segments = segments
    pending = [(start, 0)]
  }

  /// The offset of the next value, or `nil` after the last.
  package mutating func next() -> Int? {
    while true {
      if let (value, segment) = pending.popLast() {
        if let reached = follow(value, from: segment) { return reached }
      } else if let (array, segment) = open.popLast() {
        var elements = array
        guard let element = elements.next() else { continue }
        open.append((elements, segment))
        if bytes.kind(at: element) == .object { pending.append((element, segment)) }
      } else {
        return nil
      }
    }
  }

  /// Follows the path until it branches; an array that a name applies to is pushed for iteration.
  private mutating func follow(_ start: Int, from first: Int) -> Int? {
    var value = start
    var number = first
    while number < segments.count {
      let segment = segments[number]
      switch bytes.kind(at: value) {
      case .object:
        guard let member = bytes.member(spelled: segment.spelling, at: value) else { return nil }
        value = member
      case .array:
        guard let position = segment.position else {
          open.append((bytes.elements(at: value), number))
          return nil
        }
        guard let element = bytes.element(at: position, of: value) else { return nil }
        value = element
      default:
        return nil
      }
      number += 1
    }
    return value
  }
}
