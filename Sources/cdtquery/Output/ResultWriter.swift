import ArgumentParser
import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTQuery

/// The format of printed results.
enum ResultFormat: String, ExpressibleByArgument, CaseIterable {
  case jsonl, json, table, csv, tsv, auto
}

/// Prints results in a format, incrementally if the format allows it.
struct ResultWriter {
  private let format: ResultFormat
  /// The paths of the projected fields, which are the columns of a table; empty for all fields.
  private let fields: [String]

  init(format: ResultFormat, fields: [String] = []) {
    self.format = format
    self.fields = fields
  }

  /// - Returns: The number of results.
  @discardableResult
  func write(_ results: any QueryResults) throws -> Int {
    switch format {
    case .jsonl:
      var count = 0
      try results.forEachJSON {
        count += 1
        try Output.standard.line($0)
      }
      return count
    case .json: return try writeArray(results)
    case .csv: return try writeCSV(results, CSVText(separator: ","))
    case .tsv: return try writeCSV(results, CSVText(separator: "\t"))
    case .table: return try writeTable(results)
    case .auto:
      let format = OpenFile.standardOutput.isTerminal ? ResultFormat.table : .jsonl
      return try ResultWriter(format: format, fields: fields).write(results)
    }
  }

  private func writeArray(_ results: any QueryResults) throws -> Int {
    var count = 0
    var last: [UInt8] = []
    try results.forEachJSON { document in
      if count == 0 {
        try Output.standard.line("[")
      } else {
        try last.withUnsafeBytes { try Output.standard.line($0) }
      }
      count += 1
      last = Array(document)
      last.insert(UInt8(ascii: " "), at: 0)
      last.append(UInt8(ascii: ","))
    }
    if count == 0 { try Output.standard.line("[") }
    if count > 0 { try last.dropLast().withUnsafeBytes { try Output.standard.line($0) } }
    try Output.standard.line("]")
    return count
  }

  /// The columns and rows of a table. Without a projection the columns are the fields of all results, so all results are
  /// read first.
  private func rows(_ results: any QueryResults) throws -> (columns: ResultColumns, rows: [JSONObject]) {
    var columns = try ResultColumns(fields: fields)
    var rows: [JSONObject] = []
    try results.forEach { document in
      let row = document.json
      if fields.isEmpty { columns.add(row) }
      rows.append(row)
    }
    return (columns, rows)
  }

  private func writeCSV(_ results: any QueryResults, _ csv: CSVText) throws -> Int {
    let (columns, rows) = try rows(results)
    try Output.standard.line(csv.line(columns.paths))
    for row in rows { try Output.standard.line(csv.line(columns.values(of: row))) }
    return rows.count
  }

  private func writeTable(_ results: any QueryResults) throws -> Int {
    let (columns, rows) = try rows(results)
    let cells = rows.map { columns.values(of: $0).map(Self.text) }
    for line in TextTable(header: columns.names, rows: cells).lines { try Output.standard.line(line) }
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
