public import CDTDatastore
import CDTJSON
public import CDTPlatform

/// Imports a CDTDatastore 2.x datastore: every document with its whole revision tree and the same revision ids.
///
/// ```swift
/// var importer = TouchDBImporter(into: store)
/// importer.continuesOnError = true
/// importer.onInvalidDocument = { print($0) }
/// let report = try importer.run("Documents/tasks.touchdb")
/// ```
///
/// Tombstones, conflicts, compacted revisions, local documents and attachments are imported too; compressed
/// attachments are decompressed. The contents of attachments are read from `tasks attachments` beside the file. The file and
/// everything beside it are only read.
///
/// Importing again adds nothing: known revisions and existing local documents are kept. Documents are imported in the
/// order of their last changes. Each document is written as a whole, with several documents per transaction. Memory
/// depends on the largest body and the deepest history, not on the file.
///
/// See <doc:MovingFromEarlierVersions#The-file>.
public struct TouchDBImporter: Sendable {
  /// The maximum number of revisions per transaction, unless a single document has more.
  public var batchSize = 1_000
  /// Whether invalid documents are reported and skipped; otherwise the first one ends the import.
  public var continuesOnError = false
  /// Called for each skipped invalid document.
  public var onInvalidDocument: (@Sendable (TouchDBError) -> Void)?
  /// Called after each transaction.
  public var onProgress: (@Sendable (TouchDBReport) -> Void)?

  private let datastore: Datastore

  /// Creates an importer with the defaults.
  public init(into datastore: Datastore) {
    self.datastore = datastore
  }

  /// Checks, without importing anything, that a file is one of CDTDatastore 2.x.
  ///
  /// - Returns: The number of documents, including deleted ones.
  /// - Throws: ``TouchDBError`` if it is not.
  @discardableResult
  public static func check(_ path: String) throws -> Int {
    let file = try TouchDBFile(path)
    try file.checkLayout()
    return try TouchDBRevisions(file: file).count()
  }

  /// Imports a file.
  ///
  /// - Returns: The result of the import.
  /// - Throws: ``TouchDBError`` if the file is missing, encrypted, damaged or not one of CDTDatastore's, before
  ///   anything is written; if the file changes during the import; for the first invalid document, unless the importer
  ///   keeps going. `DatastoreError` if writing fails. Documents written before the error are kept.
  public func run(_ path: String) throws -> TouchDBReport {
    try run(path, stop: nil)
  }

  /// Imports a file on one of the datastore's threads. If it is cancelled, it ends after a transaction, and completed
  /// work is kept.
  public func run(_ path: String) async throws -> TouchDBReport {
    try await datastore.runLong { try run(path, stop: $0) }
  }

  /// Imports a file, as the form that takes a path does.
  public func run(_ file: URL) throws -> TouchDBReport {
    try run(file.path)
  }

  /// Imports a file on a thread of the datastore's own.
  public func run(_ file: URL) async throws -> TouchDBReport {
    try await run(file.path)
  }

  private func run(_ path: String, stop: StopSignal?) throws -> TouchDBReport {
    let file = try TouchDBFile(path)
    try file.checkLayout()
    try file.checkIntegrity()
    let tables = try file.tables()
    let revisions = TouchDBRevisions(file: file)
    try revisions.checkOwners()
    let writer = TouchDBWriter(
      datastore: datastore, revisions: revisions, attachments: try TouchDBAttachments(file, tables: tables))
    var report = TouchDBReport()
    report.total = try revisions.count()
    try importDocuments(writer, &report)
    if tables.contains("localdocs") { try importLocalDocuments(writer, &report) }
    try file.checkUnchanged()
    onProgress?(report)
    return report
  }

  // MARK: Documents

  /// The maximum size of the bodies per transaction in bytes, unless a single document has more.
  private static let largestBatch: Int64 = 8 * 1024 * 1024

