import FoundationEssentials
import JSON
import Testing

/// The tables of docs/performance.md are those of the results it names.
@Suite struct PerformancePageTests {
  /// A table of the page, and which of a result's it is.
  struct Table: Sendable, CustomTestStringConvertible {
    let file: String
    let number: Int
    let lines: [String]

    var testDescription: String { "\(file), \(number)" }

    /// The cells of each row below the heads, by the first of them.
    var rows: [String: [String]] {
      let rows = lines.dropFirst(2).map { line in
        line.split(separator: "|").map { cell in
          cell.split(separator: " ").joined(separator: " ")
        }
      }
      return Dictionary(rows.map { ($0.first ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }
  }

  /// What stands between `<!-- FILE, NUMBER -->` and `<!-- end -->`.
  static let tables: [Table] = {
    var tables: [Table] = []
    var open: (file: String, number: Int, lines: [String])?
    for line in PageTests.Page(name: "docs/performance.md").lines {
      let words = line.split(separator: " ")
      if words.first == "<!--", words.count == 4, let number = Int(words[2]) {
        open = (String(words[1].dropLast()), number, [])
      } else if line == "<!-- end -->", let table = open {
        tables.append(Table(file: table.file, number: table.number, lines: table.lines))
        open = nil
      } else if !line.isEmpty {
        open?.lines.append(line)
      }
    }
    return tables
  }()

  private static func result(_ file: String) throws -> JSONObject {
    let path = "\(Built.package)/Benchmarks/Results/\(file)"
    return try JSONObject(parsing: Array(try Data(contentsOf: URL(filePath: path))))
  }

  @Test func `each part of the page has its table`() {
    let kinds = Set(Self.tables.map(\.file))
    #expect(kinds.count == 5, "\(kinds)")
    for table in Self.tables { #expect(!table.lines.isEmpty, "\(table.testDescription)") }
  }

  @Test(arguments: tables.filter { $0.number > 0 })
  func `has a committed result`(_ table: Table) throws {
    let result = try Self.result(table.file)
    #expect(result["machine"] != nil)
  }

  @Test func `the comparison's medians and ratios are those of its result`() throws {
    let tables = Self.tables.filter { $0.number > 0 && !$0.file.contains("-") }
    #expect(tables.count == 2)
    for table in tables {
      guard case .array(let runs)? = try Self.result(table.file)["runs"],
        case .object(let run) = runs[table.number - 1], case .array(let operations)? = run["operations"]
      else {
        Issue.record("\(table.file) is no comparison")
        continue
      }
      #expect(table.rows.count == operations.count + 1, "every operation, and the size on disk")
      for case .object(let operation) in operations {
        let name = try #require(operation["operation"]?.stringValue)
        let cells = try #require(table.rows[name], "\(name)")
        let ratios = (operation["processorRatio"]?.doubleValue, operation["wallRatio"]?.doubleValue)
        #expect(cells[1].hasPrefix(try Self.median(operation, "ours", "processor")), "\(name)")
        #expect(cells[2].hasPrefix(try Self.median(operation, "yardstick", "processor")), "\(name)")
        #expect(cells[3] == Self.threeDigits(try #require(ratios.0)), "\(name)")
        #expect(cells[4].hasPrefix(try Self.median(operation, "ours", "wall")), "\(name)")
        #expect(cells[5].hasPrefix(try Self.median(operation, "yardstick", "wall")), "\(name)")
        #expect(cells[6] == Self.threeDigits(try #require(ratios.1)), "\(name)")
      }
    }
  }

  /// A median as the page spells it: `26.7 µs `.
  private static func median(_ operation: JSONObject, _ side: String, _ clock: String) throws -> String {
    guard case .object(let figures)? = operation[side], case .object(let spread)? = figures[clock],
      let median = spread["median"]?.doubleValue
    else { throw DecodingFailure() }
    let units = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)]
    let (name, unit) = units.last { median >= $0.1 } ?? ("ns", 1)
    return "\(threeDigits(median / unit)) \(name) "
  }

  private static func threeDigits(_ value: Double) -> String {
    if value >= 100 { return String(Int(value.rounded())) }
    let scale: Double = value >= 10 ? 10 : 100
    return String((value * scale).rounded() / scale)
  }

  private struct DecodingFailure: Error {}
}
