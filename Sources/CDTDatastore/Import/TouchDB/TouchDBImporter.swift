import JSON

/// Brings a datastore of CDTDatastore 2.x into a datastore: every document with its whole tree of revisions, under the
/// same revision ids.
///
/// ```swift
/// var importer = TouchDBImporter(into: store)
/// importer.keepsGoing = true
/// importer.onProblem = { print($0) }
/// let report = try importer.run("Documents/tasks.touchdb")
/// ```
///
/// Tombstones, conflicts, revisions whose bodies were compacted, local documents and attachments come too; attachments
/// that were kept packed by gzip are unpacked. The contents of attachments are looked for in `tasks attachments` beside
/// the file. The file and what lies beside it are only read, and are left as they are.
///
/// Importing again adds nothing; a revision that is known stays as it is, and so does a local document. Documents come
/// in the order of their last changes. A document is written whole or not at all, several of them in a transaction, and
/// memory follows the largest body and the deepest history, not the file.
///
/// Source: `docs/api-migration.md`, The file.
public struct TouchDBImporter: Sendable {
  /// How many revisions are written in one transaction, at most but for a single document with more.
  public var batch = 1_000
  /// Whether documents that can't be taken are reported and left out; else the first one ends the import.
  public var keepsGoing = false
  /// Learns of a document that was left out because it can't be taken.
  public var onProblem: (@Sendable (TouchDBError) -> Void)?
  /// Learns what has been done, after each transaction.
  public var onProgress: (@Sendable (TouchDBReport) -> Void)?

  private let datastore: Datastore

  /// An importer with the defaults.
  public init(into datastore: Datastore) {
    self.datastore = datastore
  }

  /// Makes sure, without importing anything, that a file is one of CDTDatastore 2.x.
  ///
  /// - Returns: How many documents it has, deleted ones too.
  /// - Throws: ``TouchDBError`` when it is none.
  @discardableResult
  public static func check(_ path: String) throws -> Int {
    let file = try TouchDBFile(path)
    try file.checkLayout()
    return try TouchDBRevisions(file: file).count()
  }

  /// Imports a file.
  ///
  /// - Returns: What was done.
  /// - Throws: ``TouchDBError`` for a file that is missing, encrypted, damaged, none of CDTDatastore's or in use, which
  ///   is noticed before anything is written but for the last; for the first document that can't be taken, unless the
  ///   importer keeps going. ``DatastoreError`` when writing fails. What was written before stays.
  public func run(_ path: String) throws -> TouchDBReport {
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

  /// How many bytes of bodies are written in one transaction, at most but for a single document with more.
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
        count + document.revisions > Int64(max(1, batch)) || size > Self.largestBatch - bytes
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

  /// Writes documents in one transaction. If one of them can't be taken, each gets its own.
  private func importBatch(
    _ documents: [TouchDBDocument], _ writer: TouchDBWriter, _ report: inout TouchDBReport
  ) throws {
    do {
      report = try writer.write(documents, report)
    } catch let error as TouchDBError where keepsGoing && error.isOfOneDocument {
      guard documents.count > 1 else { return try note(error, &report) }
      for document in documents { try importBatch([document], writer, &report) }
    }
  }

  private func note(_ error: TouchDBError, _ report: inout TouchDBReport) throws {
    guard keepsGoing else { throw error }
    report.failed += 1
    onProblem?(error)
  }

  // MARK: Local documents

  private func importLocalDocuments(_ writer: TouchDBWriter, _ report: inout TouchDBReport) throws {
    var waiting: [(id: String, body: JSONObject)] = []
    try writer.revisions.forEachLocalDocument { id, body in
      do {
        _ = try BodyText(body, id: id)
        if id.isEmpty { throw DatastoreError.invalidID(id) }
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

/// What an import of a file of CDTDatastore 2.x has done so far.
public struct TouchDBReport: Sendable, Hashable {
  /// How many documents the file has, deleted ones too.
  public var total = 0
  /// How many of them have been imported, those that were known already too.
  public var documents = 0
  /// How many revisions with their bodies, tombstones too, are new to the datastore.
  public var revisions = 0
  /// How many attachments those have.
  public var attachments = 0
  /// How many local documents are new.
  public var localDocuments = 0
  /// How many documents could not be taken.
  public var failed = 0

  /// Nothing done yet.
  public init() {}
}

extension Datastore {
  /// Imports a datastore that CDTDatastore 2.x wrote, as ``TouchDBImporter`` does with its defaults.
  ///
  /// ```swift
  /// let report = try store.importTouchDB("Documents/tasks.touchdb") { print($0.documents, "of", $0.total) }
  /// ```
  ///
  /// - Parameter progress: Learns what has been done, after each transaction.
  /// - Throws: ``TouchDBError``, ``DatastoreError``.
  ///
  /// Source: `docs/api-migration.md`, The file.
  @discardableResult
  public func importTouchDB(
    _ path: String, progress: (@Sendable (TouchDBReport) -> Void)? = nil
  ) throws -> TouchDBReport {
    var importer = TouchDBImporter(into: self)
    importer.onProgress = progress
    return try importer.run(path)
  }
}

extension TouchDBError {
  fileprivate var isOfOneDocument: Bool { code == .invalidDocument || code == .invalidAttachment }
}
