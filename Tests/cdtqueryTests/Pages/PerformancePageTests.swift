import CDTJSON
import FoundationEssentials
import Testing

/// The tables of docs/performance.md and Benchmarks/README.md are those of the results it names.
@Suite struct PerformancePageTests {
  /// A table of the page, and which of a result's it is.
  struct Table: Sendable, CustomTestStringConvertible {
    let file: String
    let number: Int
    let lines: [String]

    var testDescription: String { "\(file), \(number)" }

    /// The cells of each row below the heads, by the first of them.
    var rows: [String: [String]] {
      let rows = lines.filter { $0.hasPrefix("|") }.dropFirst(2).map { line in
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
    for line in ["docs/performance.md", "Benchmarks/README.md"].flatMap({ PageTests.Page(name: $0).lines }) {
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
    let files = Set(Self.tables.map(\.file))
    #expect(files.count == 7, "\(files)")
    for table in Self.tables { #expect(!table.lines.isEmpty, "\(table.testDescription)") }
  }

  @Test(arguments: tables.filter { $0.number > 0 })
  func `has a committed result`(_ table: Table) throws {
    let result = try Self.result(table.file)
    #expect(result["machine"] != nil)
  }

  /// A comparison has three tables for each number of documents, then three for all of them, then one of ten figures.
  @Test(arguments: tables.filter { $0.number > 0 && !$0.file.contains("-") })
  func `the comparison's medians and ratios are those of its result`(_ table: Table) throws {
    let runs = try Self.objects(try Self.result(table.file), "runs")
    let kind = ["first", "repeated", "changes"][(table.number - 1) % 3]
    if table.number == runs.count * 3 + 4 {
      try expectNotableFigures(of: runs.first { $0["documents"] == 100_000 }, in: table)
    } else if table.number <= runs.count * 3 {
      let operations = try Self.objects(runs[(table.number - 1) / 3], kind)
      #expect(table.rows.count == operations.count + (kind == "changes" ? 1 : 0))
      for operation in operations { try expectFigures(of: operation, kind, in: table) }
    } else {
      for (position, run) in runs.enumerated() {
        for operation in try Self.objects(run, kind) {
          try expectSizes(of: operation, kind, in: table, at: position)
        }
      }
    }
  }

  private func expectNotableFigures(of run: JSONObject?, in table: Table) throws {
    #expect(table.rows.count == 10)
    let run = try #require(run)
    let queries = try Self.objects(run, "first")
    for (name, cells) in table.rows {
      // Its name in the other tables stands in brackets, or is the name.
      let query = try queries.first { name.hasSuffix("(\(try #require($0["operation"]?.stringValue)))") }
      if let query {
        #expect(cells[3] == (try Self.ratio(Self.object(query, "yardstick"), "processorRatio")), "\(name)")
        let (ours, clock) = (try Self.object(query, "ours"), "single")
        #expect(cells[1] == (try Self.time(Self.object(ours, clock)["p50"])), "\(name)")
      }
    }
    #expect(table.rows.keys.count { $0.contains("(q") } == 7)
  }

  private func expectFigures(of operation: JSONObject, _ kind: String, in table: Table) throws {
    let (name, cells) = try Self.cells(of: operation, in: table)
    let ours = try Self.object(operation, "ours")
    let yardstick = try Self.object(operation, "yardstick")
    let theirs = try Self.object(yardstick, "figures")
    #expect(cells[1].hasPrefix(try Self.median(ours, "processor")), "\(name)")
    #expect(cells[2].hasPrefix(try Self.median(theirs, "processor")), "\(name)")
    #expect(cells[3] == (try Self.ratio(yardstick, "processorRatio")), "\(name)")
    if kind == "changes" {
      #expect(cells[4].hasPrefix(try Self.median(ours, "wall")), "\(name)")
      #expect(cells[5].hasPrefix(try Self.median(theirs, "wall")), "\(name)")
      #expect(cells[6] == (try Self.ratio(yardstick, "wallRatio")), "\(name)")
    } else {
      let unmapped = try Self.object(operation, "unmapped")
      #expect(cells[4] == (try Self.median(Self.object(unmapped, "figures"), "processor")), "\(name)")
      #expect(cells[5] == (try Self.ratio(unmapped, "processorRatio")), "\(name)")
    }
  }

  private func expectSizes(
    of operation: JSONObject, _ kind: String, in table: Table, at position: Int
  ) throws {
    let (name, cells) = try Self.cells(of: operation, in: table)
    let ours = try Self.object(operation, "ours")
    let yardstick = try Self.object(operation, "yardstick")
    if kind == "changes" {
      #expect(cells[1 + 2 * position] == (try Self.median(ours, "wall")), "\(name)")
      #expect(cells[2 + 2 * position] == (try Self.ratio(yardstick, "wallRatio")), "\(name)")
    } else {
      let unmapped = try Self.object(operation, "unmapped")
      #expect(cells[1 + 3 * position] == (try Self.median(ours, "processor")), "\(name)")
      #expect(cells[2 + 3 * position] == (try Self.ratio(yardstick, "processorRatio")), "\(name)")
      #expect(cells[3 + 3 * position] == (try Self.ratio(unmapped, "processorRatio")), "\(name)")
    }
  }

  private static func cells(
    of operation: JSONObject, in table: Table
  ) throws -> (name: String, cells: [String]) {
    let name = try #require(operation["operation"]?.stringValue)
    return (name, try #require(table.rows[name], "\(name)"))
  }

  // MARK: Results

  private static func object(_ parent: JSONObject, _ key: String) throws -> JSONObject {
    guard case .object(let object)? = parent[key] else { throw DecodingFailure() }
    return object
  }

  private static func objects(_ parent: JSONObject, _ key: String) throws -> [JSONObject] {
    guard case .array(let values)? = parent[key] else { throw DecodingFailure() }
    return try values.map {
      guard case .object(let object) = $0 else { throw DecodingFailure() }
      return object
    }
  }

  private static func ratio(_ other: JSONObject, _ key: String) throws -> String {
    threeDigits(try #require(other[key]?.doubleValue))
  }

  /// A median as the page spells it: `26.7 µs`.
  private static func median(_ figures: JSONObject, _ clock: String) throws -> String {
    try time(object(figures, clock)["median"])
  }

  private static func time(_ nanoseconds: JSONValue?) throws -> String {
    guard let median = nanoseconds?.doubleValue else { throw DecodingFailure() }
    let units = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)]
    let (name, unit) = units.last { median >= $0.1 } ?? ("ns", 1)
    return "\(threeDigits(median / unit)) \(name)"
  }

  private static func threeDigits(_ value: Double) -> String {
    if value >= 100 { return String(Int(value.rounded())) }
    let scale: Double = value >= 10 ? 10 : 100
    return String((value * scale).rounded() / scale)
  }

  private struct DecodingFailure: Error {}
}
