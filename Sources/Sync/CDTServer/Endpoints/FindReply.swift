import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB

/// Writes the results of `_find`, of its feed, and of a download.
struct FindReply: Sendable {
  private let request: FindRequest
  /// The wanted part of whole documents.
  private let projection: Projection

  init(to request: FindRequest) throws(QueryError) {
    self.request = request
    var query = Query(request.query.selector)
    query.fields = request.fields
    projection = try ResolvedQuery(query).projection
  }

  /// Calls `body` with the text of each result.
  func forEachText(
    _ cursor: Cursor, _ transaction: ReadTransaction, _ body: ([UInt8]) throws -> Void
  ) throws {
    let filter = request.filter
    if projection.isEverything, filter == nil, !request.options.needsTree {
      return try cursor.forEachText(attachmentsJSON: { DocumentText.stubs($1) }) { text in
        try body(Array(text))
        return true
      }
    }
    let reader = DocumentText(transaction, request.options)
    // Without a filter, the engine gives the page.
    var page = filter == nil ? ResultPage() : request.page
    while !page.isComplete, let document = try cursor.nextDocument() {
      guard projection.isEverything || request.needsWhole else {
        try body(projected(document))
        continue
      }
      let whole = try reader.text(of: document)
      let added = request.query.addedMembers.compactMap { name in document.body[name].map { (name, $0) } }
      let isWritten = projection.isEverything && added.isEmpty
      var json = isWritten && filter == nil ? [:] : try JSONObject(parsing: whole)
      guard try filter?.accepts(document, written: json) ?? true, page.take() else { continue }
      if isWritten {
        try body(whole)
        continue
      }
      json = projection.apply(to: json)
      for (name, value) in added { json[name] = value }
      try body(json.utf8Text)
    }
  }

  /// The text of a result of a feed.
  func text(of document: DocumentRevision) -> [UInt8] {
    projection.isEverything ? Self.whole(document).utf8Text : projected(document)
  }

  /// A document of a feed.
  static func whole(_ document: DocumentRevision) -> JSONObject {
    var json = document.json
    for (name, value) in DocumentText.attachmentMembers(of: document) { json[name] = value }
    return json
  }

  /// A result that has the wanted fields alone, with `_id` and `_rev` if they are wanted. As at CouchDB, these are fields like others.
  private func projected(_ document: DocumentRevision) -> [UInt8] {
    let own = [("_id", document.id), ("_rev", document.revisionID.description)].filter {
      request.fields.contains($0.0)
    }
    let (start, rest) = (JSONObject(own.map { ($0, .string($1)) }).utf8Text, document.body.utf8Text)
    if own.isEmpty { return rest }
    return document.body.isEmpty ? start : start.dropLast() + [UInt8(ascii: ",")] + rest.dropFirst()
  }
}
