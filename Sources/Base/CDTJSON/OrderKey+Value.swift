extension OrderKey {
  /// Reads the value that has the key at an offset: equal values have the same one, so it is written in one form. Numbers are as
  /// short as possible, and members are sorted by name.
  ///
  /// ```
  /// {"b": 1.0, "a": 2.50}   →   {"a": 2.5, "b": 1}
  /// ```
  ///
  /// - Parameters:
  ///   - key: Keys, one after the other. Bytes beyond their end read as 0; damaged ones give any value.
  ///   - offset: That of the value; then that after it.
  package static func value(in key: JSONBytes, at offset: inout Int) -> JSONValue {
    value(in: key, at: &offset, depth: 0)
  }

  private static func value(in key: JSONBytes, at offset: inout Int, depth: Int) -> JSONValue {
    let type = key[offset]
    offset += 1
    switch type {
    case falseByte: return .bool(false)
    case trueByte: return .bool(true)
    case zero, negatives, positives:
      offset -= 1
      return numberValue(in: key, at: &offset)
    case string: return .string(stringValue(in: key, at: &offset))
    case array where depth < maximumDepth:
      var elements: [JSONValue] = []
      while key[offset] != end { elements.append(value(in: key, at: &offset, depth: depth + 1)) }
      offset += 1
      return .array(elements)
    case object where depth < maximumDepth:
      var members: [(String, JSONValue)] = []
      while key[offset] != end {
        offset += 1
        let name = stringValue(in: key, at: &offset)
        members.append((name, value(in: key, at: &offset, depth: depth + 1)))
      }
      offset += 1
      return .object(JSONObject(members))
    default: return .null
    }
  }

  private static func numberValue(in key: JSONBytes, at offset: inout Int) -> JSONValue {
    switch number(in: key, at: offset) {
    case .int(let int)?:
      offset = end(in: key, at: offset)
      return .int(int)
    case .double(let double)?:
      offset = end(in: key, at: offset)
      return JSONValue(number: double)
    case nil:
      offset += 1
      return .null
    }
  }

  /// The number whose key is at an offset; an integer if it is one of 64 bits. `nil` if the key there is of another type.
  package static func number(
    in key: JSONBytes, at start: Int, isInverted: Bool = false
  ) -> JSONNumber? {
    var flip: UInt8 = isInverted ? 0xFF : 0
    var type = key[start] ^ flip
    if type == zero { return .int(0) }
    let isNegative = type < zero
    if isNegative {
      guard negatives.contains(type) else { return nil }
      type = 2 * zero - type
      flip = ~flip
    }
    guard positives.contains(type) else { return nil }
    let mask: UInt64 = flip == 0 ? 0 : .max
    func integer(_ offset: Int, _ count: Int) -> UInt64 {
      (key.prefix(offset, offset + 8) ^ mask) >> UInt64(64 - 8 * count)
    }
    if type == belowOne || type == large {
      let floor = Double(bitPattern: integer(start + 1, 8))
      let double = isNegative ? -floor : floor
      guard type == large, let int = Int64(exactly: double) else { return .double(double) }
      let rest = Int64(integer(start + 9, 2))
      return .int(isNegative ? int &- rest : int &+ rest)
    }
    let count = Int(type - belowOne)
    let value = integer(start + 1, count)
    let whole = Int64(value >> 1)
    guard value & 1 == 1 else { return .int(isNegative ? -whole : whole) }
    var fraction: UInt64 = 0
    var groups = key.prefix(start + 1 + count, start + 9 + count) ^ mask
    for shift in stride(from: UInt64(49), through: 0, by: -7) {
      fraction |= (groups >> 57) << shift
      if (groups >> 56) & 1 == 0 { break }
      groups <<= 8
    }
    let magnitude = Double(whole) + Double(fraction) * 0x1p-56
    return .double(isNegative ? -magnitude : magnitude)
  }

  /// The string after its type.
  static func stringValue(in key: JSONBytes, at offset: inout Int) -> String {
    let end = endOfString(in: key, at: offset, flip: 0)
    let content = key.slice(offset, max(offset, end - 1))
    offset = end
    guard content.contains(1) else { return String(decoding: content, as: UTF8.self) }
    var text: [UInt8] = []
    var isEscaped = false
    for byte in content {
      if byte == 1, !isEscaped {
        isEscaped = true
      } else {
        text.append(isEscaped ? byte &- 1 : byte)
        isEscaped = false
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  // MARK: Walking

  /// The offset after the key at an offset of keys that come one after another; of damaged ones, any greater one.
  package static func end(in key: JSONBytes, at start: Int, isInverted: Bool = false) -> Int {
    let flip: UInt8 = isInverted ? 0xFF : 0
    var offset = start
    var depth = 0
    repeat {
      let type = key[offset] ^ flip
      offset += 1
      switch type {
      case end: depth -= 1
      case array, object: depth += 1
      case string: offset = endOfString(in: key, at: offset, flip: flip)
      case positives: offset = endOfNumber(in: key, at: offset, type, flip: flip)
      case negatives: offset = endOfNumber(in: key, at: offset, 2 * zero - type, flip: ~flip)
      default: break
      }
    } while depth > 0 && offset < key.count
    return min(offset, key.count)
  }

  private static func endOfNumber(in key: JSONBytes, at start: Int, _ type: UInt8, flip: UInt8) -> Int {
    if type == belowOne { return start + 8 }
    if type == large { return start + 10 }
    var offset = start + Int(type - belowOne)
    // The last byte of the integral part, and all but the last of the fraction, are odd.
    while (key[offset - 1] ^ flip) & 1 == 1, offset < key.count { offset += 1 }
    return offset
  }

  private static func endOfString(in key: JSONBytes, at start: Int, flip: UInt8) -> Int {
    key.position(of: flip, from: start) + 1
  }
}
