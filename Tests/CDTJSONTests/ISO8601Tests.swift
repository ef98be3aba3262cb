import CDTJSON
import CDTTestSupport
import Foundation
import Testing

@Suite struct ISO8601Tests {
  private func text(_ date: Date) throws -> String? { try JSONValue(encoding: date).stringValue }

  private func date(_ text: String) throws -> Date { try JSONValue.string(text).decode() }

  @Test(arguments: [
    (-978_307_200.0, "1970-01-01T00:00:00.000Z"), (0, "2001-01-01T00:00:00.000Z"),
    (-0.001, "2000-12-31T23:59:59.999Z"), (-0.0001, "2001-01-01T00:00:00.000Z"),
    (0.9996, "2001-01-01T00:00:01.000Z"), (730_943_999.999, "2024-02-29T23:59:59.999Z"),
    (-63_113_904_000, "0001-01-01T00:00:00.000Z"), (-63_145_526_400, "0000-01-01T00:00:00.000Z"),
    (252_423_993_599.999, "9999-12-31T23:59:59.999Z"),
    (-3_187_296_000, "1900-01-01T00:00:00.000Z"), (-13_202_524_800, "1582-08-19T00:00:00.000Z"),
  ]) func `a date is written to the nearest millisecond`(_ seconds: Double, _ expected: String) throws {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    #expect(try text(date) == expected)
    #expect(try text(self.date(expected)) == expected)
    #expect(try abs(self.date(expected).timeIntervalSince(date)) <= 0.000_51)
  }

  @Test func `the most distant dates come back`() throws {
    for date in [Date.distantPast, .distantFuture] {
      #expect(try JSONValue(encoding: date).decode(Date.self) == date)
    }
  }

  /// Foundation's own format is right about whole seconds.
  @Test func `every day of 800 years is the one that Foundation has`() throws {
    for day in 0..<800 * 366 where day % 7 == 0 {
      let date = Date(timeIntervalSince1970: Double(day) * 86_400 - 9_000_000_000 + Double(day % 86_400))
      let foundation = date.formatted(.iso8601).dropLast() + ".000Z"
      #expect(try text(date) == String(foundation))
      #expect(try self.date(date.formatted(.iso8601)) == date)
    }
  }

  @Test func `every millisecond comes back, and the texts sort as the dates do`() throws {
    var last = ""
    for millisecond in 0..<2_000 {
      let date = Date(timeIntervalSince1970: 1_714_566_600 + Double(millisecond) / 1_000)
      let text = try #require(try text(date))
      #expect(text.hasSuffix(".\(String(millisecond % 1_000 + 1_000).dropFirst())Z"))
      #expect(try abs(self.date(text).timeIntervalSince(date)) < 0.000_001)
      #expect(last < text)
      last = text
    }
  }

  @Test(arguments: [
    ("2024-05-01T12:30:00Z", 0.0), ("2024-05-01T12:30:00.5Z", 0.5),
    ("2024-05-01T12:30:00.123456789Z", 0.123456789),
    ("2024-05-01T14:30:00+02:00", 0), ("2024-05-01T14:30:00.25+0200", 0.25),
    ("2024-04-30T23:00:00-13:30", 0), ("2024-05-01T12:30:59.000Z", 59),
  ]) func `a fraction and an offset are optional`(_ text: String, _ seconds: Double) throws {
    #expect(try abs(date(text).timeIntervalSince1970 - 1_714_566_600 - seconds) < 0.000_001)
  }

  @Test(arguments: [
    "", "2024-05-01", "2024-05-01T12:30Z", "2024-05-01T12:30:00", "2024-05-01T12:30:00.Z",
    "2024-05-01T12:30:00Zx",
    "2024-05-01 12:30:00Z", "2024-13-01T00:00:00Z", "2024-00-01T00:00:00Z", "2024-01-00T00:00:00Z",
    "2023-02-29T00:00:00Z", "2024-04-31T00:00:00Z", "1900-02-29T00:00:00Z", "2024-01-01T24:00:00Z",
    "2024-01-01T00:60:00Z", "2024-01-01T00:00:60Z", "10000-01-01T00:00:00Z", "+024-01-01T00:00:00Z",
    "-001-01-01T00:00:00Z", "2024-01-01T00:00:00+2:00", "2024-01-01T00:00:00+24:00", "２０２４-01-01T00:00:00Z",
    "2024-01-01T00:00:00.1e5Z", "2024-01-01T00:00:00é",
  ]) func `anything else is refused`(_ text: String) {
    #expect(throws: DecodingError.self) { try date(text) }
  }
}
