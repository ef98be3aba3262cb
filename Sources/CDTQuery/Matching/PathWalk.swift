package import JSON

/// The values that a path reaches from a value, in document order.
///
/// ```
/// pets.name in {"pets": [{"name": "mike"}, {"age": 3}, {"name": "zoe"}]}   →  "mike", "zoe"
/// ```
///
/// An array is one step only: a name goes into its elements that are objects, a position picks one element.
package struct PathWalk: ~Copyable {
  private let bytes: JSONBytes
  private let segments: [FieldPath.Segment]
  /// Where the walk stands: values still to be followed, each with the number of the next segment.
  private var pending: [(value: Int, segment: Int)]
  /// The arrays whose elements are being gone into, innermost last.
  private var open: [(elements: ElementIterator, segment: Int)] = []

  package init(_ bytes: JSONBytes, from start: Int, through segments: [FieldPath.Segment]) {
    self.bytes = bytes
    self.segments = segments
    pending = [(start, 0)]
  }

  /// The offset of the next value reached, or `nil` after the last.
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

  /// Follows the path as long as it does not branch; an array that a name goes into is left open.
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
