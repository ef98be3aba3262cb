/// Options of the parser.
public struct JSONParsingOptions: Sendable, Hashable {
  /// What to do with a repeated member name in an object, which RFC 8259 leaves open.
  public enum DuplicateMembers: Sendable, Hashable {
    /// The text is invalid, as a value would be lost.
    case refuse
    /// The last value is kept, at the position of the first.
    case keepLast
  }

  /// The maximum nesting depth of arrays and objects: from 1 to 1,000 levels, so that no text can overflow the stack.
  /// Other values are clamped.
  public var maximumDepth = 512 {
    didSet { maximumDepth = min(max(maximumDepth, 1), 1_000) }
  }

  /// What to do with repeated member names.
  public var duplicateMembers = DuplicateMembers.refuse

  /// The defaults: 512 levels, no repeated names.
  public init() {}
}
