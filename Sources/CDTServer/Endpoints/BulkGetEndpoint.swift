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

  func respond() async throws -> Response {
    guard exchange.method == .post else { throw exchange.methodNotAllowed("POST") }
    guard
      case .array(let documents)? = try await exchange.jsonObject(limit: exchange.limits.requestLength)[
        "docs"]
    else {
      throw CouchError.badRequest("Missing JSON list of 'docs'.")
    }
    let parameters = exchange.parameters
    var options = DocumentOptions()
    options.revisions = parameters.flag("revs")
    options.attachments = parameters.flag("attachments")
    var reader = RevisionReader(
      documents.map(Self.wanted), of: access.database, isLatest: parameters.flag("latest"), options,
      missing: { DocumentPart(.missing, id: $0, revision: $1?.description ?? "undefined") })
    if let type = exchange.request.headers[.accept], ["multipart/mixed", "multipart/related"].contains(type) {
      // As at CouchDB, whatever the request says of attachments.
      reader.options.attachments = true
      reader.form = .follows
      return respond(reader, as: type)
    }
    let revisions = reader
    return Reply.stream { out in
      var reader = revisions
      var isFirst = true
      try await out.write(#"{"results":["#)
      while case let page = try await reader.next(), !page.isEmpty {
        for row in page {
          if row.isFirstOfDocument {
            try await out.write(isFirst ? "\n" : ",\n")
            isFirst = false
            try await out.write(Array(#"{"id":"#.utf8) + JSONString.quoted(row.id) + #","docs":["#.utf8)
          } else {
            try await out.write(",")
          }
          try await out.write(row.part.isError ? #"{"error":"# : #"{"ok":"#)
          try await out.write(row.part.text)
          try await out.write(row.isLastOfDocument ? "}]}" : "}")
        }
      }
      try await out.write("\n]}\n")
    }
  }

  /// Answers with a part for each revision, whose attachments follow it.
  private func respond(_ reader: RevisionReader, as type: String) -> Response {
    let writer = MultipartWriter()
    return Response(
      status: .ok, headers: [.contentType: writer.contentType(type)],
      body: ResponseBody { out in
        var (reader, writer) = (reader, writer)
        while case let page = try await reader.next(), !page.isEmpty {
          for row in page {
            let fields: [MultipartHead.Field] =
              row.part.isError
              ? [] : [.init("X-Doc-Id", row.id), .init("X-Rev-Id", row.revision?.description ?? "")]
            try await row.part.write(with: &writer, fields: fields, to: &out)
          }
        }
        try await out.write(ByteBuffer(bytes: writer.end()))
        try await out.finish(nil)
      })
  }

  private static func wanted(_ json: JSONValue) -> RevisionReader.Document {
    guard case .object(let object) = json, case .string(let id)? = object["id"] else {
      return .init(id: "", error: .badRequest("Each of 'docs' needs an 'id'."))
    }
    do throws(CouchError) {
      var revisions = OpenRevisions.all
      if let text = object["rev"]?.stringValue {
        guard let parsed = RevisionID(text) else { throw .invalidRevision }
        revisions = .revisions([parsed])
      }
      let since = try object["atts_since"].map { (json) throws(CouchError) in
        try RevisionID.list(json: json)
      }
      return .init(id: id, revisions: revisions, since: since ?? [])
    } catch {
      return .init(id: id, error: error)
    }
  }
}
