import CDTBackup
import CDTDatastore
import CDTImport
import CDTJSON
import CDTQuery
import CouchDB

/// A database as the user of a request sees it. The functions that answer requests have no other way to its documents.
struct Database: Sendable {
  private let shared: OpenDatabase
  private let rules: EnforcedRules
  let security: DatabaseSecurity

  /// - Parameters:
  ///   - identity: The user, who sees every document as an admin of the database.
  ///   - sender: The user who sends the request, if that is another user.
  init(_ shared: OpenDatabase, for identity: Identity, sender: Identity, _ security: DatabaseSecurity) {
    (self.shared, self.security) = (shared, security)
    rules = EnforcedRules(
      for: UserContext(name: identity.name, roles: identity.roles), isAdmin: security.isAdmin(identity),
      sender: sender.name, security: security.json, cache: shared.rules)
  }

  var name: String { shared.name }
  var created: String { shared.created }
  var settings: DatabaseSettings { shared.settings }

  /// The settings, read again if they are old.
  func presentSettings() async throws -> DatabaseSettings {
    try await shared.refreshSettings()
    return shared.settings
  }

  var revisionsLimit: Int { shared.revisionsLimit }
  var isReadOnly: Bool { shared.store.access.isReadOnly }

  /// See `Datastore.checkWritable()`.
  func checkWritable() throws(DatastoreError) { try shared.store.checkWritable() }

  /// Whether the user is an admin, who sees every document.
  var isForAdmin: Bool { rules.seesEverything }

  func changeSettings(_ change: @escaping @Sendable (inout DatabaseSettings) -> Void) async throws {
    try await shared.changeSettings(change)
  }

  func compact(listedIn tasks: ActiveTasks) async throws { try await shared.compact(listedIn: tasks) }

  /// A listener for all commits, which tells nothing of documents.
  func listener() async throws -> ChangeListener {
    try await Datastore.useFiles { [shared] in try ChangeListener(to: shared.store) }
  }

  /// The totals of the database, which are the same for every user.
  ///
  /// - Parameter sequence: The text of the last sequence.
  func info(_ sequence: String) async throws -> JSONObject { try await shared.info(sequence) }

  // MARK: Reading

  /// Reads one state of the database.
  func read<R: Sendable>(_ body: @escaping @Sendable (ReadTransaction) throws -> R) async throws -> R {
    try await shared.store.readSnapshot(as: rules, body)
  }

  /// Reads one state of the documents. A query in it would have no indexes.
  func readDocuments<R: Sendable>(
    _ body: @escaping @Sendable (ReadTransaction) throws -> R
  ) async throws -> R {
    try await shared.store.readDocuments(as: rules, body)
  }

  /// Reads on the threads of queries.
  func readForQuery<R: Sendable>(
    _ body: @escaping @Sendable (ReadTransaction) throws -> R
  ) async throws -> R {
    try await shared.store.readForQuery(as: rules, body)
  }

  /// Reads on the threads of queries.
  ///
  /// - Throws: `CouchError.slowQuery` if it takes until the deadline, also in the queue.
  func query<R: Sendable>(
    until deadline: ContinuousClock.Instant, _ body: @escaping @Sendable (ReadTransaction) throws -> R
  ) async throws -> R {
    try await Self.inTime(deadline) { try await readForQuery(body) }
  }

  private static func inTime<R: Sendable>(
    _ deadline: ContinuousClock.Instant, else failure: CouchError = .slowQuery,
    _ body: @Sendable () async throws -> R
  ) async throws -> R {
    do {
      return try await Datastore.withDeadline(deadline, operation: body)
    } catch let error as DatastoreError where error.code == .timedOut {
      throw failure
    }
  }

  /// The results of a query, now and after every commit that changes them, as long as the rules stay as they are.
  func live(_ query: Query) -> LiveQuery<DocumentRevision> { shared.store.live(query, as: rules) }

  // MARK: Writing

  /// Runs a write of a document, together with those of other requests.
  ///
  /// - Parameter body: Returns the id of the new revision.
  func save(
    _ id: String, _ body: @escaping @Sendable (WriteTransaction) throws -> RevisionID
  ) async throws -> RevisionID {
    let limit = revisionsLimit
    let revision = try await writeWithoutRollback { transaction in
      try transaction.checkSeen(id)
      let revision = try body(transaction)
      try transaction.stem(id, to: limit, after: [revision])
      return revision
    }
    await noteWrites(of: [id])
    return revision
  }

  /// Runs a write, together with those of other requests.
  ///
  /// Unlike in `Datastore.write`, an error of the closure does not roll back what the closure has changed before.
  func writeWithoutRollback<R: Sendable>(
    _ body: @escaping @Sendable (WriteTransaction) throws -> R
  ) async throws -> R {
    do {
      return try await shared.writes.writeWithoutRollback(under: rules, body)
    } catch let violation as UniqueViolation {
      throw try await readDocuments { try violation.naming($0.sees) }
    }
  }

