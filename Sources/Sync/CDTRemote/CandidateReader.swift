import CDTDatastore
import CDTJSON
import CDTReplication
import CouchDB

/// Reads the candidates of a query in pages.
struct CandidateReader: Sendable {
  let connection: RemoteConnection
  let retries: RetryPolicy
  /// The maximum length of a reply with several documents, in bytes.
  let replyLimit: Int
  /// Called with the number of documents in each reply.
  let didRead: @Sendable (Int) -> Void

  private static let longestPage = 500
  private static let documentLimit = 64 * 1024 * 1024

  typealias Body = ([DocumentRevision]) throws -> Void

  /// Calls a closure with each page of the candidates.
  ///
  /// - Parameters:
  ///   - fields: The members of the documents to read, if the server selects them; empty for all.
  ///   - needed: The number of results that are still wanted, or `nil` for all. At 0 the reading ends.
  func read(
    _ source: RemotePlan.Source, fields: [String], needed: () -> Int?, _ body: Body
  ) async throws {
    switch source {
    case .nothing: return
    case .ids(let ids): try await readIDs(ids, body)
    case .allDocuments(let isDescending):
      try await readAll(isDescending: isDescending, needed: needed) { try take($0, body) }
    case .find(let selector):
      // Indexes for words are in design documents, which are read first.
      var mayUseWords = false
      try await readAll(from: DocumentID.designPrefix, to: "_design0", needed: needed) { page in
        try take(page) { documents in
          mayUseWords = mayUseWords || documents.contains(where: \.isTextIndex)
        }
      }
      if mayUseWords, try await usesWords(selector) {
        return try await readAll(needed: needed) { try take($0, body) }
      }
      do {
        try await readFound(selector, fields: fields, needed: needed, body)
      } catch let error as ReplicationError where error.isSilence {
        // Without an index, CouchDB may look at millions of documents before it sends one. It sends all of them at once.
        try await readAll(needed: needed) { try take($0, body) }
      }
    }
  }

  /// The server's explanation of a query.
  func explain(_ selector: JSONObject) async throws -> JSONValue {
    try await retries.run {
      try await connection.send(.init(.POST, "/_explain", ["selector": .object(selector)]), expecting: 200)
        .json()
    }
  }

  /// Whether CouchDB would use an index of words, which has other answers.
  private func usesWords(_ selector: JSONObject) async throws -> Bool {
    let type = try await explain(selector)["index"]?["type"]?.stringValue
    return type != "json" && type != "special"
  }

  // MARK: Requests

  private func readFound(
    _ selector: JSONObject, fields: [String], needed: () -> Int?, _ body: Body
  ) async throws {
    var pages = PageSize()
    var bookmark: JSONValue?
    while let size = pages.next(needed()) {
      var request: JSONObject = ["selector": .object(selector)]
      if !fields.isEmpty { request["fields"] = .array(fields.map { .string($0) }) }
      if let bookmark { request["bookmark"] = bookmark }
      let reply = try await send(&pages, size, afterSilence: false) { size in
        request["limit"] = .int(Int64(size))
        return .init(.POST, "/_find", request)
      }
      guard let reply else { continue }
      let documents = try Self.array("docs", of: reply)
      try take(documents, body)
      guard documents.count >= size, let next = reply["bookmark"], next != bookmark else { return }
      bookmark = next
    }
  }

  /// Calls a closure with each page of the documents, by id, as the server sends them.
  func readAll(
    from first: String? = nil, to end: String? = nil, isDescending: Bool = false, needed: () -> Int?,
    _ body: ([JSONValue]) async throws -> Void
  ) async throws {
    var pages = PageSize()
    var last: String?
    while let size = pages.next(needed()) {
      let start = last ?? first
      // A page begins with the last document of the one before, which may have been deleted.
      let more = last == nil ? 0 : 1
      let reply = try await send(&pages, size) { size in
        var path = "/_all_docs?include_docs=true&limit=\(size + more)"
        if let start { path += "&startkey=\(Self.key(start))" }
        if let end { path += "&endkey=\(Self.key(end))" }
        if isDescending { path += "&descending=true" }
        return .init(path)
      }
      guard let reply else { continue }
      let rows = try Self.array("rows", of: reply)
      let isLast = rows.count < size + more
      let new = rows.filter { row in last.map { row["id"]?.stringValue?.hasSameBytes(as: $0) != true } ?? true
      }
      try await body(new.compactMap { $0["doc"] })
      if isLast { return }
      guard let next = rows.last?["id"]?.stringValue, last.map({ !$0.hasSameBytes(as: next) }) ?? true else {
        throw ReplicationError(.invalidReply, "GET \(connection.database.url)/_all_docs: a page has no end")
      }
      last = next
    }
  }

