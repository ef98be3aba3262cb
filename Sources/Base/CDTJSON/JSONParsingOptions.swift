/// Options of the parser.
public struct JSONParsingOptions: Sendable, Hashable {
  /// The maximum nesting depth of arrays and objects: from 1 to 1,000 levels, so that no text can overflow the stack.
  /// Other values are clamped.
  public var maximumDepth = 512 {
    didSet { maximumDepth = min(max(maximumDepth, 1), 1_000) }
  }

  /// The defaults: 512 levels.
  public init() {}
}
