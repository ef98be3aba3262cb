import CDTDatastore
import CDTJSON
import CouchDB

/// One of the two databases of a replication.
protocol ReplicationEnd: Sendable {
  /// A text that identifies the database in the id of a replication.
  var identity: String { get }

  /// Makes sure that the database exists.
  ///
  /// - Returns: A number that differs when the database is deleted and created again; `nil` if there is none.
  func open(creating: Bool) async throws -> String?

  /// The checkpoint with an id; `nil` if there is none.
  func checkpoint(_ id: String) async throws -> Checkpoint?

  /// Saves a checkpoint, after everything that was written before.
  func save(_ checkpoint: Checkpoint, _ id: String) async throws
}

/// The database that revisions are read from.
protocol ReplicationSource: ReplicationEnd {
  /// The user who reads a store with rules; `nil` for another source.
  var reader: UserContext? { get }

  /// Whether the database can be written to, as far as known.
  var isWritable: Bool { get }

  /// Prepares for a target without documents, before the first change is read: nothing that it could lack has left the filter.
  func beginFilling() async throws

  /// The documents that changed since a sequence.
  ///
  /// - Parameter waits: Whether to wait for a change if there is none.
  func changes(since sequence: JSONValue, limit: Int, waits: Bool) async throws -> ChangeBatch

  /// The leaves of documents; those that the database lacks are left out. `nil` if it can't be asked for them.
  func leaves(of ids: [String]) async throws -> [ChangedDocument]?

  /// Calls a closure with revisions and those that descend from them, one after the other.
  ///
  /// - Returns: The revisions that can't be read into a store.
  func read(
    _ wanted: [RevisionDifference], _ body: (TransferredRevision) async throws -> Void
  ) async throws -> [RejectedRevision]
}

/// The database that revisions are written to.
protocol ReplicationTarget: ReplicationEnd {
  /// Whether the database has no document, and never had one.
  func isNew() async throws -> Bool

  /// The revisions of the documents that the database lacks.
  func missing(_ documents: [ChangedDocument]) async throws -> [RevisionDifference]

  /// Writes revisions.
  func write(_ revisions: [TransferredRevision]) async throws -> WriteOutcome

  /// Removes documents that the source no longer shows.
  ///
  /// - Returns: The number of documents that were removed, and those that are kept, as they have a leaf that the source does not know.
  func remove(_ documents: [RemovedDocument]) async throws -> (count: Int, kept: [RejectedRevision])

  /// Waits until everything that was written is on disk.
  ///
  /// - Returns: The result of `open`.
  func makeDurable() async throws -> String?
}

extension ReplicationTarget {
  /// A store withholds nothing, so a server is never asked to.
  func remove(_ documents: [RemovedDocument]) async throws -> (count: Int, kept: [RejectedRevision]) {
    (0, [])
  }
}

/// A document that a source no longer shows.
struct RemovedDocument: Sendable {
  let id: String
  let revision: RevisionID
  /// The revisions that the source has.
  let known: [RevisionID]
}

/// A document that a source lists as changed.
struct ChangedDocument: Sendable {
  let id: String
  /// Its leaves.
  var revisions: [RevisionID] = []
  /// Leaves whose ids a datastore can't have.
  var invalid: [String] = []
  /// The earlier revisions that the source's filter has accepted, if it no longer accepts the document. A target that has one of them
  /// gets the new one.
  var leftFilter: [RevisionID] = []
  /// Whether the source no longer shows it to the user.
  var isRemoved = false
  /// The revisions of a removed document that the source has, if it lists them; otherwise the removed revision tells its history.
  var known: [RevisionID] = []

  /// Adds a leaf.
  mutating func add(_ text: String) {
    if let revision = RevisionID(text) { revisions.append(revision) } else { invalid.append(text) }
  }
}

/// Some changes of a source.
struct ChangeBatch: Sendable {
  private(set) var documents: [ChangedDocument]
  /// The sequence at which the next batch begins.
  let last: JSONValue
  /// Whether there were no more changes.
  let isLast: Bool
  /// The number of changes that follow, if the source tells it.
  var pending = 0

