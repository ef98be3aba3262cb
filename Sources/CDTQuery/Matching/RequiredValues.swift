package import JSON

/// Values of which every matching document holds at least one, somewhere: by them the few documents that can match are
/// found among many without reading the others.
///
/// They are hashes, so a document that is found may still be without them all.
package struct RequiredValues {
  package let hashes: [UInt32]

  /// How many alternatives are looked for at most.
  private static let most = 100

  /// The fewest such values of a clause, or `nil` when it has none or very many.
  package init?(of clause: Clause) {
    guard let hashes = Self.hashes(of: clause), hashes.count <= Self.most else { return nil }
    self.hashes = hashes
  }

  private static func hashes(of clause: Clause) -> [UInt32]? {
    switch clause {
    case .field(let path, let predicate): path.documentField == nil ? hashes(of: predicate) : nil
    case .value(let predicate): hashes(of: predicate)
    case .and(let members): members.compactMap(hashes).min { $0.count < $1.count }
    case .or(let members): all(members.lazy.map(hashes))
    case .always, .never, .not, .text: nil
    }
  }

  private static func hashes(of predicate: Predicate) -> [UInt32]? {
    switch predicate {
    case .equal(let value): hash(of: value).map { [$0] }
    case .among(let values): all(values.lazy.map { hash(of: $0).map { [$0] } })
    case .elementMatches(.fields(let clause)), .elementMatches(.operators(let clause)): hashes(of: clause)
    default: nil
    }
  }

  private static func all(_ alternatives: some Sequence<[UInt32]?>) -> [UInt32]? {
    var all: [UInt32] = []
    for hashes in alternatives {
      guard let hashes, all.count <= most else { return nil }
      all += hashes
    }
    return all
  }

  private static func hash(of value: JSONValue) -> UInt32? {
    switch value {
    case .string(let string):
      JSONString.quoted(string).withUnsafeBytes { ValueHash.string(JSONBytes($0), 1, $0.count - 1) }
    case .int(let int): ValueHash.number(.int(int))
    case .double(let double): ValueHash.number(.double(double))
    case .null, .bool, .bigInteger, .array, .object: nil
    }
  }
}

/// Hashes of strings and numbers, which are another's in each process, so that nobody can prepare documents that have the
/// same.
package enum ValueHash {
  private static let seed = UInt64.random(in: .min ... .max)

  /// - Parameters:
  ///   - start: Where the string's spelling begins, behind its quote.
  ///   - end: Where it ends.
  static func string(_ text: JSONBytes, _ start: Int, _ end: Int) -> UInt32 {
    var hash = seed ^ UInt64(bitPattern: Int64(end - start))
    var offset = start
    while offset < end {
      hash = mix(hash ^ text.prefix(offset, end))
      offset += 8
    }
    return UInt32(truncatingIfNeeded: hash >> 32)
  }

  /// Equal numbers have one hash, whether they are whole numbers or doubles.
  static func number(_ number: JSONNumber) -> UInt32 {
    let bits: UInt64 =
      switch number {
      case .int(let int): UInt64(bitPattern: int)
      case .double(let double): Int64(exactly: double).map { UInt64(bitPattern: $0) } ?? double.bitPattern
      }
    return UInt32(truncatingIfNeeded: mix(~seed ^ bits) >> 32)
  }

  private static func mix(_ word: UInt64) -> UInt64 {
    let product = word.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return product.high ^ product.low &+ (word << 32 | word >> 32)
  }

  /// Gives the hash of each string and each number of a document to `body`, those of strings that are members' names left
  /// out.
  ///
  /// - Parameter text: Stored text, in which nothing stands between a name and its colon.
  /// - Returns: Whether all of them have one: a number that is beyond every double has none.
  package static func forEach(in text: JSONBytes, _ body: (UInt32) -> Void) -> Bool {
    var isComplete = true
    var offset = 0
    while offset < text.count {
      switch text[offset] {
      case UInt8(ascii: "\""):
        let end = text.endOfString(at: offset)
        if text[end] != UInt8(ascii: ":") { body(string(text, offset + 1, end - 1)) }
        offset = end
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
        if let number = text.number(at: offset) { body(Self.number(number)) } else { isComplete = false }
        offset = text.endOfValue(at: offset)
      default: offset += 1
      }
    }
    return isComplete
  }
}
