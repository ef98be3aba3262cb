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
      input.takeLine(length)
    }
    let document = try read()
    input.takeLine(length)
    return document
  }

  mutating func recover() -> Bool {
    input.takeLine(length)
    return true
  }

  private func read() throws -> SourceDocument {
    let result: Result<NormalizedObject, JSONError> = input.withBytes(length) { line in
      do throws(JSONError) {
        return .success(try JSONText.normalize(whole: line))
      } catch {
        return .failure(error)
      }
    }
    switch result {
    case .success(let object): return SourceDocument(object: object, file: input.name, line: input.line)
    case .failure(let error):
      guard error.code == .unexpectedEnd, length < input.available else {
        throw ImportError(error, in: input)
      }
      throw ImportError(
        file: input.name, line: input.line, column: input.column + error.column - 1,
        message: "the line ends within a value; put each document on one line, or all of them into an array")
    }
  }
}
