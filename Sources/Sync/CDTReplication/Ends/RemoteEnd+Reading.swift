import CDTDatastore
import CDTJSON
import CouchDB
import NIOCore

extension RemoteEnd {
  /// The maximum number of documents in a request.
  private static var pageCount: Int { 1_000 }
  private static var limits: RelatedDocumentReader<ByteBufferView>.Limits {
    .init(json: 64 * 1024 * 1024, attachment: .max)
  }

  func read(
    _ wanted: [RevisionDifference], _ body: (TransferredRevision) async throws -> Void
  ) async throws -> [RejectedRevision] {
    var rejected: [RejectedRevision] = []
    for start in stride(from: 0, to: wanted.count, by: Self.pageCount) {
      let page = Array(wanted[start..<min(wanted.count, start + Self.pageCount)])
      let unread = try await readTogether(page, body) ?? page
      var missing: [RevisionDifference] = []
      for document in unread { missing += try await read(document, body, &rejected) }
      guard !missing.isEmpty else { continue }
      // Another node of a cluster may have them soon, which has listed them.
      try await Task.sleep(for: Self.pauseBeforeMissing)
      for document in missing {
        for rest in try await read(document, body, &rejected) {
          rejected += rest.missing.map {
            RejectedRevision(
              id: rest.id, revision: $0.description,
              reason: "the source lists the revision, but does not have it")
          }
        }
      }
    }
    return rejected
  }

  private static var pauseBeforeMissing: Duration { .seconds(2) }

  /// Reads documents with `_bulk_get`.
  ///
  /// - Returns: The documents to read one by one, as a part of the reply is missing or can't be read; `nil` if the server
  ///   has no `_bulk_get`.
  private func readTogether(
    _ wanted: [RevisionDifference], _ body: (TransferredRevision) async throws -> Void
  ) async throws -> [RevisionDifference]? {
    if lacksBulkGet { return nil }
    let documents = wanted.flatMap { document in
      document.missing.map { revision -> JSONValue in
        var entry: JSONObject = ["id": .string(document.id), "rev": .string(revision.description)]
        if !document.ancestors.isEmpty {
          entry["atts_since"] = .array(document.ancestors.map { .string($0.description) })
        }
        return .object(entry)
      }
    }
    var request = RemoteConnection.Request(
      .POST, "/_bulk_get?revs=true&latest=true&attachments=true", ["docs": .array(documents)])
    request.accept = "multipart/mixed"
    let reply = try await connection.send(request)
    guard reply.status == 200 else {
      if reply.status == 413, wanted.count > 1 {
        let (first, second) = wanted.halves
        guard let unread = try await readTogether(first, body) else { return nil }
        return unread + (try await readTogether(second, body) ?? second)
      }
      guard [400, 403, 404, 405, 406, 413, 415, 501].contains(reply.status) else {
        throw await reply.failure()
      }
      lacksBulkGet = true
      return nil
    }
    guard let boundary = try? MultipartBoundary(contentType: reply.contentType) else {
      // A server that sends JSON in spite of the request would hold the whole reply in memory.
      lacksBulkGet = true
      return nil
    }
    var requested = RequestedRevisions(wanted)
    let (failures, _) = try await readParts(of: reply, boundary, &requested, body)
    // One of several descendants may have failed.
    return failures.isEmpty ? requested.unanswered : requested.notArrived
  }

  /// Reads one document.
  ///
  /// - Parameter rejected: Gets the revisions that can't be read.
  /// - Returns: The revisions that the server lacks.
  private func read(
    _ wanted: RevisionDifference, _ body: (TransferredRevision) async throws -> Void,
    _ rejected: inout [RejectedRevision]
  ) async throws -> [RevisionDifference] {
    var lacking: [RevisionDifference] = []
    // A URL may have 8,000 characters. The newest ancestors say most of what the target has.
    let ancestors = wanted.ancestors.sorted().suffix(Self.revisionsInURL)
    let since =
      ancestors.isEmpty
      ? "" : "&atts_since=\(PercentCoding.encode(RevisionID.parameter(Array(ancestors))))"
    for start in stride(from: 0, to: wanted.missing.count, by: Self.revisionsInURL) {
      let page = Array(wanted.missing[start..<min(wanted.missing.count, start + Self.revisionsInURL)])
      let revisions = OpenRevisions.revisions(page)
      var request = RemoteConnection.Request(
        "\(RemoteConnection.path(wanted.id))?revs=true&latest=true&open_revs=\(PercentCoding.encode(revisions.parameter))\(since)"
      )
      request.accept = "multipart/mixed"
      let reply = try await connection.send(request)
      if reply.status == 404 {
        lacking.append(RevisionDifference(id: wanted.id, missing: page))
        continue
      }
      if [400, 414].contains(reply.status) {
        let refusal = await reply.refusal()
        rejected += page.map { Self.unreadable(wanted.id, $0, refusal) }
        continue
      }
      guard reply.status == 200 else { throw await reply.failure() }
      let boundary: MultipartBoundary
      do {
        boundary = try MultipartBoundary(contentType: reply.contentType)
      } catch {
        throw ReplicationError(.invalidReply, "\(identity): \(error)")
      }
      var requested = RequestedRevisions([RevisionDifference(id: wanted.id, missing: page)])
      let (failures, missing) = try await readParts(of: reply, boundary, &requested, body)
      guard let failure = failures.first else {
        lacking += requested.unanswered
        continue
      }
      let rest = requested.notArrived.flatMap(\.missing)
      rejected += rest.filter { !missing.contains($0) }.map { Self.unreadable(wanted.id, $0, failure) }
      let lacked = rest.filter { missing.contains($0) }
      if !lacked.isEmpty { lacking.append(RevisionDifference(id: wanted.id, missing: lacked)) }
    }
    return lacking
  }