  private func importDocuments(_ writer: TouchDBWriter, _ report: inout TouchDBReport) throws {
    var documents: [TouchDBDocument] = []
    var (count, bytes): (Int64, Int64) = (0, 0)
    func flush() throws {
      try importBatch(documents, writer, &report)
      documents = []
      (count, bytes) = (0, 0)
      onProgress?(report)
    }
    try writer.revisions.forEachDocument { document in
      let size = document.bytes
      if !documents.isEmpty,
        count + document.revisions > Int64(max(1, batchSize)) || size > Self.largestBatch - bytes
      {
        try flush()
      }
      documents.append(document)
      count += document.revisions
      bytes = min(bytes, Self.largestBatch) + min(size, Self.largestBatch)
    } invalid: { error in
      try note(error, &report)
    }
    if !documents.isEmpty { try flush() }
  }

  /// Writes documents in one transaction. If one of them is invalid, each gets its own transaction.
  private func importBatch(
    _ documents: [TouchDBDocument], _ writer: TouchDBWriter, _ report: inout TouchDBReport
  ) throws {
    do {
      report = try writer.write(documents, report)
    } catch let error as TouchDBError where continuesOnError && error.isOfOneDocument {
      guard documents.count > 1 else { return try note(error, &report) }
      for document in documents { try importBatch([document], writer, &report) }
    }
  }

  private func note(_ error: TouchDBError, _ report: inout TouchDBReport) throws {
    guard continuesOnError else { throw error }
    report.failed += 1
    onInvalidDocument?(error)
  }

  // MARK: Local documents

  private func importLocalDocuments(_ writer: TouchDBWriter, _ report: inout TouchDBReport) throws {
    var waiting: [(id: String, body: JSONObject)] = []
    try writer.revisions.forEachLocalDocument { id, body in
      do {
        _ = try BodyText(body, id: id)
        if id.isEmpty { throw DatastoreError(.invalidID(id)) }
        waiting.append((id, body))
      } catch let error as DatastoreError {
        try note(.refused(writer.revisions.file.path, id, error), &report)
      }
      guard waiting.count >= 100 else { return }
      report = try writer.write(waiting, report)
      waiting = []
    } invalid: { error in
      try note(error, &report)
    }
    if !waiting.isEmpty { report = try writer.write(waiting, report) }
  }
}

/// The progress of an import of a CDTDatastore 2.x file.
public struct TouchDBReport: Sendable, Hashable {
  /// The number of documents in the file, including deleted ones.
  public var total = 0
  /// The number of imported documents, including those already known.
  public var documents = 0
  /// The number of revisions new to the datastore that have a body or are tombstones.
  public var revisions = 0
  /// The number of attachments of those revisions.
  public var attachments = 0
  /// The number of new local documents.
  public var localDocuments = 0
  /// The number of invalid documents.
  public var failed = 0

  package init() {}
}

extension Datastore {
  /// Imports a CDTDatastore 2.x datastore with the defaults of ``TouchDBImporter``.
  ///
  /// ```swift
  /// let report = try store.importTouchDB("Documents/tasks.touchdb") { print($0.documents, "of", $0.total) }
  /// ```
  ///
  /// - Parameters:
  ///   - path: The path of the file, `….touchdb`.
  ///   - progress: Called after each transaction.
  /// - Throws: ``TouchDBError``, `DatastoreError`.
  ///
  /// See <doc:MovingFromEarlierVersions#The-file>.
  @discardableResult
  public func importTouchDB(
    _ path: String, progress: (@Sendable (TouchDBReport) -> Void)? = nil
  ) throws -> TouchDBReport {
    var importer = TouchDBImporter(into: self)
    importer.onProgress = progress
    return try importer.run(path)
  }

  /// Imports a CDTDatastore 2.x datastore on one of the datastore's threads.
  @discardableResult
  public func importTouchDB(
    _ path: String, progress: (@Sendable (TouchDBReport) -> Void)? = nil
  ) async throws -> TouchDBReport {
    var importer = TouchDBImporter(into: self)
    importer.onProgress = progress
    return try await importer.run(path)
  }
}

extension TouchDBError {
  fileprivate var isOfOneDocument: Bool { code == .invalidDocument || code == .invalidAttachment }
}
