import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB
import Synchronization

/// A store as an end of a replication.
final class LocalEnd: ReplicationSource, ReplicationTarget {
  private let store: Datastore
  private let filter: CompiledFilter?
  /// Whether what is read is sent to a server: small attachments are then part of the JSON.
  private let sendsToServer: Bool
  /// Whether revisions of documents that have left the filter are read.
  private let includesLeftFilter: Bool
  private let rules: RulesOfTarget
  /// The rules of the store when the run began, with whose user it ends.
  private let rulesOfStore: (any DocumentRules)?
  /// The changes that an index has found for the filter, for the next batches.
  private let selected = Mutex<SelectedChanges?>(nil)

  /// The maximum number of revisions, and of bytes, that are read in one transaction.
  private static let pageCount = 200
  private static let pageLength = 512 * 1024
  /// Attachments of a document up to this size together are sent in its JSON, with many documents in a request.
  private static let inlineLength: Int64 = 16 * 1024

  /// - Parameter filter: The documents to read; `nil` for all.
  init(
    _ store: Datastore, filter: CompiledFilter? = nil, sendsToServer: Bool = false,
    includesLeftFilter: Bool = false, rules: RulesOfTarget = .ofStore
  ) {
    self.store = store
    self.rules = rules
    rulesOfStore = store.documentRules
    self.filter = filter
    self.sendsToServer = sendsToServer
    self.includesLeftFilter = includesLeftFilter
  }

  var identity: String { store.replicationIdentity }

  var reader: UserContext? { rulesOfStore?.user }

  var isWritable: Bool { !store.access.isReadOnly }

  func open(creating: Bool) throws -> String? {
    // Its indexes follow the design documents that it receives.
    _ = try store.indexManager()
    return store.storeID
  }

  func makeDurable() -> String? { store.storeID }

  // MARK: Checkpoints

  func checkpoint(_ id: String) async throws -> Checkpoint? {
    try await store.read { try $0.localDocument(withID: id) }.map { Checkpoint($0) }
  }

  func save(_ checkpoint: Checkpoint, _ id: String) async throws {
    try await store.write { try $0.setLocalDocument(checkpoint.jsonInStore, withID: id) }
  }

  // MARK: Reading

  func changes(since sequence: JSONValue, limit: Int, waits: Bool) async throws -> ChangeBatch {
    let since = Int64(sequence.intValue ?? 0)
    if waits {
      var changes = store.liveChanges(since: since).makeAsyncIterator()
      // From here on, the iterator notices another user.
      try await store.read { try $0.checkRules(are: self.rulesOfStore) }
      if try await changes.next() == nil {
        try Task.checkCancellation()
        // Another user has closed or deleted it, which this says.
        _ = try await store.read { try $0.lastSequence() }
        throw CancellationError()
      }
    }
    return try await reading { transaction in
      if let batch = try self.selectedChanges(since: since, limit: limit, transaction) { return batch }
      let changes = try transaction.changes(since: since, limit: limit)
      let documents = try self.changed(changes.documents, transaction)
      let isLast = changes.documents.count < limit
      return ChangeBatch(
        documents: documents, last: .int(changes.lastSequence), isLast: isLast,
        pending: isLast ? 0 : try transaction.changeCount(since: changes.lastSequence))
    }
  }

  /// Reads as the user of the store. A server also gets the change by which a document has left what the user sees.
  private func reading<R: Sendable>(
    _ body: @escaping @Sendable (ReadTransaction) throws -> R
  ) async throws -> R {
    try await store.read { [sendsToServer, rulesOfStore] transaction in
      try transaction.checkRules(are: rulesOfStore)
      transaction.view.includesLeft = sendsToServer
      return try body(transaction)
    }
  }

  private func changed(_ changes: [Change], _ transaction: ReadTransaction) throws -> [ChangedDocument] {
    try changes.compactMap { change in
      guard filter?.accepts(id: change.id) ?? true, !change.isPurged else { return nil }
      return ChangedDocument(id: change.id, revisions: try transaction.leaves(of: change))
    }
  }

