import CDTDatastore
import CDTJSON
import CouchDB
import HTTPTypes
import Hummingbird
import NIOCore

/// Reads many revisions: `_bulk_get`.
struct BulkGetEndpoint: Sendable {
  let exchange: Exchange
  let access: DatabaseAccess

  fileprivate struct Wanted: Sendable {
    let id: String
    let revision: RevisionID?
    let since: [RevisionID]
    /// What is wrong with the request for it.
    var error: CouchError?
  }

  func respond() async throws -> Response {
    guard exchange.method == .post else { throw exchange.methodNotAllowed("POST") }
    guard
      case .array(let documents)? = try await exchange.jsonObject(limit: exchange.limits.requestLength)[
        "docs"]
    else {
      throw CouchError.badRequest("Missing JSON list of 'docs'.")
    }
    let parameters = exchange.parameters
    let wanted = documents.map(Self.wanted)
    var options = DocumentOptions()
    options.revisions = parameters.flag("revs")
    options.attachments = parameters.flag("attachments")
    let isLatest = parameters.flag("latest")
    let final = options
    if let type = exchange.request.headers[.accept], ["multipart/mixed", "multipart/related"].contains(type) {
      return respond(wanted, as: type, isLatest: isLatest, final)
    }
    return Reply.stream { out in
      try await out.write(#"{"results":["#)
      var rows = RowSeparator()
      var rest = wanted[...]
      while !rest.isEmpty {
        let texts = try await page(of: &rest, length: \.count) { wanted, transaction in
          try Self.row(for: wanted, isLatest: isLatest, final, transaction)
        }
        for text in texts { try await rows.write(text, to: &out) }
      }
      try await out.write("\n]}\n")
    }
  }

  /// Answers with a part for each revision, whose attachments follow it.
  private func respond(
    _ wanted: [Wanted], as type: String, isLatest: Bool, _ options: DocumentOptions
  ) -> Response {
    let writer = MultipartWriter()
    var options = options
    // As at CouchDB, whatever the request says of attachments.
    options.attachments = true
    let final = options
    return Response(
      status: .ok, headers: [.contentType: writer.contentType(type)],
      body: ResponseBody { out in
        var writer = writer
        var rest = wanted[...]
        while !rest.isEmpty {
          let parts = try await page(of: &rest, length: { $0.reduce(0) { $0 + $1.0.text.count } }) {
            try Self.parts(for: $0, isLatest: isLatest, final, $1)
          }
          for (part, fields) in parts.joined() {
            try await part.write(with: &writer, fields: fields, to: &out)
          }
        }
        try await out.write(ByteBuffer(bytes: writer.end()))
        try await out.finish(nil)
      })
  }

  /// The number of entries after which a page ends.
  private static let page = 50

  /// Reads the first of the wanted entries in one transaction, and removes them.
  private func page<R: Sendable>(
    of wanted: inout ArraySlice<Wanted>, length: @escaping @Sendable (R) -> Int,
    _ read: @escaping @Sendable (Wanted, ReadTransaction) throws -> R
  ) async throws -> [R] {
    let entries = wanted.prefix(Self.page)
    let results = try await access.database.store.read { transaction in
      var (results, total): ([R], Int) = ([], 0)
      for entry in entries where total < ReplyStream.pageLength {
        let result = try read(entry, transaction)
        total += length(result)
        results.append(result)
      }
      return results
    }
    wanted = wanted.dropFirst(results.count)
    return results
  }

  private static func wanted(_ json: JSONValue) -> Wanted {
    guard case .object(let object) = json, case .string(let id)? = object["id"] else {
      return Wanted(id: "", revision: nil, since: [], error: .badRequest("Each of 'docs' needs an 'id'."))
    }
    do throws(CouchError) {
      var revision: RevisionID?
      if let text = object["rev"]?.stringValue {
        guard let parsed = RevisionID(text) else { throw .invalidRevision }
        revision = parsed
      }
      let since = try object["atts_since"].map { (json) throws(CouchError) in
        try RevisionID.list(json: json)
      }
      return Wanted(id: id, revision: revision, since: since ?? [])
    } catch {
      return Wanted(id: id, revision: nil, since: [], error: error)
    }
  }

  // MARK: Reading

  /// A revision, or what is wrong with what was asked for.
  private enum Found {
    case revision(DocumentRevision)
    case error(JSONObject)
  }

  private static func find(
    _ wanted: Wanted, isLatest: Bool, _ transaction: ReadTransaction
  ) throws -> [Found] {
    if let error = wanted.error { return [.error(Self.error(wanted.id, "undefined", error))] }
    let open = try transaction.openRevisions(
      of: wanted.id, wanted.revision.map { .revisions([$0]) } ?? .all, isLatest: isLatest)
    guard !open.isEmpty else { return [.error(Self.error(wanted.id, "undefined", .missing))] }
    return open.map { found in
      switch found {
      case .found(let revision): .revision(revision)
      case .missing(let revision): .error(Self.error(wanted.id, revision.description, .missing))
      }
    }
  }

  private static func error(_ id: String, _ revision: String, _ error: CouchError) -> JSONObject {
    [
      "id": .string(id), "rev": .string(revision), "error": .string(error.error),
      "reason": .string(error.reason),
    ]
  }

  private static func row(
    for wanted: Wanted, isLatest: Bool, _ options: DocumentOptions, _ transaction: ReadTransaction
  ) throws -> [UInt8] {
    let text = DocumentText(transaction, options.since(wanted))
    let entries = try find(wanted, isLatest: isLatest, transaction).map { found -> [UInt8] in
      switch found {
      case .revision(let revision):
        Array(#"{"ok":"#.utf8) + (try text.text(of: revision)) + [UInt8(ascii: "}")]
      case .error(let error): (["error": .object(error)] as JSONObject).utf8Text
      }
    }
    return Array(#"{"id":"#.utf8) + JSONString.quoted(wanted.id) + #","docs":["#.utf8
      + entries.joined(separator: [UInt8(ascii: ",")]) + "]}".utf8
  }

  private static func parts(
    for wanted: Wanted, isLatest: Bool, _ options: DocumentOptions, _ transaction: ReadTransaction
  ) throws -> [(DocumentPart, [MultipartHead.Field])] {
    let text = DocumentText(transaction, options.since(wanted))
    return try find(wanted, isLatest: isLatest, transaction).map { found in
      switch found {
      case .revision(let revision):
        (
          try DocumentPart(revision, text, .follows),
          [.init("X-Doc-Id", revision.id), .init("X-Rev-Id", revision.revisionID.description)]
        )
      case .error(let error): (DocumentPart(error: error), [])
      }
    }
  }
}

extension DocumentOptions {
  /// The same options, with the revisions that the client has.
  fileprivate func since(_ wanted: BulkGetEndpoint.Wanted) -> DocumentOptions {
    var options = self
    options.attachmentsSince = wanted.since
    return options
  }
}
