import JSON

/// A document, or an element of one, as the matcher sees it: stored JSON text, walked at most once, with the members that
/// were asked for.
///
/// Looking a member up walks on from where the last look-up stopped and remembers the wanted members passed by, so a
/// selector that is decided early leaves the rest of the text unread.
struct DocumentView: ~Copyable {
  let document: DocumentBytes
  /// Where it begins.
  let start: Int
  private let names: MemberNames
  private let found: UnsafeMutableBufferPointer<Int>
  private var members: MemberIterator

  private static let unseen = -1

  /// - Parameter found: Room for one offset a name, which the view fills.
  init(
    _ document: DocumentBytes, at start: Int, names: MemberNames, found: UnsafeMutableBufferPointer<Int>
  ) {
    self.document = document
    self.start = start
    self.names = names
    self.found = found
    found.initialize(repeating: Self.unseen)
    members = document.body.members(at: start)
  }

  var bytes: JSONBytes { document.body }
  var id: UnsafeRawBufferPointer { document.id }
  var revision: UnsafeRawBufferPointer { document.revision }

  /// The offset of the member's value, or `nil` when the document has no such member.
  mutating func value(of slot: Int) -> Int? {
    guard found[slot] == Self.unseen else { return found[slot] }
    while let member = members.next() {
      guard let passed = names.slot(of: member, in: bytes), found[passed] == Self.unseen else { continue }
      found[passed] = member.value
      if passed == slot { return member.value }
    }
    return nil
  }
}

/// The names of the top-level members that a selector asks for, each with a slot.
struct MemberNames: Sendable {
  private(set) var spellings: [[UInt8]] = []

  var count: Int { spellings.count }

  /// The slot of a name, given one if it is new.
  mutating func slot(of segment: FieldPath.Segment) -> Int {
    if let known = spellings.firstIndex(of: segment.spelling) { return known }
    spellings.append(segment.spelling)
    return spellings.count - 1
  }

  @inline(__always)
  func slot(of member: JSONBytes.Member, in bytes: JSONBytes) -> Int? {
    for slot in spellings.indices
    where bytes.equals(spellings[slot], from: member.keyStart, to: member.keyEnd) {
      return slot
    }
    return nil
  }
}