  func beginFilling() async throws {
    guard let selector = filter?.selector else { return }
    let found = try await store.readForQuery { try SelectedChanges(of: selector, since: 0, in: $0) }
    selected.withLock { $0 = found }
  }

  /// The changes that an index has found for the filter. It has no documents that have left the filter.
  private func selectedChanges(
    since: Int64, limit: Int, _ transaction: ReadTransaction
  ) throws -> ChangeBatch? {
    guard let selected = selected.withLock(\.self), since < selected.last else { return nil }
    let part = try selected.changes(after: since, limit: limit, in: transaction)
    return ChangeBatch(
      documents: try changed(part.documents, transaction), last: .int(part.last), isLast: false,
      pending: selected.count(after: part.last))
  }

  func leaves(of ids: [String]) async throws -> [ChangedDocument]? {
    try await reading { transaction in
      try ids.compactMap { id in
        try transaction.tree(ofDocument: id).map { ChangedDocument(id: id, revisions: $0.leaves.map(\.id)) }
      }
    }
  }

  func read(
    _ wanted: [RevisionDifference], _ body: (TransferredRevision) async throws -> Void
  ) async throws -> [RejectedRevision] {
    var rest = wanted[...]
    while !rest.isEmpty {
      let page = try await page(of: rest)
      rest = page.rest
      for revision in page.revisions { try await body(revision) }
    }
    return []
  }

  /// Reads some of the wanted revisions.
  ///
  /// - Returns: The revisions, and what is left to read.
  private func page(
    of wanted: ArraySlice<RevisionDifference>
  ) async throws -> (revisions: [TransferredRevision], rest: ArraySlice<RevisionDifference>) {
    try await reading { [self] transaction in
      let filter = try self.filter?.renewed
      var (revisions, length): ([TransferredRevision], Int) = ([], 0)
      for (position, document) in zip(wanted.indices, wanted) {
        let leaves = try transaction.openRevisionIDs(
          of: document.id, .revisions(document.missing), isLatest: true)
        for (number, leaf) in leaves.enumerated() {
          try transaction.stop?.check()
          // A document may have any number of leaves.
          if revisions.count >= Self.pageCount || length >= Self.pageLength {
            let left = document.only(Array(leaves[number...]))
            return (revisions, [left] + wanted[(position + 1)...])
          }
          guard let revision = try transaction.documentIfStored(document.id, leaf) else { continue }
          let isAccepted = try filter?.accepts(revision) ?? true
          guard
            try isAccepted
              || includesLeftFilter && (document.hasLeftFilter || hasLeft(document, filter, transaction))
          else { continue }
          var transferred = try self.transferred(revision, since: document.ancestors, transaction)
          transferred.hasLeftFilter = !isAccepted
          length += transferred.textLength
          revisions.append(transferred)
        }
      }
      return (revisions, [])
    }
  }

  /// Whether the target has a revision that the filter has accepted, or may have accepted.
  private func hasLeft(
    _ document: RevisionDifference, _ filter: CompiledFilter?, _ transaction: ReadTransaction
  ) throws -> Bool {
    guard let filter else { return false }
    return try !transaction.acceptedEarlier(document.id, among: document.ancestors) { try filter.accepts($0) }
      .isEmpty
  }

  private func transferred(
    _ revision: DocumentRevision, since ancestors: [RevisionID], _ transaction: ReadTransaction
  ) throws -> TransferredRevision {
    var options = DocumentOptions()
    options.revisions = true
    options.attachments = true
    options.attachmentsSince = ancestors
    let writing = DocumentText(transaction, options)
    let following = try writing.followingAttachments(of: revision)
    if sendsToServer, revision.attachments.totalLength <= Self.inlineLength {
      do {
        return TransferredRevision(
          id: revision.id, revision: revision.revisionID, content: .text(try writing.text(of: revision)),
          attachments: [], inlineAttachments: following.count)
      } catch let error as DatastoreError where error.isOfContent {
        // The error comes again when the content is read for this revision alone, which is rejected then.
      }
    }
    return TransferredRevision(
      id: revision.id, revision: revision.revisionID,
      content: .text(try writing.text(of: revision, content: .follows)),
      attachments: Attachments(following))
  }

