import CDTPlatform

/// Times as HTTP headers have them (RFC 9110, IMF-fixdate).
package enum HTTPDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// A time such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  ///
  /// - Parameter seconds: Seconds since 1970.
  package static func text(_ seconds: Int64) -> String {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let date = Date(timeIntervalSince1970: TimeInterval(seconds))
    let parts = calendar.dateComponents([.weekday, .year, .month, .day, .hour, .minute, .second], from: date)
    let day = days[((parts.weekday ?? 1) - 1) % 7]
    let month = months[((parts.month ?? 1) - 1) % 12]
    let time = [parts.hour, parts.minute, parts.second].map { twoDigits($0 ?? 0) }.joined(separator: ":")
    return "\(day), \(twoDigits(parts.day ?? 1)) \(month) \(parts.year ?? 1970) \(time) GMT"
  }

  /// The seconds since 1970 of a time; `nil` if the text is not a time.
  package static func seconds(_ text: String) -> Int64? {
    let words = text.split(separator: " ")
    guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(where: { $0 == words[2] }) else {
      return nil
    }
    let numbers = ([words[1], words[3]] + words[4].split(separator: ":")).map { UInt16($0).map(Int.init) }
    guard numbers.count == 5, !numbers.contains(nil) else { return nil }
    let parts = DateComponents(
      timeZone: .gmt, year: numbers[1], month: month + 1, day: numbers[0], hour: numbers[2],
      minute: numbers[3], second: numbers[4])
    return Calendar(identifier: .gregorian).date(from: parts).map { Int64($0.timeIntervalSince1970) }
  }

  private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
