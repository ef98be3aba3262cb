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
    case number: return numberValue(in: key, at: &offset)
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
    let bits = key.prefix(offset, offset + 8)
    let rest = Int64(key[offset + 8]) << 8 | Int64(key[offset + 9])
    offset += 10
    let floor = Double(bitPattern: bits >> 63 == 1 ? bits ^ 1 << 63 : ~bits)
    guard rest > 0, let int = Int64(exactly: floor) else { return JSONValue(number: floor) }
    return .int(int &+ rest)
  }

  /// The string after its type.
  private static func stringValue(in key: JSONBytes, at offset: inout Int) -> String {
    var text: [UInt8] = []
    while offset < key.count {
      let (byte, next) = (key[offset], key[offset + 1])
      if byte == 0 {
        offset += 2
        if next != 0xFF { break }
        text.append(0)
      } else {
        offset += 1
        text.append(byte)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
