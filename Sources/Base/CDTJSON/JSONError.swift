/// An error in JSON text, with its place.
///
/// ```swift
/// do {
///   _ = try JSONValue(parsing: "{\"a\": tru}")
/// } catch {
///   print(error)  // line 1, column 7: expected a value
/// }
/// ```
public struct JSONError: Error, Hashable, Sendable {
  /// The kind of error, for programs. New codes may be added.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name.
    public let description: String

    package init(_ name: String) { description = name }

    /// A value is expected.
    public static let expectedValue = Code("expectedValue")
    /// A comma, a colon, a bracket or a key is missing.
    public static let expectedCharacter = Code("expectedCharacter")
    /// The text ends inside a value.
    public static let unexpectedEnd = Code("unexpectedEnd")
    /// There is text after the value.
    public static let trailingText = Code("trailingText")
    /// A number is malformed.
    public static let invalidNumber = Code("invalidNumber")
    /// A number is out of the range of a double.
    public static let numberOutOfRange = Code("numberOutOfRange")
    /// A string has an unescaped control character.
    public static let invalidString = Code("invalidString")
    /// An escape sequence is invalid.
    public static let invalidEscape = Code("invalidEscape")
    /// A surrogate is unpaired.
    public static let loneSurrogate = Code("loneSurrogate")
    /// The bytes are not valid UTF-8.
    public static let invalidUTF8 = Code("invalidUTF8")
    /// An object has a repeated key.
    public static let duplicateMember = Code("duplicateMember")
    /// The nesting exceeds its limit.
    public static let tooDeep = Code("tooDeep")
    /// The value is not an object.
    public static let notAnObject = Code("notAnObject")
  }

  /// The kind of error, for programs.
  public let code: Code
  /// The place in bytes from the start of the text.
  public let offset: Int
  /// The line, starting at 1.
  public let line: Int
  /// The column in characters, starting at 1.
  public let column: Int
  /// The message: the problem, then the remedy.
  public let message: String
}

extension JSONError: CustomStringConvertible {
  /// The place and the message, as in `line 1, column 7: expected a value`.
  public var description: String { "line \(line), column \(column): \(message)" }
}
