import CDTDatastore
package import CDTImport
import CDTJSON
import CDTReplication
import CouchDB

/// Imports documents from files into a database at a server.
///
/// A server has no transactions. The revisions of a batch's documents are looked up first, so that a conflict is found
/// before the batch is sent. A document that is created in between is refused by the server, and then treated as one
/// that was found. A request that writes is not repeated, as the server may have done it although no reply arrived.
package struct RemoteImporter: Sendable {
  private let database: RemoteDatastore

  /// The number of times that a document is sent if others change it at the same time.
  private static let maximumAttempts = 5

  package init(into database: RemoteDatastore) {
    self.database = database
  }

  /// Imports what a reader reads.
  ///
  /// - Throws: `ImportError` with file and line for a document that is invalid or refused, `DatastoreError` if reading
  ///   fails, `ReplicationError` for other errors of the server. The batches before are written, and if the server
  ///   refuses a document, the others of its batch may be.
  package func run(_ reader: ImportReader) async throws -> DocumentImporter.Report {
    var writing = BatchWriting(reader)
    defer { writing.reader.reportProblems() }
    while try writing.next() {
      for rows in writing.parts { try await write(rows, &writing) }
    }
    return writing.reader.report
  }

  private func write(_ rows: [Int], _ writing: inout BatchWriting) async throws {
    var rows = rows
    for _ in 0..<Self.maximumAttempts where !rows.isEmpty {
      let ids = rows.map { writing.batch.id(at: $0) }
      let found = try await database.currentRevisions(
        of: ids, withAttachments: writing.reader.onConflict == .replace)
      let drafts = try zip(rows, found).compactMap { try writing.draft($0, over: $1) }
      rows = []
      try await send(drafts[...], &writing, changed: &rows)
    }
    for row in rows {
      try writing.reader.refuse(
        writing.batch.problem("the document is changed by others at the same time; import it again", at: row))
    }
  }

  /// Sends documents, in smaller requests if the server refuses all of them.
  ///
  /// - Parameter changed: Gets the documents that have another revision by now.
  private func send(
    _ drafts: ArraySlice<BatchWriting.Draft>, _ writing: inout BatchWriting, changed: inout [Int]
  ) async throws {
    guard let first = drafts.first else { return }
    var body = Array(#"{"docs":["#.utf8)
    for draft in drafts {
      if body.last != UInt8(ascii: "[") { body.append(UInt8(ascii: ",")) }
      body += draft.text
    }
    body += "]}".utf8
    let reply = try await database.connection.send(.init(.POST, "/_bulk_docs", json: body))
    switch reply.status {
    case 200, 201, 202:
      guard let rows = try await reply.json().arrayValue, rows.count == drafts.count else {
        throw ReplicationError(
          .invalidReply, "POST \(database.database.url)/_bulk_docs: the reply has not a row for each document"
        )
      }
      for (draft, row) in zip(drafts, rows) {
        let failure = row["error"]?.stringValue == nil ? nil : reply.error(row)
        try writing.take(failure, of: draft, changed: &changed)
      }
    case 400, 412, 413, 415, 417:
      guard drafts.count == 1 else {
        let middle = drafts.startIndex + drafts.count / 2
        try await send(drafts[..<middle], &writing, changed: &changed)
        return try await send(drafts[middle...], &writing, changed: &changed)
      }
      try writing.refuse(first.row, await reply.refusal())
    default: throw await reply.failure()
    }
  }
}

/// The documents of a batch on their way to a server.
private struct BatchWriting {
  var reader: ImportReader
  var batch: ImportBatch { reader.batch }
  /// The ids that were sent.
  private var sent: Set<[UInt8]> = []

  struct Draft {
    let row: Int
    let text: [UInt8]
    let isReplacement: Bool
  }

  init(_ reader: ImportReader) { self.reader = reader }

  /// Begins the next batch.
  ///
  /// - Returns: Whether there is one.
  mutating func next() throws -> Bool {
    sent = []
    return try reader.next()
  }

  /// The positions of the documents that are sent together. A document that replaces another document of its batch is sent
  /// after it.
  var parts: [[Int]] {
    guard reader.onConflict == .replace else { return [Array(0..<batch.count)] }
    var parts: [[Int]] = [[]]
    var ids: Set<[UInt8]> = []
    for row in 0..<batch.count {
      if !ids.insert(Array(batch.id(at: row).utf8)).inserted {
        parts.append([])
        ids = [Array(batch.id(at: row).utf8)]
      }
      parts[parts.count - 1].append(row)
    }
    return parts
  }

  /// The document to send for an imported one; `nil` for none.
  mutating func draft(_ row: Int, over current: CurrentRevision?) throws -> Draft? {
    let id = batch.id(at: row)
    do throws(DatastoreError) {
      try DocumentID.check(id)
    } catch {
      try reader.refuse(batch.problem(error.message, at: row))
      return nil
    }
    let isNew = sent.insert(Array(id.utf8)).inserted
    if let current, reader.isStale(row, current: current.revision, isDeleted: current.isDeleted) {
      return nil
    }
    let current = current.flatMap { $0.isDeleted ? nil : $0 }
    if current != nil || !isNew, try !reader.replaces(row) { return nil }
    var head: JSONObject = ["_id": .string(id)]
    if let current { head["_rev"] = .string(current.revision) }
    if let attachments = batch.attachments(at: row) {
      if !attachments.isEmpty { head["_attachments"] = .object(try attachments.inlineJSON()) }
    } else {
      head["_attachments"] = current?.attachments
    }
    var text = head.utf8Text
    let body = batch.text(at: row)
    if body.count > 2 {
      text[text.count - 1] = UInt8(ascii: ",")
      text += body.dropFirst()
    }
    return Draft(row: row, text: text, isReplacement: current != nil)
  }

  /// Takes the server's answer to a document.
  mutating func take(_ failure: CouchError?, of draft: Draft, changed: inout [Int]) throws {
    guard let failure else {
      if draft.isReplacement { reader.report.replaced += 1 } else { reader.report.imported += 1 }
      return
    }
    guard failure.error == "conflict" else { return try refuse(draft.row, failure) }
    if try reader.replaces(draft.row) { changed.append(draft.row) }
  }

  mutating func refuse(_ row: Int, _ error: CouchError) throws {
    let remedy = error.status == 413 ? "; leave the document out, or raise the server's limit" : ""
    try reader.refuse(batch.problem("the server refuses the document: \(error)\(remedy)", at: row))
  }
}

/// The revision that a new one of a document replaces.
struct CurrentRevision {
  let revision: String
  let isDeleted: Bool
  /// The attachments without their content, which a new revision keeps if it names them.
  let attachments: JSONValue?
}

extension RemoteDatastore {
  /// The current revisions of documents; `nil` for one that does not exist.
  ///
  /// - Parameter withAttachments: Whether to read the documents too, for the names of their attachments.
  fileprivate func currentRevisions(
    of ids: [String], withAttachments: Bool
  ) async throws -> [CurrentRevision?] {
    let query = withAttachments ? "?include_docs=true" : ""
    do {
      let reply = try await retries.run {
        try await connection.send(
          .init(.POST, "/_all_docs\(query)", ["keys": .array(ids.map { .string($0) })]), expecting: 200
        ).json()
      }
      guard let rows = reply["rows"]?.arrayValue, rows.count == ids.count else {
        throw ReplicationError(
          .invalidReply, "POST \(database.url)/_all_docs: the reply has not a row for each key")
      }
      return rows.map { row in
        guard let value = row["value"], let revision = value["rev"]?.stringValue else { return nil }
        return CurrentRevision(
          revision: revision, isDeleted: value["deleted"] == true, attachments: row["doc"]?["_attachments"])
      }
    } catch let error as ReplicationError where error.isTooLong && ids.count > 1 {
      let middle = ids.count / 2
      let first = try await currentRevisions(of: Array(ids[..<middle]), withAttachments: withAttachments)
      return first
        + (try await currentRevisions(of: Array(ids[middle...]), withAttachments: withAttachments))
    }
  }
}
