import CDTDatastore
import CDTJSON
import CouchDB
import HTTPTypes
import Hummingbird

extension RequestContext {
  /// Answers `_all_docs` and `_design_docs`: the documents of a database in the order of their ids.
  func allDocuments(onlyDesign: Bool = false) async throws -> Response {
    let request = AllDocsRequest(options: try await listOptions(), onlyDesign: onlyDesign)
    return try await Reply.list(of: [request], in: database)
  }

  /// Answers `{"queries": [{…}, …]}`: several requests in one.
  func allDocumentsQueries(onlyDesign: Bool = false) async throws -> Response {
    let all = try await listQueries().map { AllDocsRequest(options: $0, onlyDesign: onlyDesign) }
    return try await Reply.list(of: all, in: database, isArray: true)
  }
}

extension Reply {
  /// Writes the lists of some requests.
  fileprivate static func list(
    of requests: [AllDocsRequest], in database: Database, isArray: Bool = false
  ) async throws -> Response {
    // An error must be found before the reply begins.
    _ = try await database.read { try $0.lastSequence() }
    let sequence =
      requests.contains(where: \.options.includesSequence) ? try await database.lastSequence() : ""
    return stream { out in
      if isArray { try await out.write(#"{"results":["#) }
      for (position, request) in requests.enumerated() {
        if position > 0 { try await out.write(",\n") }
        try await request.write(database, sequence: sequence, to: &out)
      }
      if isArray { try await out.write("]}\n") }
    }
  }
}

/// A request of `_all_docs` or `_design_docs`.
struct AllDocsRequest: Sendable {
  let options: ListOptions
  let onlyDesign: Bool

  // MARK: Ranges

  /// Every document that the resource lists. `0` is the character after `/`.
  var wholeRange: DocumentRange {
    onlyDesign
      ? DocumentRange(from: .init(DocumentID.designPrefix), to: .init("_design0", isIncluded: false))
      : DocumentRange()
  }

  /// The documents that come before the first key; `nil` without one.
  var rangeBefore: DocumentRange? {
    guard options.keys == nil, case .id(let id)? = options.start else { return nil }
    var range = wholeRange
    if options.isDescending {
      range.lower = .init(id, isIncluded: false)
    } else {
      range.upper = .init(id, isIncluded: false)
    }
    return range
  }

  // MARK: Rows

  struct Page: Sendable {
    /// The rows, a comma before each. They are one piece of memory, as many clients may read slowly.
    private(set) var text: [UInt8] = []
    private(set) var count = 0
    private(set) var lastID: String?

    var isLong: Bool { text.count >= ReplyStream.pageLength }

    fileprivate mutating func append(_ row: [UInt8], id: String? = nil) {
      text += ",\n".utf8
      text += row
      count += 1
      lastID = id
    }
  }

  func rows(in range: DocumentRange, offset: Int, limit: Int, _ transaction: ReadTransaction) throws -> Page {
    var page = Page()
    if options.includesDocuments {
      let text = DocumentText(transaction, options.documents)
      try transaction.forEachDocument(in: range, offset: offset, limit: limit) { document in
        let written = try text.lastMember(of: document)
        page.append(Self.row(document.id, document.revisionID, document: written), id: document.id)
        return !page.isLong
      }
    } else {
      for entry in try transaction.documentEntries(in: range, offset: offset, limit: limit) {
        page.append(Self.row(entry.id, entry.revisionID), id: entry.id)
      }
    }
    return page
  }

  /// The rows of given keys, or of the first of them, in their order; also of documents that do not exist or are deleted.
  func rows(for keys: ArraySlice<JSONValue>, in transaction: ReadTransaction) throws -> Page {
    var page = Page()
    for key in keys where !page.isLong { page.append(try row(for: key, transaction)) }
    return page
  }

  private func row(for key: JSONValue, _ transaction: ReadTransaction) throws -> [UInt8] {
    let text = DocumentText(transaction, options.documents)
    guard case .string(let id) = key else { return Self.missingRow(key) }
    guard let entry = try transaction.entry(ofDocument: id) else {
      // As at CouchDB, a local document that is named is listed.
      return try RequestContext.localDocumentRow(id, withDocument: options.includesDocuments, transaction)
        ?? Self.missingRow(key)
    }
    guard options.includesDocuments else {
      return Self.row(id, entry.revisionID, isDeleted: entry.isDeleted)
    }
    guard !entry.isDeleted, let document = try transaction.documents(withIDs: [id]).first else {
      return Self.row(id, entry.revisionID, isDeleted: true, document: Array("null".utf8))
    }
    return Self.row(id, entry.revisionID, document: try text.lastMember(of: document))
  }

  static func missingRow(_ key: JSONValue) -> [UInt8] {
    Array(#"{"key":\#(key.text),"error":"not_found"}"#.utf8)
  }

  private static func row(
    _ id: String, _ revision: RevisionID, isDeleted: Bool = false, document: [UInt8]? = nil
  ) -> [UInt8] {
    let spelled = JSONString.quoted(id)
    var row: [UInt8] = Array(#"{"id":"#.utf8) + spelled + #","key":"#.utf8 + spelled
    row += #","value":{"rev":"\#(revision)""#.utf8
    row += isDeleted ? #","deleted":true}"#.utf8 : "}".utf8
    if let document { row += Array(#","doc":"#.utf8) + document }
    row.append(UInt8(ascii: "}"))
    return row
  }

  // MARK: Writing

  fileprivate func write(
    _ database: Database, sequence: String, to out: inout ReplyStream
  ) async throws {
    let (all, before) = (wholeRange, rangeBefore)
    let (total, offset) = try await database.read { transaction in
      (
        try transaction.documentCount(in: all), try before.map { try transaction.documentCount(in: $0) } ?? 0
      )
    }
    let (start, overflow) = offset.addingReportingOverflow(options.page.skip)
    let skipped = overflow ? total : min(total, start)
    let sequence = options.includesSequence ? #""update_seq":"\#(sequence)","# : ""
    try await out.write(
      Array(
        #"{"total_rows":\#(total),"offset":\#(options.keys == nil ? "\(skipped)" : "null"),\#(sequence)"rows":["#
          .utf8))
    var isFirst = true
    if let keys = options.wantedKeys {
      var rest = keys[...]
      while !rest.isEmpty {
        let some = rest.prefix(Self.pageCount)
        let page = try await database.read { try rows(for: some, in: $0) }
        try await write(page, &isFirst, to: &out)
        rest = rest.dropFirst(page.count)
      }
    } else if let range = options.range(within: all) {
      try await write(range, of: database, &isFirst, to: &out)
    }
    try await out.write("\n]}\n")
  }

  private static let pageCount = 500

  /// Writes a range page by page, so that a client that reads slowly holds no transaction.
  private func write(
    _ range: DocumentRange, of database: Database, _ isFirst: inout Bool, to out: inout ReplyStream
  ) async throws {
    var range = range
    var left = options.page.limit ?? .max
    var skip = options.page.skip
    while left > 0 {
      let (current, offset, count) = (range, skip, min(left, Self.pageCount))
      let page = try await database.read {
        try rows(in: current, offset: offset, limit: count, $0)
      }
      try await write(page, &isFirst, to: &out)
      guard page.count == count || page.isLong, let last = page.lastID else { return }
      range.continue(after: last)
      skip = 0
      left -= page.count
    }
  }

  private func write(
    _ page: Page, _ isFirst: inout Bool, to out: inout ReplyStream
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
