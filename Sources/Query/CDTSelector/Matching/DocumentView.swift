public import CDTJSON

/// A document, or an element of one, as the matcher sees it: stored JSON text that is scanned at most once, with the
/// offsets of selected members.
///
/// A lookup continues where the last one stopped and records the selected members it passes, so a selector that is
/// decided early leaves the rest of the text unread.
struct DocumentView: ~Copyable {
  let document: DocumentBytes
  /// The offset of its first byte.
  let start: Int
  private let names: MemberNames
  private let found: UnsafeMutableBufferPointer<Int>
  private var members: MemberIterator

  private static let unseen = -1

  /// - Parameter found: Memory for one offset per name, which the view initializes.
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

  /// The offset of the member's value, or `nil` if the document has no such member.
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

/// The names of the top-level members in a selector, each with a slot.
struct MemberNames: Sendable {
  private(set) var spellings: [[UInt8]] = []
  /// The slot of each name, once there are many.
  private var slots: [[UInt8]: Int] = [:]

  /// Up to this number of names, they are searched linearly.
  private static let fewNames = 16

  var count: Int { spellings.count }

  /// The slot of a name, which is assigned if the name is new.
  mutating func slot(of segment: FieldPath.Segment) -> Int {
    if let known = slot(spelled: segment.spelling) { return known }
    spellings.append(segment.spelling)
    if spellings.count > Self.fewNames {
      if slots.isEmpty { for (slot, spelling) in spellings.enumerated() { slots[spelling] = slot } }
      slots[segment.spelling] = spellings.count - 1
    }
    return spellings.count - 1
  }

  private func slot(spelled spelling: [UInt8]) -> Int? {
    slots.isEmpty ? spellings.firstIndex(of: spelling) : slots[spelling]
  }

  @inline(__always)
  func slot(of member: JSONBytes.Member, in bytes: JSONBytes) -> Int? {
    guard slots.isEmpty else { return slots[Array(bytes.slice(member.keyStart, member.keyEnd))] }
    for slot in spellings.indices
    where bytes.equals(spellings[slot], from: member.keyStart, to: member.keyEnd) {
      return slot
    }
    return nil
  }
}

/// A stored document, valid during a call: its id, its revision id, and the text of its body.
@usableFromInline
package struct DocumentBytes {
  @usableFromInline package let id: UnsafeRawBufferPointer
  @usableFromInline package let revision: UnsafeRawBufferPointer
  @usableFromInline package let body: JSONBytes

  @inlinable
  package init(id: UnsafeRawBufferPointer, revision: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer) {
    self.id = id
    self.revision = revision
    self.body = JSONBytes(body)
  }

  /// The value of a field that is not in the body.
  package func string(of field: FieldPath.DocumentField) -> UnsafeRawBufferPointer {
    field == .id ? id : revision
  }
}