  private func readIDs(_ ids: [String], _ body: Body) async throws {
    var pages = PageSize()
    var rest = ids.filter(RemoteConnection.isDocumentID)[...]
    while !rest.isEmpty, let size = pages.next(rest.count) {
      let reply = try await send(&pages, size) { size in
        .init(
          .POST, "/_all_docs?include_docs=true", ["keys": .array(rest.prefix(size).map { .string($0) })])
      }
      guard let reply else { continue }
      // Unknown documents have no member `doc`, and for deleted ones it is null.
      try take(try Self.array("rows", of: reply).compactMap { $0["doc"] }.filter { $0 != .null }, body)
      rest = rest.dropFirst(size)
    }
  }

  private static func key(_ id: String) -> String { PercentCoding.encode(JSONValue.string(id).text) }

  private static func array(_ name: String, of reply: JSONValue) throws(ReplicationError) -> [JSONValue] {
    guard let array = reply[name]?.arrayValue else {
      throw ReplicationError(.invalidReply, "the server's reply has no array \(name)")
    }
    return array
  }

  private func take(_ documents: [JSONValue], _ body: Body) throws {
    didRead(documents.count)
    try body(documents.map { try DocumentRevision(received: $0) })
  }

  /// Sends the request of a page.
  ///
  /// - Parameter afterSilence: Whether to send it again if the server sends nothing for too long.
  /// - Returns: `nil` if the reply is too long: the next page is half as long then.
  private func send(
    _ pages: inout PageSize, _ size: Int, afterSilence: Bool = true,
    _ request: (Int) -> RemoteConnection.Request
  ) async throws -> JSONValue? {
    do {
      return try await retries.run(afterSilence: afterSilence) {
        try await connection.send(request(size), expecting: 200)
          .json(limit: size > 1 ? replyLimit : Self.documentLimit)
      }
    } catch let error as ReplicationError where error.isTooLong && size > 1 {
      pages.halve(size)
      return nil
    }
  }

  /// The number of documents in a page: those that are wanted, then more, as some of the candidates don't match.
  private struct PageSize {
    private var longest = CandidateReader.longestPage
    private var last = 0

    /// - Returns: `nil` if no more results are needed.
    mutating func next(_ needed: Int?) -> Int? {
      if needed == 0 { return nil }
      last = min(longest, max(needed ?? longest, last * 2))
      return last
    }

    mutating func halve(_ size: Int) {
      longest = max(1, size / 2)
      last = 0
    }
  }
}

extension DocumentRevision {
  /// A document in a reply.
  ///
  /// - Throws: `ReplicationError` if it has no id or revision that a datastore can have.
  init(received json: JSONValue) throws {
    guard case .object(let object) = json, let id = object["_id"]?.stringValue else {
      throw ReplicationError(.invalidReply, "the server sent a document without an _id")
    }
    guard let revision = object["_rev"]?.stringValue.flatMap({ RevisionID($0) }) else {
      throw ReplicationError(
        .invalidReply, "the document \(JSONValue.string(id).text) has no valid _rev")
    }
    self.init(
      id: id, revisionID: revision, body: object.filter { !ReservedMember.isReserved($0.key) },
      isDeleted: object["_deleted"] == true)
  }

  /// Whether it is a design document with an index for words, of one of the two kinds that CouchDB has.
  fileprivate var isTextIndex: Bool { body["indexes"] != nil || body["nouveau"] != nil }
}