  /// Imports what a reader reads, each batch in a transaction of its own. If the task is cancelled, it ends after a batch.
  ///
  /// - Parameters:
  ///   - reader: Makes the reader.
  ///   - refusal: Returns why a document is not saved; `nil` if it can be.
  func importDocuments(
    _ reader: @escaping @Sendable (StopSignal) -> ImportReader,
    refusal: @escaping @Sendable (_ id: String, BodyText, Attachments?) -> String?
  ) async throws -> DocumentImporter.Report {
    var importer = DocumentImporter(into: shared.store)
    let limit = revisionsLimit
    importer.service = ImportService(rules: rules, refusal: refusal) {
      try $0.stem($1, to: limit, after: [$2])
    }
    do {
      let report = try await shared.store.runImport { [importer] in try importer.run(reader($0), stop: $0) }
      await noteWrites(of: [DocumentID.designPrefix])
      return report
    } catch {
      // Batches before the error are saved.
      await noteWrites(of: [DocumentID.designPrefix])
      throw error
    }
  }

  /// Backs up the database, for its admins, in a directory. See `Datastore.backup(to:progress:)`.
  func backUp(to directory: String) async throws { try await shared.store.backupForClient(to: directory) }

  /// Lets the indexes follow design documents that were written, so that the next request finds them.
  func noteWrites(of ids: [String]) async {
    // If that fails now, the datastore tries again in the background.
    if ids.contains(where: DocumentID.isDesign) { _ = try? await shared.store.indexDefinitions() }
  }

  /// Takes the content of an attachment that is to be saved.
  func attachmentSink(
    name: String, isCompressed: Bool, limit: Int64, contentMD5: String?
  ) async throws -> AttachmentSink {
    try await AttachmentSink(
      shared.store, name: name, isCompressed: isCompressed, limit: limit, contentMD5: contentMD5)
  }

  /// Reads a document that is to be saved with its attachments.
  func relatedDocumentReader<Bytes>(
    limits: RelatedDocumentReader<Bytes>.Limits
  ) -> RelatedDocumentReader<Bytes> {
    RelatedDocumentReader(into: shared.store, limits: limits)
  }

  // MARK: Indexes

  func indexDefinitions() async throws -> [IndexDefinition] { try await shared.store.indexDefinitions() }

  /// Brings the indexes up to date.
  ///
  /// - Throws: `CouchError.slowQuery` if it takes until the deadline, also in the queue. Completed work is kept.
  func updateIndexes(until deadline: ContinuousClock.Instant) async throws {
    try await Self.inTime(deadline) { try await shared.store.updateIndexes() }
  }

  func updateIndexes(_ progress: @escaping @Sendable (IndexProgress) -> Void) async throws {
    try await shared.store.updateIndexes(progress: progress)
  }

  func rebuildIndex(
    named name: String, _ progress: @escaping @Sendable (IndexProgress) -> Void
  ) async throws {
    try await shared.store.rebuildIndexes(named: name, progress: progress)
  }

  func deleteIndex(named name: String) async throws {
    try await shared.store.run { try $0.deleteIndex(named: name) }
  }

  /// The indexes with their sizes and the distribution of their values, which tell of all documents.
  ///
  /// - Throws: `CouchError`: 403 if rules withhold documents from the user; `slowStatistics` if it takes until the deadline, also in
  ///   the queue.
  func measureIndexes(until deadline: ContinuousClock.Instant) async throws -> [IndexInfo] {
    guard try await readDocuments({ try $0.seesEverything }) else {
      throw CouchError.forbidden(
        "Statistics tell of documents that you may not see; an admin can ask for them.")
    }
    return try await Self.inTime(deadline, else: .slowStatistics) { try await shared.store.measureIndexes() }
  }

  /// A warning if an index on the time at which documents expire has others, too. For admins.
  func documentsThatNeverExpire(byIndex name: String) async throws -> String? {
    try await shared.store.run { try $0.documentsThatNeverExpire(byIndex: name).first?.description }
  }

  // MARK: Rules

  /// Calls a closure for each document that the user could not save as it is, or for one document if so. For admins.
  func forEachViolation(
    ofDocument id: String?, in transaction: ReadTransaction, _ body: (RuleViolation) throws -> Void
  ) throws {
    try rules.forEachViolation(ofDocument: id, in: transaction, body)
  }

  // MARK: Sequences

  /// The sequences that the user is given, and the number after which the changes begin.
  ///
  /// - Parameter since: The text of a sequence, or `now`; `nil` for the beginning.
  /// - Throws: `CouchError`: 400 if the text is malformed, 403 if the rules of reading can't be read.
  func sequences(since text: String? = nil) async throws -> Sequences {
    let (last, visibility) = try await readDocuments {
      (try $0.lastSequence(), try $0.visibility() as? Visibility)
    }
    if let visibility, visibility.isUnreadable { throw CouchError.unreadableRules }
    let number = try await shared.number(ofRules: visibility?.rules ?? "")
    let user = isForAdmin ? nil : rules.user
    return try Sequences(shared, user, visibility, number: number, since: text, last: last)
  }

  /// The text of the last sequence.
  func lastSequence() async throws -> String {
    let sequences = try await sequences(since: "now")
    return sequences.text(of: sequences.start)
  }

  /// Whether the user sees documents by the rules for which sequences were made.
  func isPresent(_ sequences: Sequences, in transaction: ReadTransaction) throws -> Bool {
    try transaction.visibility() as? Visibility == sequences.visibility
  }
}

extension CouchError {
  static let slowQuery = CouchError(
    503, "timeout",
    "The query took longer than the server allows; make it smaller, or create an index that serves it.")

  fileprivate static let slowStatistics = CouchError(
    503, "timeout",
    "Measuring the indexes took longer than the server allows; list them without `statistics`.")

  fileprivate static let unreadableRules = forbidden(
    "A rule of this database can't be read, so only its admins see documents; they can repair it.")
}
