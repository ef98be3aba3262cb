extension JSONValue: RandomAccessCollection {
  /// A position among the elements. `value[0]` is the element at an offset, or `nil` if there is none.
  public struct Index: Comparable, Hashable, Sendable {
    fileprivate let offset: Int

    /// Whether a position precedes another.
    public static func < (left: Index, right: Index) -> Bool { left.offset < right.offset }
  }

  /// The position of the first element.
  public var startIndex: Index { Index(offset: 0) }

  /// The position after the last element.
  public var endIndex: Index {
    switch self {
    case .array(let elements): Index(offset: elements.count)
    case .object(let object): Index(offset: object.count)
    default: startIndex
    }
  }

  /// The element of an array or the value in an object at a position; scalars have none.
  ///
  /// ```swift
  /// for tag in body["tags"] ?? [] { print(tag) }
  /// body["tags"]?.contains("red")
  /// body["tags"]?.count
  /// ```
  ///
  /// A position of another value, at which this one has no element, returns null.
  public subscript(position: Index) -> JSONValue {
    switch self {
    case .array(let elements) where position.offset < elements.count: elements[position.offset]
    case .object(let object) where position.offset < object.count: object[position.offset].value
    default: .null
    }
  }

  /// The position after another; the end position is returned unchanged.
  public func index(after position: Index) -> Index { index(position, offsetBy: 1) }

  /// The position before another; the start position is returned unchanged.
  public func index(before position: Index) -> Index { index(position, offsetBy: -1) }

  /// The position at a distance, limited to the start and the end.
  public func index(_ position: Index, offsetBy distance: Int) -> Index {
    let (offset, isTooFar) = position.offset.addingReportingOverflow(distance)
    let end = isTooFar && distance > 0 ? .max : offset
    return Index(offset: Swift.min(Swift.max(end, 0), endIndex.offset))
  }

  /// The number of elements between two positions.
  public func distance(from start: Index, to end: Index) -> Int { end.offset - start.offset }
}
