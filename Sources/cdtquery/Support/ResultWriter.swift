import ArgumentParser
import CDTDatastore
import CDTQuery
import JSON

/// How results are printed.
enum ResultFormat: String, ExpressibleByArgument, CaseIterable {
  case jsonl, json, table, csv, auto
}

/// Prints results in a format, as they come where the format allows it.
struct ResultWriter {
  let format: ResultFormat

  func write(_ results: ResultSet) throws {
    switch format {
    case .jsonl: try results.forEachJSON { try Output.standard.line($0) }
    case .json: try writeArray(results)
    case .csv: try writeCSV(results)
    case .table: try writeTable(results)
    case .auto: try ResultWriter(format: Output.isTerminal ? .table : .jsonl).write(results)
    }
  }

  private func writeArray(_ results: ResultSet) throws {
    var isFirst = true
    try Output.standard.line("[")
    var last: [UInt8] = []
    try results.forEachJSON { document in
      if !isFirst { try last.withUnsafeBytes { try Output.standard.line($0) } }
      isFirst = false
      last = Array(document)
      last.insert(UInt8(ascii: " "), at: 0)
      last.append(UInt8(ascii: ","))
    }
    if !isFirst { try last.dropLast().withUnsafeBytes { try Output.standard.line($0) } }
    try Output.standard.line("]")
  }

  /// The columns are the fields of all results, so all of them are read first.
  private func rows(_ results: ResultSet) throws -> (columns: [String], rows: [JSONObject]) {
    var columns = JSONObject(["_id", "_rev"].map { ($0, .null) })
    var rows: [JSONObject] = []
    try results.forEach { document in
      let row = document.json
      for (key, _) in row where columns[key] == nil { columns[key] = .null }
      rows.append(row)
    }
    return (columns.keys, rows)
  }

  private func writeCSV(_ results: ResultSet) throws {
    let (columns, rows) = try rows(results)
    try Output.standard.line(columns.map(Self.quoted).joined(separator: ","))
    for row in rows {
      try Output.standard.line(columns.map { Self.quoted(Self.cell(row[$0])) }.joined(separator: ","))
    }
  }

  private func writeTable(_ results: ResultSet) throws {
    let (columns, rows) = try rows(results)
    let cells = [columns] + rows.map { row in columns.map { Self.shortened(Self.cell(row[$0])) } }
    let widths = columns.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    for (number, row) in cells.enumerated() {
      let padded = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      var line = padded.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      try Output.standard.line(line)
      if number == 0 {
        try Output.standard.line(widths.map { String(repeating: "─", count: $0) }.joined(separator: "  "))
      }
    }
  }

  private static func cell(_ value: JSONValue?) -> String {
    switch value {
    case nil: ""
    case .string(let text)?: text
    case .some(let value): value.text
    }
  }

  private static let widestCell = 40

  /// A cell of a table takes one line, of a bounded width.
  private static func shortened(_ text: String) -> String {
    let line = String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 })
    return line.count > widestCell ? line.prefix(widestCell - 1) + "…" : line
  }

  private static func quoted(_ text: String) -> String {
    guard text.utf8.contains(where: { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }) else { return text }
    return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
      + "\""
  }
}
