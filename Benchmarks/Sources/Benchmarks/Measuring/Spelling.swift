/// The form of figures in tables: three digits, in a fitting unit.
enum Spelling {
  /// The median, and the least and greatest round behind it: `26.7 µs (26.1–28.0)`.
  static func time(_ spread: Figures.Spread) -> String {
    let (name, unit) = unit(of: spread.median)
    func digits(_ nanoseconds: Int) -> String { number(Double(nanoseconds) / unit) }
    return "\(digits(spread.median)) \(name) (\(digits(spread.least))–\(digits(spread.greatest)))"
  }

  static func time(_ nanoseconds: Int) -> String {
    let (name, unit) = unit(of: nanoseconds)
    return "\(number(Double(nanoseconds) / unit)) \(name)"
  }

  static func size(_ bytes: Int) -> String { "\(number(Double(bytes) / 1e6)) MB" }

  /// `1234567` as `1,234,567`.
  static func count(_ count: Int) -> String {
    var text = String(count)
    var position = text.count - 3
    while position > 0 {
      text.insert(",", at: text.index(text.startIndex, offsetBy: position))
      position -= 3
    }
    return text
  }

  static func number(_ value: Double) -> String {
    if value >= 100 { return String(Int(value.rounded())) }
    let scale: Double = value >= 10 ? 10 : 100
    return String((value * scale).rounded() / scale)
  }

  private static func unit(of nanoseconds: Int) -> (String, Double) {
    [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)].last { Double(nanoseconds) >= $0.1 } ?? ("ns", 1)
  }
}
