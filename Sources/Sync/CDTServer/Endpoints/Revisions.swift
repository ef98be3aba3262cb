import CDTDatastore
import CDTJSON
import CouchDB
import HTTPTypes
import Hummingbird
import NIOCore

extension RequestContext {
  /// Answers `_bulk_get`: many revisions.
  func revisions() async throws -> Response {
    guard case .array(let documents)? = try await jsonObject(limit: limits.requestLength)["docs"] else {
      throw CouchError.badRequest("Missing JSON list of 'docs'.")
    }
    var options = DocumentOptions()
    options.revisions = parameters.flag("revs")
    options.attachments = parameters.flag("attachments")
    let type = request.headers[.accept].flatMap {
      ["multipart/mixed", "multipart/related"].contains($0) ? $0 : nil
    }
    var reader = try RevisionReader(
      documents.map(RevisionReader.Document.init), of: database, isLatest: parameters.flag("latest"), options,
      missing: { id, revision in
        var row: JSONObject = type == nil ? ["id": .string(id)] : [:]
        row["rev"] = .string(revision?.description ?? "undefined")
        for (name, value) in CouchError.missing.json { row[name] = value }
        return DocumentPart(error: row)
      })
    if let type {
      // As at CouchDB, whatever the request says of attachments.
      reader.options.attachments = true
      reader.form = .follows
      _ = try await reader.first()
      return Self.parts(reader, as: type)
    }
    reader.hasArrivals = parameters.flag("arrivals")
    // An error must be found before the reply begins.
    _ = try await reader.first()
    let rows = reader
    return Reply.stream { out in
      var (rows, isFirst) = (rows, true)
      try await out.write(#"{"results":["#)
      while let row = try await rows.next() {
        if row.isFirstOfDocument {
          try await out.write(isFirst ? "\n" : ",\n")
          isFirst = false
          try await out.write(
            Array(#"{"id":"#.utf8) + RevisionReader.idJSON(row.id).utf8Text + #","docs":["#.utf8)
        } else {
          try await out.write(",")
        }
        try await out.write(row.part.isError ? #"{"error":"# : #"{"ok":"#)
        try await out.write(row.part.text)
        if let arrival = row.arrival { try await out.write(Array(#","arrival":"#.utf8) + arrival.utf8Text) }
        try await out.write(row.isLastOfDocument ? "}]}" : "}")
      }
      try await out.write("\n]}\n")
    }
  }

  /// Answers with a part for each revision, whose attachments follow it.
  private static func parts(_ reader: RevisionReader, as type: String) -> Response {
    let writer = MultipartWriter()
    return Response(
      status: .ok, headers: [.contentType: writer.contentType(type)],
      body: ResponseBody { out in
        var (rows, writer) = (reader, writer)
        while let row = try await rows.next() {
          let fields: [MultipartHead.Field] =
            row.part.isError
            ? [] : [.init("X-Doc-Id", row.id), .init("X-Rev-Id", row.revision?.description ?? "")]
          try await row.part.write(with: &writer, fields: fields, to: &out)
        }
        try await out.write(ByteBuffer(bytes: writer.end()))
        try await out.finish(nil)
      })
  }
}

extension RevisionReader.Document {
  /// Reads an element of `docs`.
  fileprivate init(_ json: JSONValue) {
    guard case .object(let object) = json, case .string(let id)? = object["id"] else {
      self.init(id: "", error: (.badRequest("document id missed"), .null))
      return
    }
    self.init(id: id)
    let named = object["rev"] ?? "undefined"
    do throws(CouchError) {
      if let text = object["rev"]?.stringValue {
        guard let revision = RevisionID(text) else { throw .invalidRevision }
        revisions = .revisions([revision])
      }
      if let list = object["atts_since"] { since = try RevisionID.list(json: list) }
    } catch {
      self.error = (error, named)
    }
  }
}

/// The requests of replicators for what is missing, before they send revisions.
extension RequestContext {
  /// Answers `_revs_diff`.
  func revisionDifferences() async throws -> Response {
    Reply.json(
      JSONObject(
        try await differences().map { found in
          var entry: JSONObject = ["missing": .array(found.missing.map { .string($0.description) })]
          if !found.ancestors.isEmpty {
            entry["possible_ancestors"] = .array(found.ancestors.map { .string($0.description) })
          }
          return (found.id, .object(entry))
        }))
  }

  /// Answers `_missing_revs`.
  func missingRevisions() async throws -> Response {
    let entries = try await differences().map { found in
      (found.id, JSONValue.array(found.missing.map { .string($0.description) }))
    }
    return Reply.json(["missing_revs": .object(JSONObject(entries))])
  }

  private func differences() async throws -> [RevisionDifference] {
    let members = try await jsonBody().parsed { bytes throws(JSONError) in
      try JSONObject.members(parsing: bytes)
    }
    let requested = try RevisionsDiffRequest.entries(members)
    var found: [RevisionDifference] = []
    for start in stride(from: 0, to: requested.count, by: 500) {
      let page = Array(requested[start..<min(requested.count, start + 500)])
      found += try await database.read { transaction in
        try page.compactMap { try transaction.revisionDifference(of: $0.id, among: $0.revisions) }
      }
    }
    return found
  }
}
