import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB
import HTTPTypes
import Hummingbird

/// Views that are made of fields: `_design/{ddoc}/_view/{view}`.
extension RequestContext {
  func view() async throws -> Response {
    let replies = try await viewReplies(to: [try await listOptions()])
    return Reply.spooled(replies, after: "", before: "")
  }

  /// Answers `{"queries": [{…}, …]}`: several requests in one.
  func viewQueries() async throws -> Response {
    let replies = try await viewReplies(to: try await listQueries())
    return Reply.spooled(replies, after: #"{"results":["#, before: "]}")
  }

  private func viewReplies(to all: [ListOptions]) async throws -> ReplySpool {
    let database = try database
    let sequence = all.contains(where: \.includesSequence) ? try await database.lastSequence() : ""
    let (document, name) = (names["ddoc"] ?? "", names["view"] ?? "")
    let end = ContinuousClock.now + limits.queryTime
    // As at CouchDB, a view is brought up to date for its readers. Writes of this process keep it so.
    for attempt in (database.isReadOnly ? Self.attempts - 1 : 0)..<Self.attempts {
      if attempt > 0, !database.isReadOnly { try await database.updateIndexes(until: end) }
      // While documents expire all the time, some may always be left to delete.
      let countsHidden = attempt == Self.attempts - 1
      let replies = try await database.query(until: end) { transaction in
        let view = try Self.view(name, of: document, in: transaction)
        return try QueryEngine.answering(in: transaction) { engine -> ReplySpool? in
          guard let reader = try ViewReader(view, by: engine, countsHidden: countsHidden) else { return nil }
          var spool = ReplySpool()
          for (number, options) in all.enumerated() {
            if number > 0 { try spool.append(",\n".utf8) }
            let reply = try ViewReply(options, view, reader)
            try reply.write(transaction, sequence: sequence, to: &spool)
          }
          return spool
        }
      }
      if let replies { return replies }
    }
    if database.isReadOnly {
      throw CouchError.forbidden(
        "The view is not up to date, and the database can only be read; \(CouchError.writability)")
    }
    throw CouchError(503, "service_unavailable", "The view is not up to date yet; send the request again.")
  }

  private static let attempts = 3

  private static func view(
    _ name: String, of document: String, in transaction: ReadTransaction
  ) throws -> DesignView {
    guard let found = try transaction.documents(withIDs: [document]).first, !found.isDeleted else {
      throw CouchError.missing
    }
    guard let member = found.body["views"]?[name] else {
      throw CouchError(404, "not_found", "missing_named_view")
    }
    let design = DesignDocument(id: document, body: found.body)
    guard let view = design.views[name] else {
      if member["map"]?.objectValue == nil { throw CouchError.viewWithFunction }
      throw CouchError.notAView(design.notes)
    }
    return view
  }
}

extension CouchError {
  /// - Parameter notes: The notes on members of the design document that are not used.
  fileprivate static func notAView(_ notes: [String]) -> CouchError {
    let note = notes.first.map { " (\($0))" } ?? ""
    return .unsupported(
      "A view of an index without groups\(note)",
      instead: "POST _find, or a view without `options.def` and with the reduce _count, _sum or _stats")
  }

  fileprivate static func invalidView(_ reason: String) -> CouchError {
    CouchError(400, "query_parse_error", reason)
  }
}

/// The reply to a request of a view.
private struct ViewReply {
  let options: ListOptions
  let reader: ViewReader
  let groups: Bool

  init(_ options: ListOptions, _ view: DesignView, _ reader: ViewReader) throws(CouchError) {
    self.options = options
    self.reader = reader
    groups = options.reduces ?? true
    if groups, options.includesDocuments { throw .invalidView("`include_docs` is invalid for reduce") }
    if groups, options.keys != nil, options.groupLevel != .max {
      throw .invalidView("Multi-key fetches for reduce views must use `group=true`")
    }
    if !groups, options.groupLevel != 0 { throw .invalidView("Invalid use of grouping on a map view.") }
    let (first, last) =
      options.isDescending ? (options.endKey, options.startKey) : (options.startKey, options.endKey)
    if let first, let last, last < first {
      throw .invalidView(
        "No rows can match the range of keys: exchange start_key and end_key, or set descending=\(!options.isDescending)."
      )
    }
  }

  /// The ranges that are read one after another.
  private var ranges: [ViewQuery] {
    if let keys = options.keys {
      return (options.isDescending ? keys.reversed() : keys).map { key in
        ViewQuery(from: .init(key), to: .init(key), isDescending: options.isDescending)
      }
    }
    let start = options.startKey.map { ViewQuery.Bound($0) }
    let end = options.endKey.map { ViewQuery.Bound($0, isIncluded: options.isEndIncluded) }
    return [
      options.isDescending
        ? ViewQuery(from: end, to: start, isDescending: true) : ViewQuery(from: start, to: end)
    ]
  }

  func write(_ transaction: ReadTransaction, sequence: String, to spool: inout ReplySpool) throws {
    var head: JSONObject = [:]
    if !groups {
      let counts = try reader.counts(before: ranges.first ?? ViewQuery())
      head["total_rows"] = .int(Int64(counts.all))
      let (offset, overflows) = counts.before.addingReportingOverflow(options.page.skip)
      head["offset"] =
        options.keys == nil ? .int(Int64(overflows ? counts.all : min(counts.all, offset))) : .null
    }
    if options.includesSequence {
      head["update_seq"] = .string(sequence)
    }
    let beginning = head.text.dropLast()
    try spool.append((beginning + (head.isEmpty ? "" : ",") + #""rows":["#).utf8)
    var page = options.page
    /// Appends a row of the page.
    ///
    /// - Returns: Whether more are wanted.
    func append(_ row: () throws -> [UInt8]) throws -> Bool {
      if page.take() { try spool.append(row: row()) }
      return !page.isComplete
    }
    for range in ranges where !page.isComplete {
      if groups {
        try reader.forEachGroup(of: options.groupLevel, in: range) { key, value in
          try append { Array(#"{"key":\#(key.text),"value":\#(value.text)}"#.utf8) }
        }
      } else {
        try reader.forEachRow(in: range) { id, key, value in
          try append { try row(id, key, value, transaction) }
        }
      }
    }
    try spool.append("\n]}".utf8)
  }

  private func row(
    _ id: String, _ key: JSONValue, _ value: JSONValue, _ transaction: ReadTransaction
  ) throws -> [UInt8] {
    var row = Array(
      #"{"id":\#(JSONValue.string(id).text),"key":\#(key.text),"value":\#(value.text)"#.utf8)
    if options.includesDocuments, let document = try transaction.documents(withIDs: [id]).first {
      row += #","doc":"#.utf8
      row += try DocumentText(transaction, options.documents).lastMember(of: document)
    }
    row.append(UInt8(ascii: "}"))
    return row
  }
}
