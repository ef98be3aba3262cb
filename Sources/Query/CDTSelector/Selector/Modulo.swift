package import CDTJSON

/// The argument of `$mod`: whole numbers of any size, with exact remainders.
///
/// ```swift
/// Modulo(divisor: 4, remainder: 1)?.holds(for: .int(-7))   // false: the remainder of -7 is -3
/// Modulo(divisor: 4.9, remainder: 1)?.holds(for: 13.5)     // true: 13 divided by 4 leaves 1
/// ```
package struct Modulo: Sendable, Hashable {
  package let divisorValue: JSONValue
  package let remainderValue: JSONValue
  private let divisor: WholeNumber
  private let remainder: WholeNumber

  /// Truncates both toward zero; `nil` if the divisor becomes 0.
  package init?(divisor: JSONValue, remainder: JSONValue) {
    guard let whole = WholeNumber(truncating: divisor), let rest = WholeNumber(truncating: remainder),
      !whole.isZero
    else { return nil }
    divisorValue = divisor
    remainderValue = remainder
    self.divisor = whole
    self.remainder = rest
  }

  /// Whether the number, truncated toward zero, has the remainder, whose sign is that of the dividend.
  package func holds(for number: JSONValue) -> Bool {
    if case .int(let value) = number, let divisor = divisor.int64, let remainder = remainder.int64 {
      return value.remainderReportingOverflow(dividingBy: divisor).partialValue == remainder
    }
    guard let dividend = WholeNumber(truncating: number) else { return false }
    return dividend.remainder(dividingBy: divisor) == remainder
  }
}
