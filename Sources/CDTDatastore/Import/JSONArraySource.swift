import CDTJSON

/// The elements of one JSON array, which may be nested in a larger object.
struct JSONArraySource: DocumentSource {
  private var input: InputBuffer
  private var state = State.before
  private let path: [String]

  /// The current position in the input.
  private enum State {
    case before, atElement, behindElement, after
  }

  /// - Parameter path: The member names on the path to the array; empty if the file is the array.
  init(_ input: InputBuffer, at path: [String]) {
    self.input = input
    self.path = path
  }

  var taken: Int64 { input.taken }

  mutating func next(_ normalizer: inout JSONNormalizer) throws -> SourcePlace? {
    do {
      guard try moveToElement() else { return nil }
    } catch let error as ImportError {
      // The structure of the text is unknown from here on.
      state = .after
      throw error
    }
    let place = try element(&normalizer)
    state = .behindElement
    return place
  }

  mutating func recover() throws -> Bool {
    guard state == .atElement else { return false }
    do {
      try skipValue()
    } catch is ImportError {
      // The error is already reported, and so is the missing end.
      state = .after
      return false
    }
    state = .behindElement
    return true
  }

  /// Moves to the next element; `false` if there is none and the text after the array is valid.
  private mutating func moveToElement() throws -> Bool {
    switch state {
    case .after: return false
    case .atElement: return true
    case .before:
      try enter()
      if try input.nextByte() == UInt8(ascii: "]") { return try leave() }
    case .behindElement:
      switch try input.nextByte() {
      case UInt8(ascii: ",")?: input.take(1)
      case UInt8(ascii: "]")?: return try leave()
      case nil: throw ImportError("the text ends inside the array; check that it is complete", at: input)
      default: throw ImportError("expected a comma or \"]\"", at: input)
      }
    }
    state = .atElement
    return true
  }

  private mutating func element(_ normalizer: inout JSONNormalizer) throws -> SourcePlace {
    guard try input.nextByte() == UInt8(ascii: "{") else {
      throw ImportError("a document must be an object in braces; remove anything else", at: input)
    }
    guard let length = try valueLength() else {
      throw ImportError(
        "the text ends inside the document that begins here; check that it is complete", at: input)
    }
    let result: Result<Int, JSONError> = input.withBytes(length) { text in
      do throws(JSONError) {
        return .success(try normalizer.normalize(text))
      } catch {
        return .failure(error)
      }
    }
    let end: Int
    switch result {
    case .success(let found): end = found
    case .failure(let error): throw ImportError(error, in: input)
    }
    let line = input.line
    input.take(end)
    return SourcePlace(file: input.name, line: line)
  }

  /// The length of the value that begins here, or `nil` if the input ends inside it.
  private mutating func valueLength() throws -> Int? {
    while true {
      let end = input.withBytes { JSONBytes($0).endOfValue(at: 0) }
      if end < input.available { return end }
      guard try input.fillTwofold() else {
        let last = input[input.available - 1]
        return last == UInt8(ascii: "}") || last == UInt8(ascii: "]") ? end : nil
      }
    }
  }

  // MARK: Path to the array

  private mutating func enter() throws {
    for name in path { try enterMember(name) }
    guard try input.nextByte() == UInt8(ascii: "[") else {
      throw ImportError("expected an array of documents", at: input)
    }
    input.take(1)
  }

  /// Skips the rest of the objects around the array. Nothing may follow them, as it would be lost.
  private mutating func leave() throws -> Bool {
    input.take(1)
    for _ in path {
      while try input.nextByte() == UInt8(ascii: ",") {
        input.take(1)
        try skipValue()
        guard try input.nextByte() == UInt8(ascii: ":") else { break }
        input.take(1)
        try skipValue()
      }
      guard try input.nextByte() == UInt8(ascii: "}") else {
        throw ImportError("expected a comma or \"}\"", at: input)
      }
      input.take(1)
    }
    guard try input.nextByte() == nil else {
      throw ImportError(
        "the documents end here, but the text goes on; import what follows on its own", at: input)
    }
    state = .after
    return false
  }

  /// Moves to the value of a member of the object that begins here, skipping the members before it.
  private mutating func enterMember(_ name: String) throws {
    guard try input.nextByte() == UInt8(ascii: "{") else {
      throw ImportError("expected an object with a member \(DatastoreError.quoted(name))", at: input)
    }
    input.take(1)
    let wanted = JSONString.quoted(name)
    while try input.nextByte() == UInt8(ascii: "\"") {
      guard let length = try valueLength() else { break }
      let found = input.withBytes(length) { JSONString.quoted(JSONBytes($0).string(at: 0)) }
      input.take(length)
      guard try input.nextByte() == UInt8(ascii: ":") else { break }
      input.take(1)
      if found == wanted { return }
      try skipValue()
      if try input.nextByte() == UInt8(ascii: ",") { input.take(1) }
    }
    throw ImportError(
      "there is no member \(DatastoreError.quoted(name)); check the path given to --at", at: input)
  }

  /// Skips a value of any length without buffering it.
  private mutating func skipValue() throws {
    var depth = 0
    var isInString = false
    _ = try input.nextByte()
    while true {
      var offset = 0
      while offset < input.available {
        let byte = input[offset]
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
          return input.take(offset)
        } else if byte == UInt8(ascii: "\"") {
          isInString = true
        } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
          depth += 1
        } else if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
          depth -= 1
        }
        offset += 1
      }
      // If a backslash is the last buffered byte, its escape continues in the next bytes.
      let passed = offset > input.available ? input.available - 1 : input.available
      input.take(passed)
      guard try input.fill() else {
        throw ImportError("the text ends inside a value; check that it is complete", at: input)
      }
    }
  }
}
