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
    guard let format = ResultFormat(rawValue: parameters["format"] ?? "jsonl"), let type = format.mediaType
    else { throw CouchError.badRequest("`format` must be \(ResultFormat.downloads).") }
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
    guard wanted.group == nil else {
      throw CouchError.notTogether("A download of groups", instead: "POST _find")
    }
    // The rows of a file are results.
    guard body["include"] == nil else {
      throw CouchError.notTogether("A download with `include`", instead: "POST _find")
    }
    let spool = try await database.query(until: .now + limits.queryTime) { transaction in
      try QueryEngine.answering(in: transaction) { engine in
        let fields = wanted.fields + (wanted.fields.isEmpty ? [] : wanted.query.addedMembers)
        return try format.spooled(fields: fields) { row in
          let cursor = try wanted.cursor(by: engine).cursor
          defer { cursor.end() }
          try FindReply(to: wanted).forEachText(cursor, transaction, row)
        }
      }
    }
    return Reply.stream(type: type, headers: [.contentDisposition: "attachment"]) { out in
      try await spool.write(to: &out)
    }
  }
}

extension ResultFormat {
  /// The media type of a download; `nil` if there is none in this format.
  fileprivate var mediaType: String? {
    switch self {
    case .csv: "text/csv; charset=utf-8"
    case .json: Reply.json
    case .jsonl: "application/x-ndjson"
    case .tsv, .table, .auto: nil
    }
  }

  /// The formats of downloads in words.
  fileprivate static var downloads: String {
    let names = allCases.filter { $0.mediaType != nil }.map(\.rawValue).sorted()
    return names.dropLast().joined(separator: ", ") + " or " + names.suffix(1).joined()
  }

  /// Gathers the results in their format, in a file if they are long.
  ///
  /// - Parameter forEach: Calls its argument with the JSON of each result. Without a projection, the columns of CSV are those of all
  ///   results, which are then read twice.
  fileprivate func spooled(
    fields: [String], _ forEach: @escaping (_ row: ([UInt8]) throws -> Void) throws -> Void
  ) throws -> ReplySpool {
    var spool = ReplySpool()
    if let csv = separatedValues {
      func forEachRow(_ body: (JSONObject) throws -> Void) throws {
        try forEach { row in
          var row = try JSONObject(parsing: row)
          // The files are not in the rows.
          if fields.isEmpty { row["_attachments"] = nil }
          try body(row)
        }
      }
      for field in fields where (try? ResultColumns.path(field)) == nil {
        throw CouchError(400, "invalid_fields_json", "\(field.prefix(100)) is not the path of a field.")
      }
      try csv.write(ResultColumns(fields: fields, forEachRow), forEachRow) {
        try spool.append("\($0)\n".utf8)
      }
    } else if self == .json {
      try spool.append("[".utf8)
      try forEach { try spool.append(row: $0) }
      try spool.append("\n]\n".utf8)
    } else {
      try forEach { try spool.append($0 + "\n".utf8) }
    }
    return spool
  }
}
