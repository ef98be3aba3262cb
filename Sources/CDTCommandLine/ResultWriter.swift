import ArgumentParser
package import CDTDatastore
import CDTJSON
import CDTPlatform
package import CDTQuery

/// The format of printed results.
package enum ResultFormat: String, ExpressibleByArgument, CaseIterable {
  case jsonl, json, table, csv, auto
}

/// Results that are printed, of a store or of a server.
package protocol QueryResults {
  func forEachText(_ body: (UnsafeRawBufferPointer) throws -> Void) throws
  func forEach(_ body: (DocumentRevision) throws -> Void) throws
}

extension ResultSet: QueryResults {
  package func forEachText(_ body: (UnsafeRawBufferPointer) throws -> Void) throws { try forEachJSON(body) }
}

extension [DocumentRevision]: QueryResults {
  package func forEachText(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    for document in self { try document.json.utf8Text.withUnsafeBytes(body) }
  }
}

/// Prints results in a format, incrementally if the format allows it.
package struct ResultWriter {
  private let format: ResultFormat

  package init(format: ResultFormat) {
    self.format = format
  }

  package func write(_ results: some QueryResults) throws {
    switch format {
    case .jsonl: try results.forEachText { try Output.standard.line($0) }
    case .json: try writeArray(results)
    case .csv: try writeCSV(results)
    case .table: try writeTable(results)
    case .auto: try ResultWriter(format: OpenFile.standardOutput.isTerminal ? .table : .jsonl).write(results)
    }
  }

  private func writeArray(_ results: some QueryResults) throws {
    var isFirst = true
    try Output.standard.line("[")
    var last: [UInt8] = []
    try results.forEachText { document in
      if !isFirst { try last.withUnsafeBytes { try Output.standard.line($0) } }
      isFirst = false
      last = Array(document)
      last.insert(UInt8(ascii: " "), at: 0)
      last.append(UInt8(ascii: ","))
    }
    if !isFirst { try last.dropLast().withUnsafeBytes { try Output.standard.line($0) } }
    try Output.standard.line("]")
  }

  /// The columns are the fields of all results, so all results are read first.
  private func rows(_ results: some QueryResults) throws -> (columns: [String], rows: [JSONObject]) {
    var columns = JSONObject(["_id", "_rev"].map { ($0, .null) })
    var rows: [JSONObject] = []
    try results.forEach { document in
      let row = document.json
      for (key, _) in row where columns[key] == nil { columns[key] = .null }
      rows.append(row)
    }
    return (columns.keys, rows)
  }

  private func writeCSV(_ results: some QueryResults) throws {
    let (columns, rows) = try rows(results)
    try Output.standard.line(columns.map(CSVText.quoted).joined(separator: ","))
    for row in rows {
      try Output.standard.line(columns.map { CSVText.cell(row[$0]) }.joined(separator: ","))
    }
  }

  private func writeTable(_ results: some QueryResults) throws {
    let (columns, rows) = try rows(results)
    let cells = rows.map { row in columns.map { Self.text(row[$0]) } }
    for line in TextTable(header: columns, rows: cells).lines { try Output.standard.line(line) }
  }

  private static func text(_ value: JSONValue?) -> String {
    switch value {
    case nil: ""
    case .string(let text)?: text
    case .some(let value): value.text
    }
  }
}

/// Cells of comma-separated values, written so that import reads the same values.
enum CSVText {
  /// A string that looks like a number, a boolean or an empty cell is quoted, so that import reads it as a string.
  static func cell(_ value: JSONValue?) -> String {
    switch value {
    case nil: ""
    case .string(let text)?: isAmbiguous(text) ? "\"\(text)\"" : quoted(text)
    case .some(let value): quoted(value.text)
    }
  }

  static func quoted(_ text: String) -> String {
    guard text.utf8.contains(where: { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }) else { return text }
    return "\"" + text.splitBytes(at: "\"").joined(separator: "\"\"") + "\""
  }

  private static func isAmbiguous(_ text: String) -> Bool {
    guard let value = try? JSONValue(parsing: text) else { return text.isEmpty }
    switch value {
    case .int, .double, .bigInteger, .bool: return true
    default: return false
    }
  }
}
