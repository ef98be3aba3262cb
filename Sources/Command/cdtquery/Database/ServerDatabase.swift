#if Replication
  import ArgumentParser
  import CDTDatastore
  import CDTImport
  import CDTJSON
  import CDTQuery
  import CDTRemote
  import CDTReplication
  import Synchronization

  /// A database at a server as the database of a command.
  struct ServerDatabase: Database {
    let database: RemoteDatastore

    func check() throws {
      try waiting { try await database.checkDatabase() }
    }

    func document(withID id: String, revisionID: RevisionID?) throws -> DocumentRevision {
      try waiting { try await database.document(withID: id, revisionID: revisionID) }
    }

    // MARK: Queries

    func results(for query: Query) -> any QueryResults {
      ServerResults(database: database, query: query)
    }

    func count(_ query: Query) throws -> Int {
      try waiting { try await database.count(query) }
    }

    func explain(_ query: Query) throws -> (text: String, json: JSONObject) {
      let explanation = try waiting { try await database.explain(query) }
      return (explanation.description, explanation.json)
    }

    /// Does nothing: the documents would have to be transferred.
    func write(_ hints: inout QueryHints, about query: Query, foundNothing: Bool) {}

    // MARK: Changes

    func forEachChange(since: String?, limit: Int?, _ body: @escaping (ChangedDocument) throws -> Void) throws
    {
      var (last, left) = (since, limit ?? .max)
      while left > 0 {
        let wanted = min(left, 1_000)
        let since = last
        let changes = try waiting { try await database.changes(since: since, limit: wanted) }
        for change in changes.documents { try body(ChangedDocument(change)) }
        if changes.documents.count < wanted { return }
        last = changes.lastSequence
        left -= changes.documents.count
      }
    }

    func liveChanges(since: String?) -> any AsyncSequence<[ChangedDocument], any Error> {
      database.liveChanges(since: since).map { $0.documents.map(ChangedDocument.init) }
    }

    // MARK: Import and export

    func export(
      withAttachments: Bool, onLoss: (IntegrityFinding) throws -> Void,
      _ body: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws {
      if withAttachments {
        let losses = Mutex<[IntegrityFinding]>([])
        try waiting {
          try await database.forEachWithAttachments(
            onLoss: { loss in losses.withLock { $0.append(loss) } },
            { try $0.utf8Text.withUnsafeBytes(body) })
        }
        return try losses.withLock { $0 }.forEach(onLoss)
      }
      try results(for: .everything).forEachJSON(body)
    }

    /// Each batch is sent with `_bulk_docs`, which is not a transaction: if the server refuses a document, the others of its
    /// batch may be written.
    func importDocuments(_ options: ImportOptions) throws {
      let progress = options.progress
      let reader = try options.reader(progress)
      defer { progress.clear() }
      let report = try waiting {
        try await database.createDatabaseIfMissing()
        return try await RemoteImporter(into: database).run(reader)
      }
      try progress.finish(report)
    }

    // MARK: Indexes

    func createIndex(_ json: JSONObject, _ progress: ProgressOptions) throws -> String {
      guard json["sum"] == nil else {
        throw ValidationError("--sum and --count are for stores; at a server, write a view")
      }
      let created = try waiting { try await database.createIndex(json) }
      if let warning = created.warning { Message.write("cdtquery: \(warning)") }
      return created.name
    }

    func indexes() throws -> [JSONObject] {
      try waiting { try await database.indexes() }
    }

    func deleteIndex(named name: String) throws {
      try waiting { try await database.deleteIndex(named: name) }
    }
  }

  /// The results of a query of a server, which are read page by page.
  private final class ServerResults: QueryResults {
    private let database: RemoteDatastore
    private let query: Query
    private(set) var includedJSON: JSONObject = [:]

    init(database: RemoteDatastore, query: Query) { (self.database, self.query) = (database, query) }

    func forEachJSON(_ body: @escaping (UnsafeRawBufferPointer) throws -> Void) throws {
      includedJSON = try waiting { [self] in
        try await database.forEachIncluding(query) { try $0.json.utf8Text.withUnsafeBytes(body) }.json()
      }
    }

    func forEachID(_ body: @escaping (String) throws -> Void) throws {
      var query = query
      query.include = [:]
      try waiting { [self, query] in try await database.forEach(query) { try body($0.id) } }
    }
  }

  extension ChangedDocument {
    fileprivate init(_ change: RemoteChange) {
      self.init(
        sequence: .string(change.sequence), id: change.id, revisionID: change.revisionID,
        isDeleted: change.isDeleted)
    }
  }
#endif
