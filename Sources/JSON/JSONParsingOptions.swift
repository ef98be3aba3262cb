/// What a parser takes and what it leaves open.
public struct JSONParsingOptions: Sendable, Hashable {
  /// What becomes of a member whose name its object already has, which RFC 8259 leaves open.
  public enum DuplicateMembers: Sendable, Hashable {
    /// The text is refused: whichever is taken, the other would be lost.
    case refuse
    /// The last value stays, in the place of the first.
    case keepLast
  }

  /// How deep arrays and objects may nest: from 1 to 1,000 levels, so that no text can exhaust the stack; a bound beyond
  /// these is cut to them.
  public var maximumDepth = 512 {
    didSet { maximumDepth = min(max(maximumDepth, 1), 1_000) }
  }

  /// What becomes of repeated names.
  public var duplicateMembers = DuplicateMembers.refuse

  /// The defaults: 512 levels, no name twice.
  public init() {}
}
