import CDTJSON

/// Reads documents from a file, one at a time.
protocol DocumentSource {
  /// Reads the next document and leaves its texts in `normalizer`.
  ///
  /// - Returns: Its place, or `nil` after the last document.
  /// - Throws: ``ImportError`` for an invalid document; ``DatastoreError`` if the file can't be read.
  mutating func next(_ normalizer: inout JSONNormalizer) throws -> SourcePlace?

  /// Continues after an invalid document; `false` if the start of the next one is unknown.
  mutating func recover() throws -> Bool

  /// The number of bytes read.
  var taken: Int64 { get }
}

/// The place of a document in the input.
struct SourcePlace {
  let file: String
  let line: Int
}

/// One JSON object per line.
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
      message: "the line ends inside a value; put each document on one line, or all of them in an array")
  }
}
