import CDTDatastore
import CDTJSON
import CDTPlatform

// The structure of JSON text around the documents.
extension InputBuffer {
  /// Consumes the name of a member and its colon.
  mutating func memberName() throws -> String {
    guard try nextByte() == UInt8(ascii: "\""), let length = try valueLength() else {
      throw ImportError("expected a member name in double quotes", at: self)
    }
    let name = withBytes(length) { JSONBytes($0).string(at: 0) }
    take(length)
    guard try nextByte() == UInt8(ascii: ":") else { throw ImportError("expected a colon", at: self) }
    take(1)
    return name
  }

  /// The length of the value that begins here, or `nil` if the input ends inside it.
  mutating func valueLength() throws -> Int? {
    while true {
      let end = withBytes { JSONBytes($0).endOfValue(at: 0) }
      if end < available { return end }
      guard try fillMore() else {
        let last = self[available - 1]
        return last == UInt8(ascii: "}") || last == UInt8(ascii: "]") ? end : nil
      }
    }
  }

  /// Moves to the value of a member of the object that begins here, skipping the members before it.
  mutating func enterMember(_ name: String) throws {
    guard try nextByte() == UInt8(ascii: "{") else {
      throw ImportError("expected an object with a member \(DatastoreError.quoted(name))", at: self)
    }
    take(1)
    while try nextByte() == UInt8(ascii: "\"") {
      guard let length = try valueLength() else { break }
      let found = withBytes(length) { JSONBytes($0).string(at: 0) }
      take(length)
      guard try nextByte() == UInt8(ascii: ":") else { break }
      take(1)
      if found.hasSameBytes(as: name) { return }
      try skipValue()
      if try nextByte() == UInt8(ascii: ",") { take(1) }
    }
    throw ImportError(
      "there is no member \(DatastoreError.quoted(name)); check the path given to --at", at: self)
  }

  /// Skips a value of any length without buffering it.
  mutating func skipValue() throws {
    var depth = 0
    var isInString = false
    _ = try nextByte()
    while true {
      var offset = 0
      while offset < available {
        let byte = self[offset]
        if isInString {
          if byte == UInt8(ascii: "\\") {
            offset += 1
          } else if byte == UInt8(ascii: "\"") {
            isInString = false
          }
        } else if depth == 0,
          byte == UInt8(ascii: ",") || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "}")
            || byte == UInt8(ascii: "]")
        {
          return take(offset)
        } else if byte == UInt8(ascii: "\"") {
          isInString = true
        } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
          depth += 1
        } else if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
          depth -= 1
          if depth == 0 { return take(offset + 1) }
        }
        offset += 1
      }
      // If a backslash is the last buffered byte, its escape continues in the next bytes.
      let passed = offset > available ? available - 1 : available
      take(passed)
      guard try fill() else {
        throw ImportError("the text ends inside a value; check that it is complete", at: self)
      }
    }
  }

  /// The number of bytes that are read to recognize the form of the text.
  static let longestProbe = 1 << 20

  /// Whether an object begins here, and another behind it, which is not looked for behind one that is longer than a probe.
  mutating func hasSeveralObjects() throws -> Bool {
    guard try nextByte() == UInt8(ascii: "{") else { return false }
    while true {
      let (next, isKnown) = withBytes { bytes in
        let text = JSONBytes(bytes)
        let next = text.skipSpace(text.endOfValue(at: 0))
        return (next, next < bytes.count)
      }
      if isKnown { return self[next] == UInt8(ascii: "{") }
      guard available < Self.longestProbe, try fillMore() else { return false }
    }
  }

  /// Whether the value that begins here ends on its line.
  mutating func isValueOnLine() throws -> Bool {
    guard let length = try lineLength() else { return false }
    return withBytes(length) { JSONBytes($0).endOfValue(at: 0) < length }
  }

  /// Normalizes the object that begins here, and reads on until its end is known.
  ///
  /// - Returns: Its length.
  mutating func normalize(_ normalizer: inout JSONNormalizer) throws -> Result<Int, JSONError> {
    while true {
      let result: Result<Int, JSONError> = withBytes { text in
        do throws(JSONError) {
          return .success(try normalizer.normalize(text))
        } catch {
          return .failure(error)
        }
      }
      // An error at the end of what was read may be only that.
      guard case .failure(let error) = result, error.offset + Self.longestToken >= available, try fillMore()
      else { return result }
    }
  }

  /// Whether the text ends before the value that should be here, or inside the one that begins here.
  func endsInsideValue() -> Bool {
    guard isAtEnd, available > 0 else { return isAtEnd }
    let opening = [UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\"")]
    guard opening.contains(self[0]) else { return false }
    // With another byte behind it, a value that is open ends later.
    let longer = withBytes { Array($0) } + [UInt8(ascii: "}")]
    return longer.withUnsafeBytes { JSONBytes($0).endOfValue(at: 0) } == longer.count
  }

  /// Whether an error in the object that begins here is due to the end of the text.
  func isDueToEnd(_ error: JSONError) -> Bool {
    isAtEnd && error.code == .unexpectedEnd
      || error.offset + Self.longestToken >= available && endsInsideValue()
  }

  /// The length of an escaped surrogate pair, the longest token whose error is reported at its start.
  private static let longestToken = 16
}
