import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB
import HTTPTypes
import Hummingbird
import NIOCore

/// Saves many documents: `_bulk_docs`. A malformed one refuses the request; otherwise each is saved or refused for itself.
extension RequestContext {
  func saveDocuments() async throws -> Response {
    let bytes = try await jsonBody()
    let envelope = try bytes.parsed { bytes throws(JSONError) in try JSONEnvelope(bytes, array: "docs") }
    guard let documents = envelope.elements else {
      throw CouchError.badRequest(
        envelope.members["docs"] == nil
          ? "POST body must include `docs` parameter." : "`docs` parameter must be an array.")
    }
    guard let areNewEdits = (envelope.members["new_edits"] ?? true).boolValue else {
      throw CouchError.badRequest("`new_edits` parameter must be a boolean.")
    }
    if areNewEdits, envelope.members["all_or_nothing"] == true { return Self.refuseAll(documents, of: bytes) }
    let batches = BulkInput.batches(documents)
    // All are read before the first is saved. They are not kept, as they can take much more memory than their text.
    for batch in batches.dropFirst() { _ = try inputs(batch, of: bytes, areNewEdits: areNewEdits) }
    var reply = ByteBuffer(string: "[")
    for batch in batches {
      try Task.checkCancellation()
      for row in try await save(inputs(batch, of: bytes, areNewEdits: areNewEdits), areNewEdits: areNewEdits)
      {
        if reply.readableBytes > 1 { reply.writeStaticString(",") }
        reply.writeBytes(row.utf8Text)
      }
    }
    reply.writeStaticString("]\n")
    return Reply.bytes(reply, type: Reply.json, .created)
  }

  /// As at CouchDB, documents can't be saved all or not at all.
  private static func refuseAll(_ documents: [Range<Int>], of bytes: ByteBuffer) -> Response {
    let error = CouchError(417, "not_implemented", "all_or_nothing is not supported")
    let rows = documents.map {
      JSONValue.object(error.row(id: bytes.documentID(in: $0) ?? "", revision: nil))
    }
    return Reply.value(.array(rows), .expectationFailed)
  }

  // MARK: Reading

  /// - Throws: `CouchError` for a malformed document.
  private func inputs(
    _ batch: ArraySlice<Range<Int>>, of bytes: ByteBuffer, areNewEdits: Bool
  ) throws(CouchError) -> [BulkInput] {
    try bytes.withUnsafeReadableBytes { all throws(CouchError) in
      try batch.map { range throws(CouchError) in
        try input(UnsafeRawBufferPointer(rebasing: all[range]), areNewEdits: areNewEdits)
      }
    }
  }

  private func input(_ bytes: UnsafeRawBufferPointer, areNewEdits: Bool) throws(CouchError) -> BulkInput {
    let object = try DocumentInput.object(bytes)
    if let local = object.localID {
      guard areNewEdits || object.reserved.contains(where: { $0.name == "_rev" }) else {
        throw .revisionNeeded
      }
      return .local(try LocalDocumentInput(id: local, bytes, limits))
    }
    let input = try DocumentInput(object)
    let id = input.id ?? DocumentID.make()
    do throws(DatastoreError) { try DocumentID.check(id) } catch { throw CouchError(error) }
    try input.check(limits, id: id)
    guard areNewEdits || input.revisionID != nil else { throw .revisionNeeded }
    do throws(CouchError) {
      try checkDesign(id)
      let isStrict = server.configuration.isStrictAboutDesign
      let warning = try DesignDocument.warning(
        of: id, input.body, isStrict: isStrict, isReplicated: !areNewEdits)
      return .document(id: id, input, warning: warning)
    } catch {
      return .refused(id: id, input.revisionID, error)
    }
  }

  // MARK: Saving

  /// Saves documents in one transaction, in which they may exchange the keys of a unique index. If that refuses it, each is
  /// saved for itself.
  ///
  /// - Returns: A row for each document; as at CouchDB, of revisions that are inserted as they are, only for those that were
  ///   refused.
  private func save(_ inputs: [BulkInput], areNewEdits: Bool) async throws -> [JSONObject] {
    do {
      return try await saveTogether(inputs, areNewEdits: areNewEdits)
    } catch let violation as UniqueViolation {
      guard inputs.count > 1 else {
        return inputs.map { CouchError(violation).row(id: $0.id, revision: nil) }
      }
      var rows: [JSONObject] = []
      for input in inputs { rows += try await save([input], areNewEdits: areNewEdits) }
      return rows
    }
  }

  private func saveTogether(_ inputs: [BulkInput], areNewEdits: Bool) async throws -> [JSONObject] {
    let database = try database
    let limit = database.revisionsLimit
    let outcomes = try await database.writeWithoutRollback { transaction in
      let saving = DocumentSaving(transaction)
      var written: [KeyBytes: [RevisionID]] = [:]
      let rows = try inputs.compactMap { input -> JSONObject? in
        switch input {
        case .refused(let id, let revision, let error):
          return error.row(id: id, revision: areNewEdits ? nil : revision?.description)
        case .local(let document):
          try document.save(in: transaction)
          return areNewEdits ? document.reply : nil
        case .document(let id, let input, let warning):
          let revision: RevisionID
          do {
            revision = areNewEdits ? try saving.edit(input, id: id) : try saving.insert(input, id: id)
          } catch let error as CouchError {
            return error.row(id: id, revision: areNewEdits ? nil : input.revisionID?.description)
          } catch let error as DatastoreError where error.status < 500 {
            return CouchError(error).row(id: id, revision: areNewEdits ? nil : input.revisionID?.description)
          }
          written[KeyBytes(id), default: []].append(revision)
          guard areNewEdits else { return nil }
          var row: JSONObject = ["ok": true, "id": .string(id), "rev": .string(revision.description)]
          if let warning { row["warning"] = .string(warning) }
          return row
        }
      }
      for (id, revisions) in written { try transaction.stem(id.string, to: limit, after: revisions) }
      return rows
    }
    await database.noteWrites(of: inputs.map(\.id))
    return outcomes
  }
}

/// A document of a request that saves many.
private enum BulkInput: Sendable {
  case document(id: String, DocumentInput, warning: String?)
  case local(LocalDocumentInput)
  /// One that the client may not write.
  case refused(id: String, RevisionID?, CouchError)

  var id: String {
    switch self {
    case .document(let id, _, _), .refused(let id, _, _): id
    case .local(let document): LocalDocumentInput.prefix + document.id
    }
  }

  // Documents are saved in transactions of so many, or so many bytes.
  private static let maximumCount = 500
  private static let maximumLength = 4 << 20

  fileprivate static func batches(_ documents: [Range<Int>]) -> [ArraySlice<Range<Int>>] {
    var batches: [ArraySlice<Range<Int>>] = []
    var start = documents.startIndex
    var bytes = 0
    for position in documents.indices {
      bytes += documents[position].count
      if position + 1 - start >= maximumCount || bytes >= maximumLength {
        batches.append(documents[start...position])
        (start, bytes) = (position + 1, 0)
      }
    }
    if start < documents.endIndex { batches.append(documents[start...]) }
    return batches
  }
}

extension ByteBuffer {
  /// The id of a document that is refused.
  fileprivate func documentID(in range: Range<Int>) -> String? {
    withUnsafeReadableBytes { bytes in
      let value = try? JSONValue(parsing: UnsafeRawBufferPointer(rebasing: bytes[range]))
      return value?["_id"]?.stringValue
    }
  }
}
