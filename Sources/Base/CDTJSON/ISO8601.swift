package import CDTPlatform

/// Dates as text, `2024-05-01T12:30:00.250Z`, in the Gregorian calendar for all years.
///
/// Foundation's format truncates milliseconds instead of rounding, so every other date would be off by one, and
/// accepts February 31 and trailing text.
package enum ISO8601 {
  /// The text in UTC, rounded to milliseconds; `nil` outside the years 0 to 9999.
  package static func text(of date: Date) -> String? {
    let rounded = (date.timeIntervalSinceReferenceDate * 1_000).rounded()
    guard let milliseconds = Int(exactly: rounded) else { return nil }
    let (day, inDay) = milliseconds.flooredDivision(by: 86_400_000)
    guard days.contains(day) else { return nil }
    let (year, month, dayOfMonth) = civil(day)
    let fields = [
      digits(year, 4), "-", digits(month, 2), "-", digits(dayOfMonth, 2), "T",
      digits(inDay / 3_600_000, 2), ":", digits(inDay / 60_000 % 60, 2), ":", digits(inDay / 1_000 % 60, 2),
      ".", digits(inDay % 1_000, 3), "Z",
    ]
    return fields.joined()
  }

  /// Parses a date with or without a fraction, in UTC (`Z`) or with an offset (`+02:00`); `nil` for any other text.
  package static func date(_ text: String) -> Date? {
    var text = Substring(text).utf8
    guard let year = number(&text, digits: 4), skip("-", &text),
      let month = number(&text, digits: 2), (1...12).contains(month), skip("-", &text),
      let day = number(&text, digits: 2), day > 0, day <= length(ofMonth: month, in: year), skip("T", &text),
      let hour = number(&text, digits: 2), hour < 24, skip(":", &text),
      let minute = number(&text, digits: 2), minute < 60, skip(":", &text),
      let second = number(&text, digits: 2), second < 60, let fraction = fraction(&text),
      let offset = offset(&text), text.isEmpty
    else { return nil }
    let seconds = dayNumber(year, month, day) * 86_400 + hour * 3_600 + (minute - offset) * 60 + second
    return Date(timeIntervalSinceReferenceDate: Double(seconds) + fraction)
  }

  // MARK: Text

  private static func digits(_ number: Int, _ count: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, count - digits.count)) + digits
  }

  private static func skip(_ character: Unicode.Scalar, _ text: inout Substring.UTF8View) -> Bool {
    guard text.first == UInt8(ascii: character) else { return false }
    text.removeFirst()
    return true
  }

  private static func number(_ text: inout Substring.UTF8View, digits: Int) -> Int? {
    let field = text.prefix(digits)
    guard field.count == digits, field.allSatisfy(\.isDigit) else { return nil }
    text.removeFirst(digits)
    return Int(Substring(field))
  }

  /// 0 if there is no fraction.
  private static func fraction(_ text: inout Substring.UTF8View) -> Double? {
    guard text.first == UInt8(ascii: ".") else { return 0 }
    let end = text.dropFirst().firstIndex { !$0.isDigit } ?? text.endIndex
    let digits = Substring(text[..<end])
    text = text[end...]
    return digits.utf8.count > 1 ? Double("0" + digits) : nil
  }

  /// Minutes ahead of UTC.
  private static func offset(_ text: inout Substring.UTF8View) -> Int? {
    if skip("Z", &text) { return 0 }
    let isBehind = skip("-", &text)
    guard isBehind || skip("+", &text), let hours = number(&text, digits: 2), hours < 24 else { return nil }
    _ = skip(":", &text)
    guard let minutes = number(&text, digits: 2), minutes < 60 else { return nil }
    return (isBehind ? -1 : 1) * (hours * 60 + minutes)
  }
}

// Days are counted from January 1, 2001, Foundation's reference date. 400 years of the calendar have 146,097 days.
extension ISO8601 {
  private static let days = dayNumber(0, 1, 1)...dayNumber(9999, 12, 31)

  private static func length(ofMonth month: Int, in year: Int) -> Int {
    let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return month == 2 ? (isLeapYear ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  /// The number of days from January 1 of year 0 to January 1 of a year, including leap days.
  private static func daysBefore(_ year: Int) -> Int {
    year * 365 + (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400
  }

  private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let months = (1..<month).reduce(0) { $0 + length(ofMonth: $1, in: year) }
    return daysBefore(year) - daysBefore(2001) + months + day - 1
  }

  private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
    let sinceYear0 = day + daysBefore(2001)
    // An estimate by the average length of a year, which may be off by one.
    var year = sinceYear0 * 400 / 146_097
    if daysBefore(year) > sinceYear0 { year -= 1 }
    if daysBefore(year + 1) <= sinceYear0 { year += 1 }
    var rest = sinceYear0 - daysBefore(year)
    var month = 1
    while rest >= length(ofMonth: month, in: year) {
      rest -= length(ofMonth: month, in: year)
      month += 1
    }
    return (year, month, rest + 1)
  }
}

extension Int {
  /// Quotient and remainder; the remainder is not negative.
  fileprivate func flooredDivision(by divisor: Int) -> (quotient: Int, remainder: Int) {
    let remainder = (self % divisor + divisor) % divisor
    return ((self - remainder) / divisor, remainder)
  }
}
