import ArgumentParser
import CDTDatastore
import CDTImport
import CDTJSON
import CDTPlatform
import CDTQuery

extension ResultFormat: ExpressibleByArgument {}

/// Prints results in a format, incrementally if the format allows it.
struct ResultWriter {
  private let options: OutputOptions
  private let format: ResultFormat
  /// The paths of the projected fields, which are the columns of a table; empty for all fields.
  private let fields: [String]
  /// The columns that are there although no result has them.
  private let ownFields: [String]
  /// Whether the results come with the documents that they link.
  private let includes: Bool

  init(
    _ options: OutputOptions, fields: [String] = [], ownFields: [String] = ["_id", "_rev"],
    includes: Bool = false
  ) throws(ToolError) {
    self.options = options
    self.ownFields = ownFields
    let format = options.format ?? .jsonl
    let isTable = OpenFile.standardOutput.isTerminal && !includes
    self.format = format != .auto ? format : isTable ? .table : .jsonl
    self.includes = includes
    guard !includes || self.format.isJSON else {
      throw ToolError(
        .usage, "--format \(format.rawValue) can't print included documents; use --format jsonl or json")
    }
    self.fields = fields
  }

  /// - Returns: The number of results.
  @discardableResult
  func write(_ results: any QueryResults) throws -> Int {
    switch format {
    case .jsonl, .auto:
      var count = 0
      var printer = JSONPrinter(isPretty: options.pretty, isColored: Terminal.hasColors)
      let isPlain = !options.pretty && !Terminal.hasColors
      try forEachText(results) { text in
        count += 1
        if isPlain { return try Output.standard.line(text) }
        try printer.text(of: text).withUnsafeBytes { try Output.standard.line($0) }
      }
      if includes { try writeIncluded(results, &printer) }
      return count
    case .json: return try writeArray(results)
    case .csv, .tsv: return try writeSeparatedValues(results)
    case .table: return try writeTable(results)
    }
  }

