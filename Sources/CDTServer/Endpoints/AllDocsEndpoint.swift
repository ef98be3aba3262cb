import CDTDatastore
import CDTJSON
import CouchDB
import HTTPTypes
import Hummingbird

/// The documents of a database in the order of their ids: `_all_docs` and `_design_docs`.
struct AllDocsEndpoint: Sendable {
  let exchange: Exchange
  let access: DatabaseAccess
  var onlyDesign = false

  private var database: Database { access.database }

  func respond() async throws -> Response {
    let request = AllDocsRequest(options: try await exchange.listOptions(), onlyDesign: onlyDesign)
    return Reply.stream { out in try await write(request, to: &out) }
  }

  /// `{"queries": [{…}, …]}`: several requests in one.
  func respondToQueries() async throws -> Response {
    let all = try await exchange.listQueries().map { AllDocsRequest(options: $0, onlyDesign: onlyDesign) }
    return Reply.stream { out in
      try await out.write(#"{"results":["#)
      for (position, request) in all.enumerated() {
        if position > 0 { try await out.write(",\n") }
        try await write(request, to: &out)
      }
      try await out.write("]}\n")
    }
  }

  // MARK: Writing

  private func write(_ request: AllDocsRequest, to out: inout ReplyStream) async throws {
    let all = request.wholeRange
    let before = request.rangeBefore
    let (total, offset, last) = try await database.store.read { transaction in
      (
        try transaction.documentCount(in: all), try before.map { try transaction.documentCount(in: $0) } ?? 0,
        try transaction.lastSequence()
      )
    }
    let (start, overflow) = offset.addingReportingOverflow(request.options.skip)
    let skipped = overflow ? total : min(total, start)
    let sequence = request.options.includesSequence ? #""update_seq":"\#(database.text(of: last))","# : ""
    try await out.write(
      Array(
        #"{"total_rows":\#(total),"offset":\#(request.options.keys == nil ? "\(skipped)" : "null"),\#(sequence)"rows":["#
          .utf8))
    var isFirst = true
    if let keys = request.options.wantedKeys {
      var rest = keys[...]
      while !rest.isEmpty {
        let some = rest.prefix(Self.page)
        let page = try await database.store.read { try request.rows(for: some, in: $0) }
        try await write(page, &isFirst, to: &out)
        rest = rest.dropFirst(page.count)
      }
    } else if let range = request.range {
      try await write(range, of: request, &isFirst, to: &out)
    }
    try await out.write("\n]}\n")
  }

  private static let page = 500

  /// Writes a range page by page, so that a client that reads slowly holds no transaction.
  private func write(
    _ range: DocumentRange, of request: AllDocsRequest, _ isFirst: inout Bool, to out: inout ReplyStream
  ) async throws {
    var range = range
    var left = request.options.limit ?? .max
    var skip = request.options.skip
    while left > 0 {
      let (current, offset, count) = (range, skip, min(left, Self.page))
      let page = try await database.store.read {
        try request.rows(in: current, offset: offset, limit: count, $0)
      }
      try await write(page, &isFirst, to: &out)
      guard page.count == count || page.isLong, let last = page.lastID else { return }
      range.continue(after: last)
      skip = 0
      left -= page.count
    }
  }

  private func write(
    _ page: AllDocsRequest.Page, _ isFirst: inout Bool, to out: inout ReplyStream
  ) async throws {
    guard page.count > 0 else { return }
    // The comma before the first row.
    try await out.write(page.text[(isFirst ? 1 : 0)...])
    isFirst = false
  }
}

extension DocumentRange {
  fileprivate mutating func `continue`(after id: String) {
    if isDescending {
      upper = Bound(id, isIncluded: false)
    } else {
      lower = Bound(id, isIncluded: false)
    }
  }
}
