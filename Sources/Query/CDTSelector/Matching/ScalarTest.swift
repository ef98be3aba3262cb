import CDTJSON

/// Equality or comparison with a value, evaluated on stored text.
enum ScalarTest: Sendable {
  case kind(JSONKind)
  /// Booleans only: the results for false and for true.
  case booleans(whenFalse: Bool, whenTrue: Bool)
  /// Comparison or equality with a number; `strings` is the result for strings, which are greater than all numbers.
  case number(JSONNumber, Predicate.Comparison?, strings: Bool)
  /// Comparison with a string; numbers are less than all strings.
  case string([UInt8], Predicate.Comparison)
  /// Equality with a string: a string has only one stored form, so the escaped bytes are compared.
  case spelling([UInt8])
  /// Equality with an array or object by ``OrderKey``: keys are equal if and only if the values are.
  case key([UInt8], JSONKind)

  /// `$eq`
  static func equality(_ value: JSONValue) -> ScalarTest {
    switch value {
    case .null: .kind(.null)
    case .bool(let bool): .kind(bool ? .true : .false)
    case .int, .double, .spelled: .number(JSONNumber(value) ?? .int(0), nil, strings: false)
    case .string(let string): .spelling(JSONString.quoted(string))
    case .array: .key(OrderKey(value).bytes, .array)
    case .object: .key(OrderKey(value).bytes, .object)
    }
  }

  /// `$lt`, `$lte`, `$gt`, `$gte`
  static func range(_ comparison: Predicate.Comparison, _ value: JSONValue) -> ScalarTest {
    switch value {
    case .bool(let bool):
      return .booleans(
        whenFalse: comparison.holds(bool ? .ascending : .same),
        whenTrue: comparison.holds(bool ? .same : .descending))
    case .string(let string): return .string(Array(string.utf8), comparison)
    default:
      return .number(JSONNumber(value) ?? .int(0), comparison, strings: comparison.holds(.descending))
    }
  }

  /// `$beginsWith`: strings are escaped character by character, so a prefix of a string is a prefix of its escaped
  /// form.
  static func prefix(_ prefix: String) -> ScalarTest {
    .spelling(JSONString.quoted(prefix).dropLast())
  }

  /// Whether the value at an offset passes. Does not look into arrays.
  func holds(_ bytes: JSONBytes, at start: Int) -> Bool {
    switch self {
    case .kind(let kind): return bytes.kind(at: start) == kind
    case .booleans(let whenFalse, let whenTrue):
      let kind = bytes.kind(at: start)
      return kind == .false && whenFalse || kind == .true && whenTrue
    case .number(let operand, let comparison, let strings):
      switch bytes.kind(at: start) {
      case .number:
        guard let number = bytes.number(at: start) else { return false }
        let order = Order(number, operand)
        return comparison?.holds(order) ?? (order == .same)
      case .string: return strings
      default: return false
      }
    case .string(let operand, let comparison):
      switch bytes.kind(at: start) {
      case .number: return comparison.holds(.ascending)
      case .string:
        return bytes.withStringBytes(at: start) { string in
          operand.withUnsafeBytes { comparison.holds(Order(string, $0)) }
        }
      default: return false
      }
    case .spelling(let spelling): return bytes.hasPrefix(spelling, at: start)
    case .key(let key, let kind):
      return bytes.kind(at: start) == kind && OrderKey(bytes, at: start).bytes == key
    }
  }
}
