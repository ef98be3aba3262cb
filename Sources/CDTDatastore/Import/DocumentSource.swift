import JSON

/// Reads documents out of a file, one at a time.
protocol DocumentSource {
  /// The next document, or `nil` after the last.
  ///
  /// - Throws: ``ImportError`` for a document that can't be taken; ``DatastoreError`` when the file can't be read.
  mutating func next() throws -> SourceDocument?

  /// Goes on behind a document that was refused; false when there is no telling where the next one begins.
  mutating func recover() throws -> Bool

  /// How many bytes have been read.
  var taken: Int64 { get }
}

/// A document as it was read, and where.
struct SourceDocument {
  let object: NormalizedObject
  let file: String
  let line: Int
}

/// One JSON object a line.
struct JSONLinesSource: DocumentSource {
  private var input: InputBuffer
  private var length = 0

  init(_ input: InputBuffer) {
    self.input = input
  }

  var taken: Int64 { input.taken }

  mutating func next() throws -> SourceDocument? {
    while true {
      guard let length = try input.lineLength() else { return nil }
      self.length = length
      let isBlank = input.withBytes(length) { JSONBytes($0).skipSpace(0) == length }
      guard isBlank else { break }
      input.take(length + 1)
    }
    let document = try read()
    input.take(length + 1)
    return document
  }

  mutating func recover() -> Bool {
    input.take(length + 1)
    return true
  }

  private func read() throws -> SourceDocument {
    let result: Result<NormalizedObject, JSONError> = input.withBytes(length) { line in
      do throws(JSONError) {
        let object = try JSONText.normalize(line)
        try JSONText.finish(line, from: object.end)
        return .success(object)
      } catch {
        return .failure(error)
      }
    }
    switch result {
    case .success(let object): return SourceDocument(object: object, file: input.name, line: input.line)
    case .failure(let error): throw ImportError(error, in: input)
    }
  }
}

/// The elements of one JSON array, which may lie in a larger object.
struct JSONArraySource: DocumentSource {
  private var input: InputBuffer
  private var isStarted = false
  private let path: [String]

  /// - Parameter path: The names on the way to the array; none when the file is the array.
  init(_ input: InputBuffer, at path: [String]) {
    self.input = input
    self.path = path
  }

  var taken: Int64 { input.taken }

  mutating func next() throws -> SourceDocument? {
    if !isStarted {
      try enter()
      isStarted = true
      if try input.nextByte() == UInt8(ascii: "]") { return nil }
    } else {
      switch try input.nextByte() {
      case UInt8(ascii: ",")?: input.take(1)
      case UInt8(ascii: "]")?: return nil
      case nil: throw ImportError("the text ends within the array", at: input)
      default: throw ImportError("expected a comma or \"]\"", at: input)
      }
    }
    return try element()
  }

  mutating func recover() throws -> Bool {
    // A refused element still has an end, unless the text itself is broken.
    guard try input.nextByte() == UInt8(ascii: "{"), let length = try valueLength() else { return false }
    input.take(length)
    return true
  }

  private mutating func element() throws -> SourceDocument {
    guard try input.nextByte() == UInt8(ascii: "{") else {
      throw ImportError("a document is an object in braces; remove what is none", at: input)
    }
    guard let length = try valueLength() else { throw ImportError("the text ends within a value", at: input) }
    let result: Result<NormalizedObject, JSONError> = input.withBytes(length) { text in
      do throws(JSONError) {
        return .success(try JSONText.normalize(text))
      } catch {
        return .failure(error)
      }
    }
    let object: NormalizedObject
    switch result {
    case .success(let normalized): object = normalized
    case .failure(let error): throw ImportError(error, in: input)
    }
    let line = input.line
    input.take(object.end)
    return SourceDocument(object: object, file: input.name, line: line)
  }

  /// How long the value is that begins here, or `nil` when the input ends in it.
  private mutating func valueLength() throws -> Int? {
    while true {
      let end = input.withBytes { JSONBytes($0).endOfValue(at: 0) }
      if end < input.available { return end }
      guard try input.fill() else {
        let last = input[input.available - 1]
        return last == UInt8(ascii: "}") || last == UInt8(ascii: "]") ? end : nil
      }
    }
  }

  // MARK: The way to the array

  private mutating func enter() throws {
    for name in path { try enterMember(name) }
    guard try input.nextByte() == UInt8(ascii: "[") else {
      throw ImportError("expected an array of documents", at: input)
    }
    input.take(1)
  }

  /// Goes to the value of a member of the object that begins here; the members before it are passed over.
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

  /// Passes over a value of any length without holding it.
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
          byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
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
      // A backslash may be the last byte here; what it escapes is read with the next ones.
      let passed = offset > input.available ? input.available - 1 : input.available
      input.take(passed)
      guard try input.fill() else { throw ImportError("the text ends within a value", at: input) }
    }
  }
}
