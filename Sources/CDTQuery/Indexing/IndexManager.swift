import CDTDatastore
import Glibc
import JSON
package import SQLite
import Synchronization

/// A datastore's indexes: the file that holds them, who reads it, who keeps it up to date.
///
/// The file lies in the datastore's extension directory and goes with it. Definitions are also kept as JSON beside it,
/// so that a file that is lost, damaged or of another version is made again from the documents.
package final class IndexManager: DatastoreExtension {
  package static let extensionName = "com.cloudant.sync.query"

  package let readers: ConnectionPool<QueryReader>
  let pages = PageCatalogs()
  private let writer = Mutex<IndexWriter?>(nil)
  private let isClosed = Atomic(false)
  /// How many builds are under way.
  private let builds = Atomic(0)
  private let tail = TailCost()
  private let datastore: DatastoreAccess
  private let definitions: DefinitionFile
  /// Held while the file is made or replaced, and while an index is created, emptied or deleted.
  private let lock: IndexLock

  /// The path of the index file.
  package let path: String

  init(_ datastore: DatastoreAccess, directory: String) {
    self.datastore = datastore
    path = "\(directory)/\(IndexFile.name)"
    definitions = DefinitionFile(path: "\(directory)/indexes.json")
    lock = IndexLock(directory: directory)
    readers = ConnectionPool(
      open: { try QueryReader(open: datastore.openReader) }, shut: { $0.connection.close() })
  }

  // MARK: DatastoreExtension

  package func close() {
    isClosed.store(true, ordering: .relaxed)
    readers.close()
    writer.withLock { writer in
      writer?.close()
      writer = nil
    }
  }

  package func didCommit(lastSequence: Int64) {
    // A long tail is caught up by the writer who made it, in sorted batches; a short one is left to the queries.
    guard tail.isLong(upTo: lastSequence), hasFile else { return }
    catchUpUnlessBusy(inStepsOf: .max)
  }

  package func willCompact() throws {
    // The rows of a changed document are found by its earlier bodies, which compaction removes.
    guard hasFile else { return }
    try catchUp()
  }

  // MARK: Reading

  /// The path for readers to attach, or `nil` when there are no indexes. A file that is gone while there are definitions
  /// is made again.
  package func fileForReaders() throws -> String? {
    if hasFile { return path }
    guard definitions.exists else { return nil }
    try withWriter { _ in }
    return path
  }

  private var hasFile: Bool { access(path, F_OK) == 0 }

  /// Makes the file again after a reader has found it damaged, unless that has been done since the reader was opened.
  package func repair(foundBy lease: ConnectionPool<QueryReader>.Lease) throws {
    try writer.withLock { writer in
      guard readers.isCurrent(lease) else { return }
      try remake(&writer, damaged: lease.reader.indexFile)
    }
  }

  /// Notes what its tail has cost a query, and catches up when queries have paid for that often enough.
  ///
  /// - Parameter cost: What the documents that are not in the indexes cost the query: see ``QuerySQL/tailCost``.
  package func noteTail(_ snapshot: QueryReader.Snapshot, cost: Int64) {
    guard let watermark = snapshot.catalog.lowestWatermark,
      cost > 0 || TailCost.isLong(snapshot.tailLength)
    else { return }
    let isDue = tail.note(watermark: watermark, lastSequence: snapshot.lastSequence, cost: cost)
    // In short steps, as what others ask meanwhile has the less of a tail to be put to the matcher.
    if isDue { catchUpUnlessBusy(inStepsOf: IndexUpdater.fewDocuments) }
  }

  // MARK: Writing

  package func catchUp() throws {
    let watermark = try withWriter { try $0.catchUp() }
    tail.settle(at: watermark)
  }

  /// Catches up, unless somebody is at it or it fails: neither who reads nor who writes documents waits for an index, as
  /// a tail is right as it is.
  private func catchUpUnlessBusy(inStepsOf limit: Int) {
    guard builds.load(ordering: .relaxed) == 0 else { return }
    let watermark = try? writer.withLockIfAvailable { try opened(&$0).catchUpUnlessBusy(inStepsOf: limit) }
    if let watermark { tail.settle(at: watermark) }
  }

  /// Catches up and tells how far it is. What was taken in stays when it is told to stop.
  ///
  /// - Parameter goesOn: Learns how far it is, and says whether to go on.
  func build(_ goesOn: (IndexProgress) -> Bool) throws {
    builds.add(1, ordering: .relaxed)
    defer { builds.subtract(1, ordering: .relaxed) }
    let total = try documentsAhead()
    var done = 0
    while goesOn(IndexProgress(done: done, total: max(done, total))) {
      let before = done
      let step = try withWriter { writer in
        try writer.step { met in
          !isClosed.load(ordering: .relaxed)
            && goesOn(IndexProgress(done: before + met, total: max(before + met, total)))
        }
      }
      done += step.documents
      guard step.isComplete else { continue }
      tail.settle(at: step.watermark)
      _ = goesOn(IndexProgress(done: done, total: done))
      return
    }
  }

  /// How many documents are above the lowest watermark of an index.
  func documentsAhead() throws -> Int {
    guard hasFile || definitions.exists else { return 0 }
    return try withWriter { try $0.documentsAhead() }
  }

  package func listIndexes() throws -> [IndexInfo] {
    guard hasFile || definitions.exists else { return [] }
    return try withWriter { try $0.listIndexes() }
  }

  /// Creates or confirms an index and fills it.
  package func ensure(_ definition: IndexDefinition, isNamed: Bool) throws -> String {
    let name = try declare(definition, isNamed: isNamed)
    try catchUp()
    return name
  }

  /// Creates or confirms an index, and leaves it to be filled.
  func declare(_ definition: IndexDefinition, isNamed: Bool) throws -> String {
    try withWriter { writer in try lock.withLock { try confirm(definition, isNamed: isNamed, writer) } }
  }

  /// Creates an index unless it is there, and gives its name.
  private func confirm(
    _ definition: IndexDefinition, isNamed: Bool, _ writer: IndexWriter
  ) throws -> String {
    let catalog = try writer.catalog()
    if let existing = catalog.entry(named: definition.name) {
      guard existing.definition.isSame(as: definition) else {
        throw QueryError.indexConflict(definition.name, existing: existing.definition)
      }
    } else if !isNamed, let same = catalog.entries.first(where: { $0.definition.isSame(as: definition) }) {
      return same.definition.name
    } else {
      if definition.type == .text, let other = catalog.text {
        throw QueryError.secondTextIndex(other.definition.name)
      }
      try writer.create(definition)
      try definitions.save(try writer.catalog().entries.map(\.definition))
    }
    return definition.name
  }

  package func delete(named name: String) throws {
    try withWriter { writer in
      try lock.withLock {
        let catalog = try writer.catalog()
        let entry = try catalog.entry(wanted: name, at: "name")
        try definitions.save(catalog.entries.map(\.definition).filter { $0 != entry.definition })
        try writer.delete(entry)
      }
    }
  }

  /// Empties every index, or the one named, and fills it again.
  package func rebuild(named name: String?) throws {
    try empty(named: name)
    try catchUp()
  }

  /// Empties every index, or the one named, and leaves it to be filled.
  func empty(named name: String?) throws {
    try withWriter { writer in
      try lock.withLock {
        let catalog = try writer.catalog()
        let entries = try name.map { [try catalog.entry(wanted: $0, at: "name")] } ?? catalog.entries
        for entry in entries { try writer.empty(entry) }
      }
    }
  }

  // MARK: Checking

  /// Compares the indexes with the documents.
  func check(_ progress: (_ done: Int, _ total: Int) -> Void) throws -> IndexFileCheck {
    let wanted = try definitions.load()
    guard hasFile else {
      return wanted.isEmpty ? IndexFileCheck() : IndexFileCheck(damaged: "the index file is missing")
    }
    let connection = try datastore.openReader()
    defer { connection.close() }
    return try IndexFileCheck(
      path: path, storeID: datastore.storeID, connection: connection, definitions: wanted, progress: progress)
  }

  /// Makes anew what a check has found wrong.
  func repair(_ check: IndexFileCheck) throws {
    if check.isFileDamaged {
      try writer.withLock { try remake(&$0, damaged: FileIdentity(path)) }
      try catchUp()
    }
    for name in check.indexes { try rebuild(named: name) }
  }

  /// Runs `body` with the writer; a file that turns out to be damaged is made anew, once.
  private func withWriter<R>(_ body: (IndexWriter) throws -> R) throws -> R {
    try writer.withLock { writer in
      do {
        return try body(try opened(&writer))
      } catch let error where Self.isDamage(error) {
        try remake(&writer, damaged: writer?.identity)
        return try body(try opened(&writer))
      }
    }
  }

  /// Discards a damaged file, unless another process has replaced it, and goes on with a new one.
  private func remake(_ writer: inout IndexWriter?, damaged: FileIdentity?) throws {
    writer?.close()
    writer = nil
    try lock.withLock {
      if let damaged, FileIdentity(path) == damaged { try IndexWriter.discard(path: path) }
    }
    _ = try opened(&writer)
  }

  private func opened(_ writer: inout IndexWriter?) throws -> IndexWriter {
    if isClosed.load(ordering: .relaxed) { throw QueryError.resultSetClosed }
    if let writer, writer.hasFile(path) { return writer }
    writer?.close()
    writer = nil
    let opened = try lock.withLock {
      let opened = try openOrMake()
      let known = try opened.catalog()
      for definition in try definitions.load() where known.entry(named: definition.name) == nil {
        try opened.create(definition)
      }
      return opened
    }
    writer = opened
    // They may have the file open that was here before.
    readers.renew()
    return opened
  }

  /// Opens the file, made anew from nothing when it is missing or can't be used; the lock is held.
  private func openOrMake() throws -> IndexWriter {
    if hasFile {
      do {
        return try IndexWriter(path: path, datastore: datastore)
      } catch let error where Self.isDamage(error) {
        try IndexWriter.discard(path: path)
      }
    }
    try IndexWriter.make(path: path, storeID: datastore.storeID)
    return try IndexWriter(path: path, datastore: datastore)
  }

  /// Whether an error means that the index file can't be used, so that it has to be built again.
  package static func isDamage(_ error: any Error) -> Bool {
    switch error {
    case is IndexDamage: true
    case let error as SQLiteError: error.isCorrupt
    default: false
    }
  }
}