  // MARK: Writing

  func isNew() async throws -> Bool { try await store.read { try $0.lastSequence() } == 0 }

  func missing(_ documents: [ChangedDocument]) async throws -> [RevisionDifference] {
    try await store.read { transaction in
      // What the store has need not be sent.
      transaction.ignoreRules()
      return try documents.compactMap { document in
        guard document.isRemoved else {
          return try transaction.revisionDifference(of: document.id, among: document.revisions)
        }
        guard try transaction.entry(ofDocument: document.id).map({ $0.revisionID != .purged }) ?? false else {
          return nil
        }
        var removed = RevisionDifference(id: document.id, missing: document.revisions)
        removed.isRemoved = true
        return removed
      }
    }
  }

  private static let unknownChanges =
    "the source no longer shows the document, which is kept here as it has changes that the source does not know"

  func remove(_ documents: [RemovedDocument]) async throws -> (count: Int, kept: [RejectedRevision]) {
    let documents = Dictionary(grouping: documents) { KeyBytes($0.id) }
    return try await store.write { [rulesOfStore] transaction in
      try transaction.checkRules(are: rulesOfStore)
      transaction.ignoreRules()
      var (count, kept) = (0, [RejectedRevision]())
      for removals in documents.values {
        let known = Set(removals.flatMap(\.known))
        guard let first = removals.first, let tree = try transaction.tree(ofDocument: first.id),
          tree.winner.id != .purged
        else { continue }
        // A tombstone of a branch that has lost has no edit that could be lost.
        let isKnown = tree.leaves.allSatisfy { leaf in
          known.contains(leaf.id) || leaf.isDeleted && !tree.winner.isDeleted
        }
        if !isKnown {
          kept.append(
            RejectedRevision(id: first.id, revision: first.revision.description, reason: Self.unknownChanges))
        } else if try transaction.purge(first.id) {
          count += 1
        }
      }
      return (count, kept)
    }
  }

  func write(_ revisions: [TransferredRevision]) async throws -> WriteOutcome {
    var unreadable = WriteOutcome()
    var prepared: [(TransferredRevision, Attachments)] = []
    for revision in revisions {
      do {
        prepared.append((revision, try await store.staging(revision.attachments, of: revision.id)))
      } catch let error as DatastoreError where error.isOfContent {
        unreadable.needsAttachments.append((revision, CouchError(error)))
      }
    }
    let (all, known, rules) = (prepared, unreadable, rules)
    return try await store.write { [rulesOfStore] transaction in
      try transaction.checkRules(are: rulesOfStore)
      let saving = DocumentSaving(transaction)
      var outcome = known
      for (revision, attachments) in all {
        do {
          let input = try revision.input()
          _ = try transaction.enforcing(rules.of(transaction)) {
            try saving.insert(input, id: revision.id, uploads: attachments)
          }
        } catch let error as CouchError where error.status == 412 {
          outcome.needsAttachments.append((revision, error))
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

extension Datastore {
  /// The text that identifies the store in the id of a replication.
  var replicationIdentity: String { "store:\(storeID)" }
}

/// The rules that decide on the revisions that a store receives.
enum RulesOfTarget: Sendable {
  case ofStore
  case none
  case of(any DocumentRules)

  init(_ replication: Replication) {
    self = replication.rules.map { .of($0) } ?? (replication.enforcesRules ? .ofStore : .none)
  }

  func of(_ transaction: WriteTransaction) -> (any DocumentRules)? {
    switch self {
    case .ofStore: transaction.view.rules
    case .none: nil
    case .of(let rules): rules
    }
  }
}
