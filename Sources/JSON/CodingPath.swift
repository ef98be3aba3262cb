/// The way to a value within another, as a chain: the keys are only listed when an error needs them.
final class CodingPath: Sendable {
  private let parent: CodingPath?
  private let key: any CodingKey
  /// How many keys lead here.
  let depth: Int

  init(_ parent: CodingPath?, _ key: some CodingKey) {
    self.parent = parent
    self.key = key
    depth = (parent?.depth ?? 0) + 1
  }

  /// The keys from the outermost value on.
  var keys: [any CodingKey] {
    var keys: [any CodingKey] = []
    var path: CodingPath? = self
    while let step = path {
      keys.append(step.key)
      path = step.parent
    }
    return keys.reversed()
  }

  /// How deep values may nest, so that a cycle is an error and not the end of the stack.
  static let maximumDepth = JSONParsingOptions().maximumDepth
}

/// A key of a member or the position of an element, where no type of keys is at hand.
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

  /// The member under which a class encodes what its superclass has.
  static let superclass = AnyKey(stringValue: "super")
}
