import JSON

/// Reads documents out of a file, one at a time.
protocol DocumentSource {
  /// Reads the next document, whose texts are with `normalizer` then.
  ///
  /// - Returns: Where it was, or `nil` after the last.
  /// - Throws: ``ImportError`` for a document that can't be taken; ``DatastoreError`` when the file can't be read.
  mutating func next(_ normalizer: inout JSONNormalizer) throws -> SourcePlace?

  /// Goes on behind a document that was refused; false when there is no telling where the next one begins.
  mutating func recover() throws -> Bool

  /// How many bytes have been read.
  var taken: Int64 { get }
}

/// Where a document was read.
struct SourcePlace {
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

  mutating func next(_ normalizer: inout JSONNormalizer) throws -> SourcePlace? {
    while true {
      guard let length = try input.lineLength() else { return nil }
      self.length = length
      let isBlank = input.withBytes(length) { JSONBytes($0).skipSpace(0) == length }
      guard isBlank else { break }
      input.takeLine(length)
    }
    try read(&normalizer)
    let place = SourcePlace(file: input.name, line: input.line)
    input.takeLine(length)
    return place
  }

  mutating func recover() -> Bool {
    input.takeLine(length)
    return true
  }

  private func read(_ normalizer: inout JSONNormalizer) throws {
    let failure: JSONError? = input.withBytes(length) { line in
      do throws(JSONError) {
        try normalizer.normalize(whole: line)
        return nil
      } catch {
        return error
      }
    }
    guard let failure else { return }
    guard failure.code == .unexpectedEnd, length < input.available else {
      throw ImportError(failure, in: input)
    }
    throw ImportError(
      file: input.name, line: input.line, column: input.column + failure.column - 1,
      message: "the line ends within a value; put each document on one line, or all of them into an array")
  }
}
