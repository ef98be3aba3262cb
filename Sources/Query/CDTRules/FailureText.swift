import CDTJSON
import CDTSelector

/// The operator, the operands and the message of a predicate that fails.
struct FailureText {
  let type: String
  let parameters: [JSONValue]
  let message: String

  private init(_ type: String, _ parameters: [JSONValue], _ message: String) {
    self.type = type
    self.parameters = parameters.prefix(Self.maximumParameters).map(\.shortened)
    self.message = message
  }

  private static let maximumParameters = 100
  /// The maximum length of a computed operand's value.
  private static let maximumOperand = 10_000

  /// - Parameters:
  ///   - isNegated: Whether the complement fails.
  ///   - start: The value; `nil` if it is missing.
  init(_ predicate: Predicate, _ isNegated: Bool, _ bytes: JSONBytes, at start: Int?) {
    self =
      switch predicate {
      case .equal(let value):
        Self(
          isNegated ? "ne" : "eq", [value],
          isNegated ? "must not be \(value.shown)" : "expected \(value.shown)")
      case .compare(let comparison, let value): Self(comparison, isNegated, value)
      case .among(let members):
        Self(
          isNegated ? "nin" : "in", members,
          (isNegated ? "must not be one of " : "expected one of ") + Self.list(members))
      case .exists: Self("exists", [.bool(!isNegated)], isNegated ? "must not be present" : "must be present")
      case .notNull: Self("null", isNegated, [], "a value other than null", not: "expected null")
      case .type(let type):
        Self(
          "type", isNegated, [.string(type.rawValue)], type.withArticle,
          not: "must not be \(type.withArticle)")
      case .modulo(let modulo):
        Self(
          "mod", isNegated, [modulo.divisorValue, modulo.remainderValue],
          "a number that leaves \(modulo.remainderValue.text) when divided by \(modulo.divisorValue.text)")
      case .size(let size):
        Self("size", isNegated, [.int(Int64(size))], "an array of \(size) elements")
      case .beginsWith(let prefix):
        Self(
          "beginsWith", isNegated, [.string(prefix)],
          "a string that begins with \(JSONValue.string(prefix).shown)")
      case .regex(let expression):
        Self(
          "regex", isNegated, [.string(expression.pattern)],
          "a string that matches \(JSONValue.string(expression.pattern).shown)")
      case .near: Self("near", isNegated, [], "a value at another distance")
      case .within(let region):
        Self(
          "geoWithin", isNegated, [.object(region.json)],
          "a place within \(JSONValue.object(region.json).shown)")
      case .elementMatches: Self("elemMatch", isNegated, [], "an array with a matching element")
      case .allElementsMatch: Self("allMatch", isNegated, [], "an array whose elements all match")
      case .keyMatches: Self("keyMapMatch", isNegated, [], "an object with a matching key")
      case .collated(let predicate, _): Self(predicate, isNegated, bytes, at: start)
      case .computed(let computed): Self(computed, isNegated, bytes, at: start)
      }
  }

  private init(
    _ type: String, _ isNegated: Bool, _ parameters: [JSONValue], _ expected: String, not: String? = nil
  ) {
    self.init(
      isNegated ? "not \(type)" : type, parameters,
      isNegated ? not ?? "must not be \(expected)" : "expected \(expected)")
  }

  private init(_ comparison: Predicate.Comparison, _ isNegated: Bool, _ value: JSONValue) {
    let comparison = isNegated ? comparison.opposite : comparison
    let words =
      switch comparison {
      case .less: "less than"
      case .lessOrEqual: "at most"
      case .greater: "more than"
      case .greaterOrEqual: "at least"
      }
    self.init(String(comparison.rawValue.dropFirst()), [value], "expected \(words) \(value.shown)")
  }

  /// An operand that is known is shown as a literal.
  private init(_ computed: ComputedPredicate, _ isNegated: Bool, _ bytes: JSONBytes, at start: Int?) {
    let name = String(computed.name.dropFirst())
    guard let value = computed.value(in: bytes, for: start ?? 0, limit: Self.maximumOperand) else {
      self.init(
        name, isNegated, [computed.operand.json],
        "the value of \(computed.operand.json.shown), which is missing")
      return
    }
    switch (name, value) {
    case ("eq", _): self.init(.equal(value), isNegated, bytes, at: start)
    case ("in", .array(let members)): self.init(.among(members), isNegated, bytes, at: start)
    case ("all", .array(let members)):
      self.init(name, isNegated, members, "all of \(Self.list(members))")
    default:
      if let comparison = Predicate.Comparison(rawValue: computed.name) {
        self.init(comparison, isNegated, value)
      } else {
        self.init(
          name, isNegated, value.arrayValue ?? [value],
          "a value for which \(computed.name) \(value.shown) holds")
      }
    }
  }

  private static func list(_ values: [JSONValue]) -> String {
    let shown = values.prefix(10).map(\.shown).joined(separator: ", ")
    return values.count > 10 ? "\(shown) and \(values.count - 10) more" : shown
  }
}

extension JSONType {
  fileprivate var withArticle: String {
    switch self {
    case .null: "null"
    case .array, .object: "an \(rawValue)"
    case .boolean, .number, .string: "a \(rawValue)"
    }
  }
}

extension JSONValue {
  private static let maximumLength = 200

  /// The text for a message.
  fileprivate var shown: String { beginning(of: 60) ?? text }

  /// The value itself, or, if its text is long, its beginning.
  fileprivate var shortened: JSONValue { beginning(of: Self.maximumLength).map { .string($0) } ?? self }

  /// The beginning of the text, if the text is longer than a number of bytes.
  private func beginning(of length: Int) -> String? {
    let text = pruned(to: length + 1).text
    return text.utf8.count > length ? text.beginning(of: length) : nil
  }

  /// A value whose text has the same beginning, without much of the rest.
  private func pruned(to length: Int) -> JSONValue {
    switch self {
    case .string(let string): .string(string.utf8.count > length ? string.beginning(of: length) : string)
    case .array(let elements): .array(elements.prefix(length).map { $0.pruned(to: length) })
    case .object(let object):
      .object(JSONObject(object.prefix(length).map { ($0.key, $0.value.pruned(to: length)) }))
    default: self
    }
  }
}

extension String {
  /// The beginning of the text, with a sign that there is more.
  func beginning(of length: Int) -> String {
    guard utf8.count > length else { return self }
    return "\(String(decoding: utf8.prefix(length), as: UTF8.self).prefix(length))…"
  }
}