  /// Calls a closure with the JSON of each document.
  private func forEachText(
    _ results: any QueryResults, _ body: @escaping (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let names = try names
    let isArranged = options.noRev || !names.isEmpty
    guard isArranged || Terminal.isShown else { return try results.forEachJSON(body) }
    try results.forEachJSON { text in
      var shown = isArranged ? Self.arranged(text, names, hasRevision: !options.noRev) : Array(text)
      if Terminal.isShown { shown = shown.withUnsafeBytes(Terminal.printableJSON) }
      try shown.withUnsafeBytes(body)
    }
  }

  /// The names of the members that a projection selects, as they are spelled in stored JSON.
  private var names: [[UInt8]] {
    get throws {
      let paths = try fields.map(Self.path)
      return paths.filter { $0.documentField == nil }.compactMap { $0.segments.first?.spelling }
    }
  }

  private static func path(_ text: String) throws -> FieldPath {
    do throws(FieldPath.Fault) {
      return try ResultColumns.path(text)
    } catch {
      throw ToolError(.data, "\"\(text)\" is not a field; write a path such as pet.species")
    }
  }

  /// A document with its members in the order of a projection, behind those that are in none, such as `_id`.
  private static func arranged(
    _ text: UnsafeRawBufferPointer, _ names: [[UInt8]], hasRevision: Bool
  ) -> [UInt8] {
    let bytes = JSONBytes(text)
    var found: [(place: Int, member: UnsafeRawBufferPointer)] = []
    var members = bytes.members(at: 0)
    while let member = members.next() {
      if !hasRevision, bytes.equals(Array("_rev".utf8), from: member.keyStart, to: member.keyEnd) { continue }
      let place = names.firstIndex { bytes.equals($0, from: member.keyStart, to: member.keyEnd) }
      let end = bytes.endOfValue(at: member.value)
      found.append((place.map { $0 + 1 } ?? 0, bytes.slice(member.keyStart - 1, end)))
    }
    var arranged = [UInt8(ascii: "{")]
    // Members in the same place keep their order.
    for (number, item) in found.enumerated().sorted(by: { ($0.1.place, $0.0) < ($1.1.place, $1.0) })
      .enumerated()
    {
      if number > 0 { arranged.append(UInt8(ascii: ",")) }
      arranged.append(contentsOf: item.element.member)
    }
    arranged.append(UInt8(ascii: "}"))
    return arranged
  }

  /// Writes `{"included": {"owner": {"ann": {…}}}}`.
  ///
  /// - Parameter start: The bytes in the place of the first brace.
  private func writeIncluded(
    _ results: any QueryResults, _ printer: inout JSONPrinter, start: String = "{"
  ) throws {
    var included = try results.includedJSON
    if options.noRev {
      for (name, documents) in included {
        var documents = documents.objectValue ?? [:]
        for id in documents.map(\.key) { documents[id]?["_rev"] = nil }
        included[name] = .object(documents)
      }
    }
    var text = JSONObject([("included", .object(included))]).utf8Text
    if Terminal.isShown { text = text.withUnsafeBytes(Terminal.printableJSON) }
    let printed = text.withUnsafeBytes { printer.text(of: $0) }
    try (Array(start.utf8) + printed.dropFirst()).withUnsafeBytes { try Output.standard.line($0) }
  }

  private func writeArray(_ results: any QueryResults) throws -> Int {
    if includes { try Output.standard.line(#"{"docs":"#) }
    var count = 0
    var last: [UInt8] = []
    var printer = JSONPrinter(isPretty: options.pretty, isColored: Terminal.hasColors, margin: 1)
    try forEachText(results) { document in
      if count == 0 {
        try Output.standard.line("[")
      } else {
        try last.withUnsafeBytes { try Output.standard.line($0) }
      }
      count += 1
      last = printer.text(of: document)
      last.insert(UInt8(ascii: " "), at: 0)
      last.append(UInt8(ascii: ","))
    }
    if count == 0 { try Output.standard.line("[") }
    if count > 0 { try last.dropLast().withUnsafeBytes { try Output.standard.line($0) } }
    try Output.standard.line("]")
    printer.margin = 0
    if includes { try writeIncluded(results, &printer, start: ",") }
    return count
  }

  /// The columns and rows of a table. Without a projection the columns are the fields of all results, so all results are
  /// read first.
  private func rows(_ results: any QueryResults) throws -> (columns: ResultColumns, rows: [JSONObject]) {
    var rows: [JSONObject] = []
    try forEachText(results) { text in
      if let row = JSONBytes(text).value(at: 0).objectValue { rows.append(row) }
    }
    // What comes from a file has no _rev, and perhaps no _id.
    let own = ["_id", "_rev"].filter { name in
      name == "_rev" && options.noRev
        ? false : rows.isEmpty ? ownFields.contains(name) : rows.contains { $0[name] != nil }
    }
    var columns = ResultColumns(isFlat: options.flatten)
    for field in own + fields { columns.add(try Self.path(field), of: rows) }
    if fields.isEmpty { for row in rows { columns.add(row) } }
    return (columns, rows)
  }

  private func writeSeparatedValues(_ results: any QueryResults) throws -> Int {
    let (columns, rows) = try rows(results)
    try format.separatedValues?.write(columns, rows.forEach) { try Output.standard.line($0) }
    return rows.count
  }

  private func writeTable(_ results: any QueryResults) throws -> Int {
    let (columns, rows) = try rows(results)
    let cells = rows.map { columns.values(of: $0).map(Self.text) }
    let table = TextTable(header: columns.names, rows: cells, width: Terminal.columns)
    try table.write()
    if table.omitted > 0 {
      try Output.standard.flush()
      Message.write(
        "cdtquery: the terminal is too narrow for \(table.omitted) more columns; choose some with --fields")
    }
    return rows.count
  }

  private static func text(_ value: JSONValue?) -> String {
    switch value {
    case nil: ""
    case .string(let text)?: text
    case .some(let value): value.text
    }
  }
}
