package import CDTDatastore
package import SQLite

/// A connection that reads documents and indexes together, as one snapshot.
///
/// The index file's snapshot is taken first and the documents' second. As a write reaches the documents first, the
/// indexes can only be behind, never ahead, and how far is their watermark: rows of changed documents find no document
/// under their sequence, and documents above the watermark are put to the matcher.
package final class QueryReader: @unchecked Sendable {
  // Sendable without a lock of its own: the pool hands a reader to one user at a time, under its Mutex.

  package private(set) var connection: Connection
  private let open: () throws -> Connection
  private var wear = PageCacheWear()
  /// Whether an index file is attached, which then stays.
  private(set) var isAttached = false
  /// The index file that is attached. Another process may replace it.
  package private(set) var indexFile: FileIdentity?
  /// The statement that holds the snapshot.
  private var holder: Statement?
  /// The statements that each snapshot begins with. They are held here, so that none of them is looked up.
  private var revisionStatement: Statement?
  private var sequenceStatement: Statement?
  /// What has been written since the last snapshot.
  private var follower = SnapshotFollower()
  /// The documents above the watermarks, by their values.
  let tail = TailValues()
  /// The documents that were met before.
  let documents = DocumentCache()
  private var known: (revision: Int64, catalog: IndexCatalog)?

  package init(open: @escaping () throws -> Connection) throws {
    self.open = open
    connection = try open()
    try QueryFunctions.register(on: connection)
  }

  /// Opens the connection anew once its page cache has become a burden. It is to be called before a snapshot is begun.
  func renewIfWorn() {
    guard wear.isWorn(connection) else { return }
    // The old one still serves if there can't be another.
    guard let fresh = try? open() else { return }
    guard (try? QueryFunctions.register(on: fresh)) != nil else { return fresh.close() }
    connection.close()
    connection = fresh
    (isAttached, indexFile) = (false, nil)
    (revisionStatement, sequenceStatement, known) = (nil, nil, nil)
    follower.changeConnection()
    documents.changeConnection()
  }

  /// What a snapshot holds of the indexes.
  package struct Snapshot {
    package let catalog: IndexCatalog
    /// The newest sequence of any document.
    package let lastSequence: Int64

    /// How many sequences lie above the lowest watermark of an index.
    var tailLength: Int64 { catalog.lowestWatermark.map { max(0, lastSequence - $0) } ?? 0 }
  }

  /// Begins a snapshot; ``end()`` must follow.
  ///
  /// - Parameter indexFile: The path of the index file, or `nil` when there is none.
  package func begin(indexFile: String?) throws -> Snapshot {
    if let indexFile, !isAttached {
      self.indexFile = FileIdentity(indexFile)
      try connection.attach(path: indexFile, as: IndexFile.schema)
      // The two share the 64 MB that a connection to the documents alone has.
      try connection.execute("PRAGMA main.cache_size = -49152")
      try connection.execute("PRAGMA \(IndexFile.schema).cache_size = -16384")
      isAttached = true
    }
    do {
      guard isAttached else { return Snapshot(catalog: .empty, lastSequence: try lastSequence()) }
      let (catalog, isNew) = try readCatalog()
      let last = try lastSequence()
      let written = try follower.follow(to: last, on: connection)
      try documents.begin(written, on: connection)
      tail.begin(written)
      if isNew { try catalog.check(against: "main", on: connection, lastSequence: last) }
      return Snapshot(catalog: catalog, lastSequence: last)
    } catch {
      end()
      throw error
    }
  }

  /// The sequences of the documents above a plan's watermark that may match, or `nil` where all of them may.
  func tailCandidates(of plan: QueryPlan, in snapshot: Snapshot) -> [Int64]? {
    guard let floor = plan.source.floor(upTo: snapshot.lastSequence),
      let lowest = snapshot.catalog.lowestWatermark,
      let values = RequiredValues(of: plan.clause)
    else { return nil }
    // What can't be read here fails where the statement reads it.
    return try? tail.candidates(
      for: values, above: floor, lowest: lowest, upTo: snapshot.lastSequence, on: connection)
  }

  package func end() {
    holder?.reset()
    holder = nil
  }

  /// The integer in the one row that a statement gives.
  ///
  /// The first statement of a snapshot is left standing on its row until the end: as long as a statement reads, SQLite
  /// keeps what every file was when it was first read, as a transaction would, and that costs two statements less.
  private func scalar(_ statement: Statement) throws -> Int64 {
    guard try statement.step() else { throw IndexDamage.unreadable("its state") }
    defer { if holder == nil { holder = statement } else { statement.reset() } }
    return statement.int64(0)
  }

  /// The catalog changes seldom, so it is read again only when the file says that it did.
  private func readCatalog() throws -> (catalog: IndexCatalog, isNew: Bool) {
    do {
      let statement =
        try revisionStatement ?? connection.statement("SELECT revision FROM \(IndexFile.schema).state")
      revisionStatement = statement
      let revision = try scalar(statement)
      if let known, known.revision == revision { return (known.catalog, false) }
      let catalog = try IndexCatalog(
        reading: connection, schema: IndexFile.schema, known: known?.catalog ?? .empty)
      known = (revision, catalog)
      return (catalog, true)
    } catch let error as SQLiteError where !error.isBusy {
      // Whatever else is wrong with the engine's own tables, they are not as it made them.
      throw IndexDamage.unreadable(error.message)
    }
  }

  private func lastSequence() throws -> Int64 {
    let statement = try sequenceStatement ?? connection.statement("SELECT max(sequence) FROM main.documents")
    sequenceStatement = statement
    return try scalar(statement)
  }
}
