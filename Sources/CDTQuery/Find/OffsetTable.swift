/// Where in a ``DocumentCache`` the entry with a key lies: a hash table in one array, eight bytes a place.
///
/// A place has the lower half of the key and the entry's offset in units of eight bytes. The upper half is for the caller
/// to compare, who has the whole key in the entry.
struct OffsetTable {
  /// 0 is a place that was never used.
  private var places: [UInt64] = []
  /// How many places are not 0.
  private var used = 0
  private(set) var count = 0

  /// A place whose key was removed: the search for others goes on behind it.
  private static let removed: UInt64 = 1
  /// What is added to an offset, so that it is neither of the above.
  private static let firstOffset: UInt64 = 2

  /// The offset of the entry with a key.
  ///
  /// - Parameter hasKey: Whether the entry at an offset has the whole key.
  @inline(__always)
  func offset(of key: Int64, where hasKey: (Int) -> Bool) -> Int? {
    place(of: key, where: hasKey).map { Self.offset(places[$0]) }
  }

  /// Adds a key that is not there.
  mutating func insert(_ key: Int64, offset: Int) {
    if 2 * (used + 1) > places.count { makeRoom() }
    let value = Self.half(key) << 32 | (UInt64(offset / 8) + Self.firstOffset)
    insert(value)
    count += 1
  }

  /// Removes a key, if it is there.
  mutating func remove(_ key: Int64, where hasKey: (Int) -> Bool) {
    guard let place = place(of: key, where: hasKey) else { return }
    places[place] = Self.removed
    count -= 1
  }

  mutating func removeAll() {
    self = OffsetTable()
  }

  @inline(__always)
  private func place(of key: Int64, where hasKey: (Int) -> Bool) -> Int? {
    guard !places.isEmpty else { return nil }
    let half = Self.half(key)
    var place = first(half)
    while true {
      let value = places[place]
      if value == 0 { return nil }
      if value >> 32 == half, value & 0xFFFF_FFFF >= Self.firstOffset, hasKey(Self.offset(value)) {
        return place
      }
      place = (place + 1) & (places.count - 1)
    }
  }

  /// The place where the search for a key begins. Eight keys that follow each other lie side by side, in one line of the
  /// processor's cache, as results often do.
  @inline(__always)
  private func first(_ half: UInt64) -> Int {
    let mixed = (half >> 3) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: (mixed >> 32) << 3 | half & 7) & (places.count - 1)
  }

  private mutating func insert(_ value: UInt64) {
    var place = first(value >> 32)
    while places[place] != 0 { place = (place + 1) & (places.count - 1) }
    places[place] = value
    used += 1
  }

  private mutating func makeRoom() {
    let old = places
    var size = 1_024
    while size < 4 * (count + 1) { size *= 2 }
    places = Array(repeating: 0, count: size)
    used = 0
    for value in old where value > Self.removed { insert(value) }
  }

  @inline(__always)
  private static func half(_ key: Int64) -> UInt64 { UInt64(UInt32(truncatingIfNeeded: key)) }

  @inline(__always)
  private static func offset(_ value: UInt64) -> Int { Int(value & 0xFFFF_FFFF - firstOffset) * 8 }
}