  func filtered(_ isWanted: (ChangedDocument) -> Bool) -> ChangeBatch {
    var batch = self
    batch.documents.removeAll { !isWanted($0) }
    return batch
  }
}

/// A revision on its way.
struct TransferredRevision: Sendable {
  let id: String
  let revision: RevisionID
  /// The revision as JSON, with its history.
  let content: Content
  /// The attachments whose content is not in the JSON, in the same order.
  let attachments: Attachments
  /// The number of attachments whose content is in the JSON.
  var inlineAttachments = 0
  /// Whether the filter no longer accepts the document.
  var hasLeftFilter = false

  enum Content: Sendable {
    case text([UInt8])
    case parsed(DocumentInput)
  }

  func input() throws -> DocumentInput {
    switch content {
    case .parsed(let input): return input
    case .text(let text):
      return try text.withUnsafeBytes { try DocumentInput($0) }
    }
  }

  /// The revision and its ancestors if the source withholds it from the user; `nil` if it can be written.
  var removedHistory: [RevisionID]? {
    if case .parsed(let input) = content, input.isRemoved { input.history } else { nil }
  }

  /// The number of bytes of the JSON.
  var textLength: Int {
    switch content {
    case .parsed(let input): input.length
    case .text(let text): text.count
    }
  }

  /// The number of bytes with the attachments.
  var length: Int64 {
    Int64(textLength).addingSaturated(attachments.totalLength)
  }

  var key: RevisionKey { RevisionKey(id, revision) }

  /// The number of attachments with their content.
  var attachmentCount: Int { inlineAttachments + attachments.count }

  func rejected(_ error: CouchError) -> RejectedRevision {
    RejectedRevision(id: id, revision: revision.description, reason: "\(error)")
  }
}

/// The outcome of a write. Revisions that are not listed were written.
struct WriteOutcome: Sendable {
  var rejected: [RejectedRevision] = []
  /// Revisions to read again with the content of all attachments, as the target lacks some that it was expected to have,
  /// or as some could not be read; and what to say if that does not help.
  var needsAttachments: [(revision: TransferredRevision, reason: CouchError)] = []
}

/// A revision of a document. Ids are told apart by their bytes.
struct RevisionKey: Hashable, Sendable {
  private let id: KeyBytes
  private let revision: RevisionID

  init(_ id: String, _ revision: RevisionID) {
    (self.id, self.revision) = (KeyBytes(id), revision)
  }
}

extension Attachments {
  /// The number of bytes of their content. The rows of a damaged store may say anything.
  var totalLength: Int64 { reduce(0) { $0.addingSaturated($1.length ?? 0) } }
}

extension Int64 {
  func addingSaturated(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}

extension Array {
  /// For a request that is too large.
  var halves: (first: [Element], second: [Element]) {
    (Array(self[..<(count / 2)]), Array(self[(count / 2)...]))
  }
}

extension [RevisionDifference] {
  /// The differences, with some documents marked as having left the filter.
  func marked(_ leftFilter: Set<KeyBytes>) -> [RevisionDifference] {
    map { document in
      var document = document
      document.hasLeftFilter = leftFilter.contains(KeyBytes(document.id))
      return document
    }
  }

  /// Leaves out revisions, and documents of which nothing is left.
  func without(_ revisions: Set<RevisionKey>) -> [RevisionDifference] {
    compactMap { document in
      let rest = document.missing.filter { !revisions.contains(RevisionKey(document.id, $0)) }
      return rest.isEmpty ? nil : document.only(rest)
    }
  }
}

extension RevisionDifference {
  /// The difference with only some of its revisions.
  func only(_ missing: [RevisionID]) -> RevisionDifference {
    var part = RevisionDifference(id: id, missing: missing, ancestors: ancestors)
    (part.hasLeftFilter, part.isRemoved) = (hasLeftFilter, isRemoved)
    return part
  }
}
