package import JSON

/// The argument of `$mod`: whole numbers of any size, as what they leave when divided is exact.
///
/// ```swift
/// Modulo(divisor: 4, remainder: 1)?.holds(for: .int(-7))   // false: -7 leaves -3
/// Modulo(divisor: 4.9, remainder: 1)?.holds(for: 13.5)     // true: 13 leaves 1 when divided by 4
/// ```
package struct Modulo: Sendable, Hashable {
  package let divisorValue: JSONValue
  package let remainderValue: JSONValue
  private let divisor: WholeNumber
  private let remainder: WholeNumber

  /// Truncates both toward zero; `nil` when nothing is left of the divisor.
  package init?(divisor: JSONValue, remainder: JSONValue) {
    guard let whole = WholeNumber(truncating: divisor), let rest = WholeNumber(truncating: remainder),
      !whole.isZero
    else { return nil }
    divisorValue = divisor
    remainderValue = remainder
    self.divisor = whole
    self.remainder = rest
  }

  /// Whether the number, truncated toward zero, leaves the remainder; the remainder has the dividend's sign.
  package func holds(for number: JSONValue) -> Bool {
    if case .int(let value) = number, let divisor = divisor.int64, let remainder = remainder.int64 {
      return value.remainderReportingOverflow(dividingBy: divisor).partialValue == remainder
    }
    guard let dividend = WholeNumber(truncating: number) else { return false }
    return dividend.remainder(dividingBy: divisor) == remainder
  }
}
