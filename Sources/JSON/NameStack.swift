/// A member's name, with its quotes.
struct Name {
  /// Where it is spelled in the text.
  let range: Range<Int>
  /// The first eight bytes between the quotes, which tell most names apart.
  let prefix: UInt64
  /// Where its member begins in the canonical text.
  let canonicalStart: Int
  /// Where its member ends in the canonical text, once that is asked for.
  fileprivate var canonicalEnd = 0

  /// - Parameter start: Where its opening quote is in `bytes`.
  @inline(__always)
  init(_ range: Range<Int>, in bytes: JSONBytes, at start: Int, canonicalStart: Int) {
    self.range = range
    prefix = bytes.prefix(start + 1, start + range.count - 1)
    self.canonicalStart = canonicalStart
  }

  var beginsWithUnderscore: Bool { UInt8(truncatingIfNeeded: prefix >> 56) == UInt8(ascii: "_") }
}

/// The names of the objects that are open.
struct NameStack {
  private var names: [Name] = []
  /// Where the innermost object's names begin.
  private var start = 0
  /// The innermost object's names once they are many, for looking up.
  private var many: Set<[UInt8]> = []
  /// Whether the innermost object's names are known to stand in canonical order.
  private(set) var areInOrder = true

  /// Above this many names they are hashed.
  private static let fewNames = 16

  /// An object's names, while those of one within it are looked at.
  struct Outer {
    fileprivate let start: Int
    fileprivate let many: Set<[UInt8]>
    fileprivate let areInOrder: Bool
  }

  /// Forgets every object.
  mutating func removeAll() {
    names.removeAll(keepingCapacity: true)
    start = 0
    if !many.isEmpty { many = [] }
    areInOrder = true
  }

  mutating func enter() -> Outer {
    defer {
      start = names.count
      if !many.isEmpty { many = [] }
      areInOrder = true
    }
    return Outer(start: start, many: many, areInOrder: areInOrder)
  }

  mutating func leave(to outer: Outer) {
    names.removeLast(names.count - start)
    start = outer.start
    many = outer.many
    areInOrder = outer.areInOrder
  }

  /// Whether the innermost object may have a name already, by what can be told without its text.
  @inline(__always)
  func mayHave(_ name: Name) -> Bool {
    if names.count - start >= Self.fewNames { return true }
    for position in start..<names.count
    where names[position].prefix == name.prefix && names[position].range.count == name.range.count {
      return true
    }
    return false
  }

  /// Whether the innermost object has no such name yet; all of them are in the text.
  mutating func isNew(_ name: Name, in text: [UInt8]) -> Bool {
    guard names.count - start < Self.fewNames else {
      if many.isEmpty { many = Set(names[start...].map { Array(text[$0.range]) }) }
      return !many.contains(Array(text[name.range]))
    }
    return !names[start...].contains { text[$0.range].elementsEqual(text[name.range]) }
  }

  /// Adds a name that is new; it is in the text where names are looked up by it.
  @inline(__always)
  mutating func append(_ name: Name, in text: [UInt8]) {
    if areInOrder, names.count > start, let last = names.last {
      areInOrder = JSONCanonical.order(last.prefix, name.prefix) == .ascending
    }
    names.append(name)
    if !many.isEmpty { many.insert(Array(text[name.range])) }
  }

  /// Forgets the name that was added last; it is in the text.
  mutating func removeLast(in text: [UInt8]) {
    let name = names.removeLast()
    if !many.isEmpty { many.remove(Array(text[name.range])) }
  }

  // MARK: Canonical order

  /// Puts the members of the innermost object in canonical order.
  ///
  /// - Parameters:
  ///   - canonical: The canonical text, which ends with the members.
  ///   - text: The text that has all of the names.
  ///   - room: Memory for it.
  mutating func putInOrder(_ canonical: inout [UInt8], namedIn text: [UInt8], by room: inout [UInt8]) {
    guard start < names.count else { return }
    // A comma is between each member and the next one.
    for position in start..<names.count - 1 {
      names[position].canonicalEnd = names[position + 1].canonicalStart - 1
    }
    names[names.count - 1].canonicalEnd = canonical.count
    let first = names[start].canonicalStart
    text.withUnsafeBytes { sort(in: JSONBytes($0)) }
    Self.move(names[start...], from: first, of: &canonical, by: &room)
  }

  private mutating func sort(in text: JSONBytes) {
    JSONCanonical.sort(&names, from: start) { left, right in
      switch JSONCanonical.order(left.prefix, right.prefix) {
      case .ascending: true
      case .descending: false
      case .unknown: JSONCanonical.precedes(left.range.lowerBound, right.range.lowerBound, in: text)
      }
    }
  }

  /// Writes the members anew from an offset to the end, in the order of the names.
  private static func move(
    _ members: ArraySlice<Name>, from first: Int, of canonical: inout [UInt8], by room: inout [UInt8]
  ) {
    let length = canonical.count - first
    if room.count < length { room = [UInt8](repeating: 0, count: 2 * length) }
    canonical.withUnsafeMutableBytes { canonical in
      room.withUnsafeMutableBytes { room in
        var end = 0
        for member in members {
          if end > 0, end < length {
            room[end] = UInt8(ascii: ",")
            end += 1
          }
          // The same bytes in another order have the same length.
          let count = min(member.canonicalEnd - member.canonicalStart, length - end)
          let bytes = UnsafeRawBufferPointer(
            rebasing: canonical[member.canonicalStart..<member.canonicalStart + count])
          UnsafeMutableRawBufferPointer(rebasing: room[end...]).copyMemory(from: bytes)
          end += count
        }
        UnsafeMutableRawBufferPointer(rebasing: canonical[first...])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: room[..<length]))
      }
    }
  }
}
