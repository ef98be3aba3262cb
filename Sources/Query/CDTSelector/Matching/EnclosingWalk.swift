package import CDTJSON

/// Finds the containers that enclose one value after the other. Values in the order of the text cost one pass through it.
package struct EnclosingWalk: Sendable {
  /// A step into an object or an array.
  package enum Step: Sendable, Hashable {
    case member(String)
    case element(Int)
  }

  /// A container, and the member or element of it that was reached.
  private struct Level {
    let container: Int
    private let isObject: Bool
    private(set) var item: (start: Int, value: Int)?
    private var next: (start: Int, value: Int)?
    private(set) var number = -1

    init?(_ bytes: JSONBytes, at container: Int) {
      let kind = bytes.kind(at: container)
      guard kind == .object || kind == .array else { return nil }
      self.container = container
      isObject = kind == .object
      next = item(at: bytes.skipSpace(container + 1), in: bytes)
    }

    /// The item that begins at an offset: a member at the quotation mark of its key, or an element.
    private func item(at start: Int, in bytes: JSONBytes) -> (start: Int, value: Int)? {
      guard start < bytes.count else { return nil }
      guard isObject else { return bytes[start] == UInt8(ascii: "]") ? nil : (start, start) }
      guard bytes[start] == UInt8(ascii: "\"") else { return nil }
      return (start, bytes.skipSpace(bytes.skipSpace(bytes.endOfString(at: start)) + 1))
    }

    /// Moves on to the item that contains an offset.
    mutating func move(to start: Int, in bytes: JSONBytes) {
      while let reached = next, reached.start <= start {
        item = reached
        number += 1
        let comma = bytes.skipSpace(bytes.endOfValue(at: reached.value))
        next = bytes[comma] == UInt8(ascii: ",") ? item(at: bytes.skipSpace(comma + 1), in: bytes) : nil
      }
    }

    func step(in bytes: JSONBytes) -> Step? {
      guard let item else { return nil }
      return item.start < item.value ? .member(bytes.string(at: item.start)) : .element(number)
    }
  }

  private var levels: [Level] = []

  package init() {}

  /// The offsets of the containers of a value or key, from the root.
  mutating func containers(of start: Int, in bytes: JSONBytes) -> [Int] {
    move(to: start, in: bytes)
    return levels.map(\.container)
  }

  /// The steps from the root to a value or key.
  package mutating func path(to start: Int, in bytes: JSONBytes) -> [Step] {
    move(to: start, in: bytes)
    return levels.compactMap { $0.step(in: bytes) }
  }

  private mutating func move(to start: Int, in bytes: JSONBytes) {
    var depth = 0
    var container = 0
    while container < start {
      if depth < levels.count,
        levels[depth].container != container || (levels[depth].item?.start ?? 0) > start
      {
        levels.removeSubrange(depth...)
      }
      if depth == levels.count {
        guard let level = Level(bytes, at: container) else { break }
        levels.append(level)
      }
      levels[depth].move(to: start, in: bytes)
      guard let item = levels[depth].item else { break }
      container = item.value
      depth += 1
    }
    levels.removeSubrange(min(depth, levels.count)...)
  }
}
