import CDTDatastore
import CDTJSON
import CouchDB
import HTTPTypes
import Hummingbird
import NIOCore

/// Saves many documents: `_bulk_docs`. Each is saved or refused for itself.
struct BulkDocsEndpoint: Sendable {
  let exchange: Exchange
  let access: DatabaseAccess

  /// What became of a document.
  private struct Outcome: Sendable {
    let id: String
    let result: Result<RevisionID, CouchError>

    var json: JSONObject {
      switch result {
      case .success(let revision): ["ok": true, "id": .string(id), "rev": .string(revision.description)]
      case .failure(let error):
        ["id": .string(id), "error": .string(error.error), "reason": .string(error.reason)]
      }
    }
  }

  /// Documents are saved in transactions of so many, or so many bytes.
  private static let batch = (documents: 500, bytes: 4 << 20)

  func respond() async throws -> Response {
    guard exchange.method == .post else { throw exchange.methodNotAllowed("POST") }
    try access.checkWrite()
    let bytes = try await exchange.jsonBody()
    let envelope = try bytes.envelope(array: "docs")
    guard let documents = envelope.elements else {
      throw CouchError.badRequest("POST body must include `docs` parameter.")
    }
    let areNewEdits = envelope.members["new_edits"]?.boolValue ?? true
    var reply = ByteBuffer(string: "[")
    for batch in Self.batches(documents) {
      try Task.checkCancellation()
      for outcome in try await save(batch, of: bytes, areNewEdits: areNewEdits) {
        // As at CouchDB, revisions that were inserted as they are have no rows, only those that were refused.
        if case .success = outcome.result, !areNewEdits { continue }
        if reply.readableBytes > 1 { reply.writeStaticString(",") }
        reply.writeBytes(outcome.json.utf8Text)
      }
    }
    reply.writeStaticString("]\n")
    return Reply.bytes(reply, type: Reply.json, .created)
  }

  private static func batches(_ documents: [Range<Int>]) -> [ArraySlice<Range<Int>>] {
    var batches: [ArraySlice<Range<Int>>] = []
    var start = documents.startIndex
    var bytes = 0
    for position in documents.indices {
      bytes += documents[position].count
      if position + 1 - start >= batch.documents || bytes >= batch.bytes {
        batches.append(documents[start...position])
        (start, bytes) = (position + 1, 0)
      }
    }
    if start < documents.endIndex { batches.append(documents[start...]) }
    return batches
  }

  private func save(
    _ batch: ArraySlice<Range<Int>>, of bytes: ByteBuffer, areNewEdits: Bool
  ) async throws -> [Outcome] {
    let inputs = batch.map { range -> (id: String, input: Result<DocumentInput, CouchError>) in
      do throws(CouchError) {
        let input = try bytes.withUnsafeReadableBytes { all throws(CouchError) in
          try DocumentInput(UnsafeRawBufferPointer(rebasing: all[range]))
        }
        let id = input.document.id ?? DocumentID.make()
        try input.check(exchange.limits, id: id)
        try access.checkWrite(id)
        return (id, .success(input))
      } catch {
        return (bytes.documentID(in: range) ?? "", .failure(error))
      }
    }
    let limit = access.database.revisionsLimit
    return try await access.database.writes.write { transaction in
      let saving = DocumentSaving(transaction)
      var written: [KeyBytes: [RevisionID]] = [:]
      let outcomes = try inputs.map { id, input in
        do {
          let input = try input.get()
          let revision = areNewEdits ? try saving.edit(input, id: id) : try saving.insert(input, id: id)
          written[KeyBytes(id), default: []].append(revision)
          return Outcome(id: id, result: .success(revision))
        } catch let error as CouchError {
          return Outcome(id: id, result: .failure(error))
        } catch let error as DatastoreError where error.status < 500 {
          return Outcome(id: id, result: .failure(CouchError(error)))
        }
      }
      for (id, revisions) in written { try transaction.stem(id.string, to: limit, after: revisions) }
      return outcomes
    }
  }
}

extension ByteBuffer {
  /// The parts of a large request.
  func envelope(array name: String) throws(CouchError) -> JSONEnvelope {
    try withUnsafeReadableBytes { bytes throws(CouchError) in
      do throws(JSONError) {
        return try JSONEnvelope(bytes, array: name)
      } catch {
        throw .invalidJSON(error)
      }
    }
  }

  /// The id of a document that is refused.
  fileprivate func documentID(in range: Range<Int>) -> String? {
    withUnsafeReadableBytes { bytes in
      let value = try? JSONValue(parsing: UnsafeRawBufferPointer(rebasing: bytes[range]))
      return value?["_id"]?.stringValue
    }
  }
}
