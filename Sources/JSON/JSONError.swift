/// JSON text that was refused: where, and why.
///
/// ```swift
/// do {
///   _ = try JSONValue(parsing: "{\"a\": tru}")
/// } catch {
///   print(error)  // line 1, column 7: expected a value
/// }
/// ```
public struct JSONError: Error, Hashable, Sendable {
  /// What is wrong, for programs; codes may be added.
  public struct Code: Hashable, Sendable {
    private enum Name {
      case expectedValue, expectedCharacter, unexpectedEnd, trailingText, invalidNumber, numberOutOfRange,
        invalidString, invalidEscape, loneSurrogate, invalidUTF8, duplicateMember, tooDeep, notAnObject
    }
    private let name: Name

    private init(_ name: Name) {
      self.name = name
    }

    /// Something that begins no value stands where one should.
    public static let expectedValue = Code(.expectedValue)
    /// A comma, a colon, a bracket or a key is missing.
    public static let expectedCharacter = Code(.expectedCharacter)
    /// The text ends within a value.
    public static let unexpectedEnd = Code(.unexpectedEnd)
    /// Something follows the value.
    public static let trailingText = Code(.trailingText)
    /// A number that is not written as JSON has it.
    public static let invalidNumber = Code(.invalidNumber)
    /// A number that no double can hold.
    public static let numberOutOfRange = Code(.numberOutOfRange)
    /// A control character in a string.
    public static let invalidString = Code(.invalidString)
    /// A backslash with something that JSON does not escape so.
    public static let invalidEscape = Code(.invalidEscape)
    /// Half of a surrogate pair.
    public static let loneSurrogate = Code(.loneSurrogate)
    /// Bytes that are no UTF-8.
    public static let invalidUTF8 = Code(.invalidUTF8)
    /// A key that its object already has.
    public static let duplicateMember = Code(.duplicateMember)
    /// Arrays and objects nested deeper than the bound.
    public static let tooDeep = Code(.tooDeep)
    /// A value of another type where an object is needed.
    public static let notAnObject = Code(.notAnObject)
  }

  /// What is wrong, for programs.
  public let code: Code
  /// Where, in bytes from the start of the text.
  public let offset: Int
  /// The line, from 1.
  public let line: Int
  /// The column in characters, from 1.
  public let column: Int
  /// What is wrong, for people.
  public let message: String
}

extension JSONError: CustomStringConvertible {
  /// Place and message, as in `line 1, column 7: expected a value`.
  public var description: String { "line \(line), column \(column): \(message)" }
}