  private static var revisionsInURL: Int { 40 }

  private static func unreadable(_ id: String, _ revision: RevisionID, _ error: CouchError)
    -> RejectedRevision
  {
    RejectedRevision(
      id: id, revision: revision.description,
      reason: "it can't be read: \(error.reason.isEmpty ? error.error : error.reason)")
  }

  /// Calls a closure with the revision of each part.
  ///
  /// - Parameter requested: Gets what arrives.
  /// - Returns: The errors of the parts that can't be read into a store or are errors of the server, and the revisions
  ///   that the server lacks.
  private func readParts(
    of reply: RemoteConnection.Reply, _ boundary: MultipartBoundary, _ requested: inout RequestedRevisions,
    _ body: (TransferredRevision) async throws -> Void
  ) async throws -> (failures: [CouchError], missing: Set<RevisionID>) {
    var reader = MultipartReader<ByteBufferView>(boundary: boundary, maximumParts: .max)
    var part: Part?
    var failures: [CouchError] = []
    var missing: Set<RevisionID> = []
    func revision(after event: MultipartReader<ByteBufferView>.Event) async throws -> TransferredRevision? {
      do {
        switch event {
        case .part(let head): part = try Part(head, into: store, limits: Self.limits)
        case .bytes(let bytes): try await part?.take(bytes)
        case .endOfPart:
          defer { part = nil }
          switch try await part?.finish() {
          case .revision(let revision)?: return revision
          case .missing(let revision)?: missing.insert(revision)
          case .error(let json)?: failures.append(reply.error(json))
          case nil: break
          }
        case .end: break
        }
      } catch let error as CouchError {
        // Skip the rest of the part.
        part = nil
        failures.append(error)
      }
      return nil
    }
    do {
      var chunks = reply.body.makeAsyncIterator()
      while let buffer = try await chunks.next() {
        var chunk = buffer.readableBytesView
        while let event = try reader.next(&chunk) {
          guard let revision = try await revision(after: event) else { continue }
          guard requested.take(revision) else {
            throw ReplicationError(
              .invalidReply, "\(identity): the server sent a revision that was not asked for",
              isTransient: true)
          }
          try await body(revision)
        }
      }
      try reader.finish()
      return (failures, missing)
    } catch let error as CouchError {
      // A connection that was cut ends a reply in the middle, if its length is not known.
      throw ReplicationError(.invalidReply, "\(identity): \(error)", isTransient: true)
    }
  }

  /// A part of a reply: a revision, or an error that stands for one.
  private struct Part {
    enum Content {
      case revision(TransferredRevision)
      case missing(RevisionID)
      case error(JSONValue)
    }

    private var document: RelatedDocumentReader<ByteBufferView>
    /// For the parts of the part.
    private var inner: MultipartReader<ByteBufferView>?
    /// The JSON of an error; `nil` if the part is a revision.
    private var error: [UInt8]?

    private static let maximumError = 64 * 1024

    init(
      _ head: MultipartHead, into store: Datastore, limits: RelatedDocumentReader<ByteBufferView>.Limits
    ) throws {
      let type = head["Content-Type"] ?? "application/json"
      error = type.contains("error=") ? [] : nil
      document = RelatedDocumentReader(into: store, limits: limits, mayBeRemoved: true)
      if head.mediaType == "multipart/related" {
        inner = MultipartReader(boundary: try MultipartBoundary(contentType: type), maximumParts: .max)
      }
    }

    mutating func take(_ bytes: ByteBufferView) async throws {
      if let length = error?.count {
        guard length + bytes.count <= Self.maximumError else { throw CouchError.tooLarge(Self.maximumError) }
        error?.append(contentsOf: bytes)
        return
      }
      guard inner != nil else { return try await document.take(.bytes(bytes)) }
      var chunk = bytes
      while let event = try inner?.next(&chunk) { try await document.take(event) }
    }

    mutating func finish() async throws -> Content {
      if let error { return Self.content(of: error) }
      if inner == nil { try await document.take(.endOfPart) }
      try inner?.finish()
      let (input, uploads) = try document.finish()
      guard let id = input.id, let revision = input.revisionID else {
        throw CouchError.badRequest("a revision has no _id or no _rev")
      }
      let inline = input.attachments.count {
        if case .inline(let data) = $0.source { !data.isEmpty } else { false }
      }
      return .revision(
        TransferredRevision(
          id: id, revision: revision, content: .parsed(input), attachments: uploads,
          inlineAttachments: inline))
    }

    /// Reads `{"missing": "2-b"}`, as in a reply to `open_revs`, or `{"rev": "2-b", "error": "not_found", …}`, as in one
    /// of `_bulk_get`.
    private static func content(of error: [UInt8]) -> Content {
      let json = error.withUnsafeBytes { try? JSONValue(parsing: $0) } ?? .null
      let isMissing = json["missing"] != nil || json["error"] == "not_found"
      if isMissing, let text = (json["missing"] ?? json["rev"])?.stringValue, let revision = RevisionID(text)
      {
        return .missing(revision)
      }
      return .error(json)
    }
  }
}
