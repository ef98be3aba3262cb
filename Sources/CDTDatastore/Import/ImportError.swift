import JSON

/// Something in imported data that can't be taken: where, and why.
public struct ImportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file, as it was named.
  public let file: String
  /// The line, from 1.
  public let line: Int
  /// The column in characters, from 1; 0 when the whole line is meant.
  public let column: Int
  /// What is wrong and what to do about it.
  public let message: String

  /// The place and the message, as in `people.jsonl:3:17: expected a value`.
  public var description: String {
    column > 0 ? "\(file):\(line):\(column): \(message)" : "\(file):\(line): \(message)"
  }
}

extension ImportError {
  /// An error in JSON text that begins at a place in the file.
  init(_ error: JSONError, in input: InputBuffer) {
    self.init(
      file: input.name, line: input.line + error.line - 1,
      column: error.line == 1 ? input.column + error.column - 1 : error.column, message: error.message)
  }

  init(_ message: String, at input: InputBuffer) {
    self.init(file: input.name, line: input.line, column: input.column, message: message)
  }
}
