/// A member's name, with its quotation marks.
struct Name {
  /// Its range in the text.
  let range: Range<Int>
  /// The first eight bytes of the name, which distinguish most names.
  let prefix: UInt64
  /// The start of its member in the canonical text.
  let canonicalStart: Int
  /// The end of its member in the canonical text, once it is needed.
  fileprivate var canonicalEnd = 0

  /// - Parameter start: The offset of its opening quotation mark in `bytes`.
  @inline(__always)
  init(_ range: Range<Int>, in bytes: JSONBytes, at start: Int, canonicalStart: Int) {
    self.range = range
    prefix = bytes.prefix(start + 1, start + range.count - 1)
    self.canonicalStart = canonicalStart
  }

  var beginsWithUnderscore: Bool { UInt8(truncatingIfNeeded: prefix >> 56) == UInt8(ascii: "_") }
}

/// The names of the open objects.
struct NameStack {
  private var names: [Name] = []
  /// The position of the innermost object's first name.
  private var start = 0
  /// The innermost object's names for lookup, once they are many.
  private var nameSet: Set<[UInt8]> = []
  /// Whether the innermost object's names are known to be in canonical order.
  private(set) var areInOrder = true
  /// Whether the first bytes of the innermost object's names determine their order as far as they differ.
  private var arePlain = true

  /// Above this number of names, they are hashed.
  private static let fewNames = 16

  /// An object's names while a nested object is processed.
  struct Outer {
    fileprivate let start: Int
    fileprivate let nameSet: Set<[UInt8]>
    fileprivate let areInOrder: Bool
    fileprivate let arePlain: Bool
  }

  /// Removes all objects.
  mutating func removeAll() {
    names.removeAll(keepingCapacity: true)
    start = 0
    if !nameSet.isEmpty { nameSet = [] }
    areInOrder = true
    arePlain = true
  }

  mutating func enter() -> Outer {
    defer {
      start = names.count
      if !nameSet.isEmpty { nameSet = [] }
      areInOrder = true
      arePlain = true
    }
    return Outer(start: start, nameSet: nameSet, areInOrder: areInOrder, arePlain: arePlain)
  }

  mutating func leave(to outer: Outer) {
    names.removeLast(names.count - start)
    start = outer.start
    nameSet = outer.nameSet
    areInOrder = outer.areInOrder
    arePlain = outer.arePlain
  }

  /// Whether the innermost object may already have a name, decided without its text.
  @inline(__always)
  func mayHave(_ name: Name) -> Bool {
    if names.count - start >= Self.fewNames { return true }
    for position in start..<names.count
    where names[position].prefix == name.prefix && names[position].range.count == name.range.count {
      return true
    }
    return false
  }

  /// Whether the innermost object does not have a name yet; all names are in the text.
  mutating func isNew(_ name: Name, in text: [UInt8]) -> Bool {
    guard names.count - start < Self.fewNames else {
      if nameSet.isEmpty { nameSet = Set(names[start...].map { Array(text[$0.range]) }) }
      return !nameSet.contains(Array(text[name.range]))
    }
    return !names[start...].contains { text[$0.range].elementsEqual(text[name.range]) }
  }

  /// Adds a new name, which must be in the text if names are hashed.
  @inline(__always)
  mutating func append(_ name: Name, in text: [UInt8]) {
    if !JSONBytes.isPlainASCII(name.prefix) { arePlain = false }
    if areInOrder, names.count > start, let last = names.last {
      areInOrder = arePlain && last.prefix < name.prefix
    }
    names.append(name)
    if !nameSet.isEmpty { nameSet.insert(Array(text[name.range])) }
  }

  /// Removes the last name, which is in the text.
  mutating func removeLast(in text: [UInt8]) {
    let name = names.removeLast()
    if !nameSet.isEmpty { nameSet.remove(Array(text[name.range])) }
  }

  // MARK: Canonical order

  /// Sorts the members of the innermost object in canonical order.
  ///
  /// - Parameters:
  ///   - canonical: The canonical text, which ends with the members.
  ///   - text: The text with all the names.
  ///   - room: Temporary memory.
  mutating func putInOrder(_ canonical: inout [UInt8], namedIn text: [UInt8], by room: inout [UInt8]) {
    guard start < names.count else { return }
    // There is a comma between members.
    for position in start..<names.count - 1 {
      names[position].canonicalEnd = names[position + 1].canonicalStart - 1
    }
    names[names.count - 1].canonicalEnd = canonical.count
    let first = names[start].canonicalStart
    text.withUnsafeBytes { sort(in: JSONBytes($0)) }
    Self.move(names[start...], from: first, of: &canonical, by: &room)
  }

  private mutating func sort(in text: JSONBytes) {
    let arePlain = arePlain
    JSONCanonical.sort(&names, from: start) { left, right in
      if arePlain, left.prefix != right.prefix { return left.prefix < right.prefix }
      return JSONCanonical.precedes(left.range.lowerBound, right.range.lowerBound, in: text)
    }
  }

  /// Rewrites the members from an offset to the end, in the order of the names.
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
