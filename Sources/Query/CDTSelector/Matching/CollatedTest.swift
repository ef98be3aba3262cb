import CDTJSON

/// A predicate with strings that are compared by a collation, evaluated on stored text.
struct CollatedTest: Sendable {
  private enum Form: Sendable {
    /// `$eq` and `$in`: the keys of the values.
    case among(Set<OrderKey>)
    /// Comparison with a string; numbers are less than all strings.
    case compare(Predicate.Comparison, OrderKey)
    case prefix([UInt8])
  }

  private let form: Form
  private let collation: Collation

  init(_ predicate: Predicate, _ collation: Collation) {
    self.collation = collation
    switch predicate.folded(by: collation) ?? predicate {
    case .equal(let value): form = .among([OrderKey(value)])
    case .among(let members): form = .among(Set(members.map { OrderKey($0) }))
    case .compare(let comparison, let value): form = .compare(comparison, OrderKey(value))
    case .beginsWith(let prefix): form = .prefix(Array(prefix.utf8))
    // These are not compared by a collation.
    case .exists, .notNull, .type, .modulo, .size, .regex, .near, .within, .elementMatches, .allElementsMatch,
      .keyMatches, .computed, .collated:
      form = .among([])
    }
  }

  /// Whether the value at an offset passes. Does not look into arrays.
  func holds(_ bytes: JSONBytes, at start: Int) -> Bool {
    let kind = bytes.kind(at: start)
    switch form {
    case .among(let keys): return keys.contains(OrderKey(bytes, at: start, by: collation))
    case .compare(let comparison, let key):
      guard kind == .number || kind == .string else { return false }
      let own = OrderKey(bytes, at: start, by: collation)
      return comparison.holds(own < key ? .ascending : own == key ? .same : .descending)
    case .prefix(let prefix):
      guard kind == .string else { return false }
      return bytes.withStringBytes(at: start) { $0.folded(by: collation) }.starts(with: prefix)
    }
  }
}
