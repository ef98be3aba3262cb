import CDTDatastore
import CDTJSON
import CDTPlatform

/// An error in imported data, with its place.
public struct ImportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file, as it was given.
  public let file: String
  /// The line, starting at 1.
  public let line: Int
  /// The column in characters, starting at 1; 0 for the whole line.
  public let column: Int
  /// The message: the problem, then the remedy.
  public let message: String

  /// The place and the message, as in `people.jsonl:3:17: expected a value`.
  public var description: String {
    column > 0 ? "\(file):\(line):\(column): \(message)" : "\(file):\(line): \(message)"
  }
}

extension ImportError {
  /// Converts the place of an error in JSON text to a place in the file.
  init(_ error: JSONError, in input: InputBuffer) {
    self.init(
      file: input.name, line: input.line + error.line - 1,
      column: error.line == 1 ? input.column + error.column - 1 : error.column, message: error.message)
  }

  init(_ message: String, at input: InputBuffer) {
    self.init(file: input.name, line: input.line, column: input.column, message: message)
  }
}
