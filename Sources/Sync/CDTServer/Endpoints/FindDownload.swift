import CDTDatastore
import CDTImport
import CDTJSON
import CDTQuery
import CouchDB
import HTTPTypes
import Hummingbird

/// All results of a query as a file that a browser saves.
extension RequestContext {
  func download() async throws -> Response {
    guard let format = DownloadFormat(rawValue: parameters["format"] ?? "jsonl") else {
      throw CouchError.badRequest("`format` must be csv, json or jsonl.")
    }
    var body: JSONObject
    if method == .post {
      body = try await jsonObject()
    } else if let request = try? JSONObject(parsing: parameters["request"] ?? "{}") {
      body = request
    } else {
      throw CouchError.badRequest("`request` must be a body of `_find`.")
    }
    if body["limit"] == nil { body["limit"] = .int(Int64(Int32.max)) }
    // As `cdtquery find` has them in each row.
    if format == .csv, let fields = body["fields"]?.arrayValue, !fields.isEmpty {
      body["fields"] = .array(["_id", "_rev"] + fields.filter { !["_id", "_rev"].contains($0) })
    }
    let wanted = try FindRequest(body)
    guard !wanted.isForGroups else {
      throw CouchError.notTogether("A download of groups", instead: "POST _find")
    }
    // The rows of a file are results.
    guard body["include"] == nil else {
      throw CouchError.notTogether("A download with `include`", instead: "POST _find")
    }
    let limit = limits.queryTime
    let spool = try await database.query(until: .now + limit) { transaction in
      try QueryEngine.answering(in: transaction) { engine in
        try format.spooled(fields: wanted.fields) { row in
          let cursor = try wanted.cursor(by: engine).cursor
          defer { cursor.end() }
          try wanted.forEachText(cursor, transaction, row)
        }
      }
    }
    return Reply.stream(type: format.type, headers: [.contentDisposition: "attachment"]) { out in
      try await spool.write(to: &out)
    }
  }
}

/// The format of results in a file.
enum DownloadFormat: String, Sendable {
  case csv, json, jsonl

  var type: String {
    switch self {
    case .csv: "text/csv; charset=utf-8"
    case .json: Reply.json
    case .jsonl: "application/x-ndjson"
    }
  }

  /// Gathers the results in their format, in a file if they are long.
  ///
  /// - Parameter forEach: Calls its argument with the JSON of each result. Without a projection, the columns of CSV are those of all
  ///   results, which are then read twice.
  func spooled(
    fields: [String], _ forEach: (_ row: ([UInt8]) throws -> Void) throws -> Void
  ) throws -> ReplySpool {
    var spool = ReplySpool()
    switch self {
    case .jsonl: try forEach { try spool.append($0 + "\n".utf8) }
    case .json:
      var isFirst = true
      try spool.append("[".utf8)
      try forEach {
        try spool.append(row: $0, isFirst: isFirst)
        isFirst = false
      }
      try spool.append("\n]\n".utf8)
    case .csv:
      let columns = try Self.columns(of: fields, forEach)
      let csv = CSVText(separator: ",")
      try spool.append("\(csv.line(columns.paths))\n".utf8)
      try forEach { try spool.append("\(csv.line(columns.values(of: JSONObject(parsing: $0))))\n".utf8) }
    }
    return spool
  }

  private static func columns(
    of fields: [String], _ forEach: (_ row: ([UInt8]) throws -> Void) throws -> Void
  ) throws -> ResultColumns {
    var columns = ResultColumns()
    for field in fields.isEmpty ? ["_id", "_rev"] : fields {
      do throws(FieldPath.Fault) {
        columns.add(try ResultColumns.path(field), of: [])
      } catch {
        throw CouchError(400, "invalid_fields_json", "\(field.prefix(100)) is not the path of a field.")
      }
    }
    guard fields.isEmpty else { return columns }
    try forEach { row in
      var row = try JSONObject(parsing: row)
      // The files are not in the rows.
      row["_attachments"] = nil
      columns.add(row)
    }
    return columns
  }
}
