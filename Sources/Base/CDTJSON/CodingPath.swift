/// The path to a nested value as a linked chain: the keys are only listed for an error.
final class CodingPath: Sendable {
  private let parent: CodingPath?
  private let key: any CodingKey
  /// The number of keys in the path.
  let depth: Int

  init(_ parent: CodingPath?, _ key: some CodingKey) {
    self.parent = parent
    self.key = key
    depth = (parent?.depth ?? 0) + 1
  }

  /// The keys, outermost first.
  var keys: [any CodingKey] {
    var keys: [any CodingKey] = []
    var path: CodingPath? = self
    while let step = path {
      keys.append(step.key)
      path = step.parent
    }
    return keys.reversed()
  }

  /// The maximum nesting depth, so that a cycle is an error instead of a stack overflow.
  static let maximumDepth = JSONParsingOptions().maximumDepth
}

/// A key of a member or the position of an element, for use without a key type.
struct AnyKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = "Index \(intValue)"
    self.intValue = intValue
  }

  /// The key under which a class encodes its superclass.
  static let superclass = AnyKey(stringValue: "super")
}
