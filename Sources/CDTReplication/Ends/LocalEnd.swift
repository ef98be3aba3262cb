import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB

/// A store as an end of a replication.
final class LocalEnd: ReplicationSource, ReplicationTarget {
  private let store: Datastore
  private let filter: CompiledFilter?
  /// Whether what is read is sent to a server: small attachments are then part of the JSON.
  private let sendsToServer: Bool

  /// The maximum number of revisions, and of bytes, that are read in one transaction.
  private static let pageCount = 200
  private static let pageLength = 512 * 1024
  /// Attachments of a document up to this size together are sent in its JSON, with many documents in a request.
  private static let inlineLength: Int64 = 16 * 1024

  /// - Parameter filter: What is read; `nil` for everything.
  init(_ store: Datastore, filter: CompiledFilter? = nil, sendsToServer: Bool = false) {
    self.store = store
    self.filter = filter
    self.sendsToServer = sendsToServer
  }

  var identity: String { "store:\(store.storeID)" }

  func open(creating: Bool) -> String? { store.storeID }

  func makeDurable() -> String? { store.storeID }

  // MARK: Checkpoints

  func checkpoint(_ id: String) async throws -> Checkpoint? {
    try await store.localDocument(withID: id).map { Checkpoint($0) }
  }

  func save(_ checkpoint: Checkpoint, _ id: String) async throws {
    try await store.setLocalDocument(checkpoint.json, withID: id)
  }

  // MARK: Reading

  func changes(since sequence: JSONValue, limit: Int, waits: Bool) async throws -> ChangeBatch {
    let since = Int64(sequence.intValue ?? 0)
    if waits {
      var changes = store.liveChanges(since: since).makeAsyncIterator()
      if try await changes.next() == nil { throw CancellationError() }
    }
    return try await store.read { [filter] transaction in
      let changes = try transaction.changes(since: since, limit: limit)
      let documents = try changes.documents.compactMap { change -> ChangedDocument? in
        guard filter?.accepts(id: change.id) ?? true else { return nil }
        let leaves =
          change.leafCount == 1
          ? [change.revisionID] : try transaction.tree(ofDocument: change.id)?.leaves.map(\.id) ?? []
        return ChangedDocument(id: change.id, revisions: leaves)
      }
      return ChangeBatch(
        documents: documents, last: .int(changes.lastSequence), isLast: changes.documents.count < limit)
    }
  }

  func read(
    _ wanted: [RevisionDifference], _ body: (TransferredRevision) async throws -> Void
  ) async throws -> [RejectedRevision] {
    var rest = wanted[...]
    while !rest.isEmpty {
      let (page, read) = try await page(of: rest)
      rest = rest.dropFirst(read)
      for revision in page { try await body(revision) }
    }
    return []
  }

  /// Reads some of the wanted documents.
  ///
  /// - Returns: Their revisions, and the number of documents.
  private func page(
    of wanted: ArraySlice<RevisionDifference>
  ) async throws -> (revisions: [TransferredRevision], count: Int) {
    try await store.read { transaction in
      var revisions: [TransferredRevision] = []
      var (count, length) = (0, 0)
      for document in wanted {
        for open in try transaction.openRevisions(
          of: document.id, .revisions(document.missing), isLatest: true)
        {
          guard case .found(let revision) = open, try self.filter?.accepts(revision) ?? true else { continue }
          let transferred = try self.transferred(revision, since: document.ancestors, transaction)
          length += transferred.textLength
          revisions.append(transferred)
        }
        count += 1
        if revisions.count >= Self.pageCount || length >= Self.pageLength { break }
      }
      return (revisions, count)
    }
  }

  private func transferred(
    _ revision: DocumentRevision, since ancestors: [RevisionID], _ transaction: ReadTransaction
  ) throws -> TransferredRevision {
    var options = DocumentOptions()
    options.revisions = true
    options.attachments = true
    options.attachmentsSince = ancestors
    let writing = DocumentText(transaction, options)
    let length = revision.attachments.reduce(0) { $0 + ($1.length ?? 0) }
    let isInline = sendsToServer && length <= Self.inlineLength
    return TransferredRevision(
      id: revision.id, revision: revision.revisionID,
      content: .text(try writing.text(of: revision, content: isInline ? .inline : .follows)),
      attachments: isInline ? [] : Attachments(try writing.followingAttachments(of: revision)))
  }

  // MARK: Writing

  func missing(_ documents: [ChangedDocument]) async throws -> [RevisionDifference] {
    try await store.read { transaction in
      try documents.compactMap { try transaction.revisionDifference(of: $0.id, among: $0.revisions) }
    }
  }

  func write(_ revisions: [TransferredRevision]) async throws -> WriteOutcome {
    var prepared: [(TransferredRevision, Attachments)] = []
    for revision in revisions {
      prepared.append((revision, try await store.staging(revision.attachments, of: revision.id)))
    }
    let all = prepared
    return try await store.write { transaction in
      let saving = DocumentSaving(transaction)
      var outcome = WriteOutcome()
      for (revision, attachments) in all {
        do {
          _ = try saving.insert(try revision.input(), id: revision.id, uploads: attachments)
        } catch let error as CouchError where error.status == 412 {
          outcome.lackingContent.append(revision)
        } catch let error as CouchError {
          outcome.rejected.append(revision.rejected(error))
        } catch let error as DatastoreError where error.status < 500 {
          outcome.rejected.append(revision.rejected(CouchError(error)))
        }
      }
      return outcome
    }
  }
}