/// What the engine needs of the datastore it belongs to.
package struct DatastoreAccess: Sendable {
  package let databasePath: String
  package let storeID: String
  package let openReader: @Sendable () throws -> Connection
}

/// Decides when a tail has cost the queries as much as catching it up would.
///
/// Putting a document to the matcher costs about a fiftieth of what its index rows cost to write. Catching up at all costs
/// a transaction, and every reader its pages of the index file. So a tail is left until queries have paid for both: at
/// worst twice what knowing the future would have cost.
///
/// All readers pay here, so no lock is taken; what two of them pay at once may be counted for one tail or the next.
private final class TailCost: Sendable {
  private static let matchesPerUpdate: Int64 = 50
  private static let matchesPerCatchUp: Int64 = 3_000
  private static let longTail: Int64 = 10_000

  private let paid = Atomic<Int64>(0)
  private let watermark = Atomic<Int64>(0)

  /// - Returns: Whether it is time to catch up.
  func note(watermark: Int64, lastSequence: Int64, cost: Int64) -> Bool {
    note(watermark)
    let length = lastSequence - watermark
    guard length > 0 else { return false }
    let paid = paid.wrappingAdd(cost, ordering: .relaxed).newValue
    guard paid >= length * Self.matchesPerUpdate + Self.matchesPerCatchUp || Self.isLong(length) else {
      return false
    }
    self.paid.store(0, ordering: .relaxed)
    return true
  }

  func isLong(upTo lastSequence: Int64) -> Bool {
    Self.isLong(lastSequence - watermark.load(ordering: .relaxed))
  }

  static func isLong(_ length: Int64) -> Bool { length >= longTail }

  func settle(at watermark: Int64) {
    note(watermark)
    paid.store(0, ordering: .relaxed)
  }

  /// Written only when it is another one, so that processors need not take its memory from each other.
  private func note(_ watermark: Int64) {
    if self.watermark.load(ordering: .relaxed) != watermark {
      self.watermark.store(watermark, ordering: .relaxed)
    }
  }
}
