import CDTDatastore
import CDTJSON
import CouchDB
import NIOCore

extension RemoteEnd {
  func write(_ revisions: [TransferredRevision]) async throws -> WriteOutcome {
    var outcome = WriteOutcome()
    try await writeTogether(revisions.filter(\.attachments.isEmpty), &outcome)
    for revision in revisions where !revision.attachments.isEmpty {
      try await writeAlone(revision, &outcome)
    }
    return outcome
  }

  /// Writes revisions with `_bulk_docs`.
  private func writeTogether(_ revisions: [TransferredRevision], _ outcome: inout WriteOutcome) async throws {
    guard !revisions.isEmpty else { return }
    let (head, tail): (StaticString, StaticString) = (#"{"new_edits":false,"docs":["#, "]}")
    var body = ByteBuffer()
    body.reserveCapacity(
      head.utf8CodeUnitCount + tail.utf8CodeUnitCount + revisions.reduce(0) { $0 + $1.textLength + 1 })
    body.writeStaticString(head)
    for (index, revision) in revisions.enumerated() {
      if index > 0 { body.writeStaticString(",") }
      body.writeBytes(revision.text)
    }
    body.writeStaticString(tail)
    let reply = try await connection.send(.init(.POST, "/_bulk_docs", json: body))
    switch reply.status {
    case 200, 201, 202:
      for revision in try Self.takeErrors(of: reply, try await reply.json(), revisions, &outcome) {
        try await writeAlone(revision, &outcome)
      }
    case 400, 412, 413, 415, 417:
      // One of the documents may be the reason, or the size of the request.
      if reply.status == 413, revisions.count > 1 {
        let (first, second) = revisions.halves
        try await writeTogether(first, &outcome)
        return try await writeTogether(second, &outcome)
      }
      for revision in revisions { try await writeAlone(revision, &outcome) }
    default: throw await reply.failure()
    }
  }

  /// Errors of a node that is overloaded or restarted, not of the document.
  private static let transientErrors = ["internal_server_error", "service_unavailable", "timeout"]

  /// - Returns: The revisions to send again, as they were not refused for what they are.
  private static func takeErrors(
    of reply: RemoteConnection.Reply, _ json: JSONValue, _ revisions: [TransferredRevision],
    _ outcome: inout WriteOutcome
  ) throws(ReplicationError) -> [TransferredRevision] {
    var again: [TransferredRevision] = []
    guard let rows = json.arrayValue else {
      throw ReplicationError(.invalidReply, "the reply of _bulk_docs is not an array")
    }
    for row in rows {
      guard let error = row["error"]?.stringValue, let id = row["id"]?.stringValue else { continue }
      let revision = row["rev"]?.stringValue
      let refused = revisions.first {
        $0.id.utf8.elementsEqual(id.utf8) && (revision == nil || $0.revision.description == revision)
      }
      if let refused, transientErrors.contains(error) {
        again.append(refused)
        continue
      }
      outcome.rejected.append(
        RejectedRevision(
          id: id, revision: revision ?? refused?.revision.description ?? "",
          reason: "\(reply.error(row))"))
    }
    return again
  }

  /// Writes a revision with a request of its own.
  private func writeAlone(_ revision: TransferredRevision, _ outcome: inout WriteOutcome) async throws {
    var request = RemoteConnection.Request(
      .PUT, "\(RemoteConnection.path(revision.id))?new_edits=false", json: revision.text)
    if !revision.attachments.isEmpty {
      request.body = .multipart(RelatedDocumentBody(revision.text, Array(revision.attachments)))
    }
    let reply: RemoteConnection.Reply
    do {
      reply = try await connection.send(request)
    } catch let error as DatastoreError where error.isOfContent {
      return outcome.needsAttachments.append((revision, CouchError(error)))
    }
    switch reply.status {
    case 200, 201, 202: return
    case 412: outcome.needsAttachments.append((revision, .missingStub(revision.id)))
    case 400, 401, 403, 404, 413, 414, 415: outcome.rejected.append(revision.rejected(await reply.refusal()))
    default: throw await reply.failure()
    }
  }
}

extension DatastoreError {
  /// Whether the content of an attachment is damaged or missing.
  var isOfContent: Bool { [.corrupt, .notFound].contains(code) }
}

extension TransferredRevision {
  /// The JSON of a revision that was read from a store.
  fileprivate var text: [UInt8] {
    switch content {
    case .text(let text): text
    case .parsed(let input): input.body.text
    }
  }
}
