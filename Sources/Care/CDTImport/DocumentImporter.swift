public import CDTDatastore
import CDTJSON
public import CDTPlatform
import CDTQuery

/// Imports documents from files into a datastore, in batches of one transaction each.
///
/// ```swift
/// var importer = DocumentImporter(into: store)
/// importer.onConflict = .replace
/// let report = try importer.run(["people.jsonl"])
/// report.imported  // the number of new documents
/// ```
///
/// The format of a file is detected by its content, or by its name if that is the name of a table. Files are read as a
/// stream, also those compressed by gzip: memory depends on the largest document, not on the file. `_attachments` with inline data, as written by
/// CouchDB and `cdtquery export`, are imported too; they replace the attachments of a replaced document.
public struct DocumentImporter: Sendable {
  /// The action for a document whose id exists.
  public enum ConflictRule: String, Sendable, CaseIterable {
    /// The import stops.
    case fail
    /// The document is skipped.
    case skip
    /// The document is saved as a new revision. If it has a `_rev`, that must be the current revision.
    case replace
  }

  /// The format of the files.
  public enum Format: String, Sendable, CaseIterable {
    /// The format is detected for each file.
    case automatic = "auto"
    /// JSON objects, one after another or in arrays, each of which is a document.
    case json
    /// Values separated by commas, semicolons, tabs or bars, with a header line.
    case csv
    /// Values separated by tabs, with a header line.
    case tsv
    /// The formats of CouchDB and its tools: `{"docs": […]}`, replies of `_all_docs` and `_changes` with their documents, and
    /// dumps of couchbackup and pouchdb-dump.
    case couchDB = "couchdb"
    /// JSON objects with the types of MongoDB's Extended JSON, which become plain JSON.
    case mongoDB = "mongodb"
  }

  /// The options for reading tables.
  public struct TableOptions: Sendable, Hashable {
    /// The character between cells, an ASCII character; `nil` to determine it from the header.
    public var delimiter: Character?
    /// The columns whose cells are strings also if they look like numbers; `*` is every column.
    public var textColumns: [String] = []
    /// Whether dots in the names of columns stay in them. Otherwise the column `pet.name` is the member `name` of the
    /// object `pet`.
    public var isFlat = false
    /// Whether quoted cells can be numbers, as some programs quote every cell.
    public var readsQuotedNumbers = false
    /// Whether numbers have a comma in place of the decimal point: `3,5` is 3.5.
    public var hasDecimalComma = false
    /// Whether spaces around cells are left out, also around the quotes of a quoted one.
    public var trimsSpaces = false
    /// The number of lines before the header, which are left out.
    public var skippedLines = 0

    /// The defaults: the delimiter is determined, numbers are numbers, dots make objects.
    public init() {}

    /// The delimiter that a user names: an ASCII character other than a quotation mark, or `tab`; `nil` for other texts.
    package static func delimiter(_ text: String) -> Character? {
      if text == "tab" || text == "\\t" { return "\t" }
      guard text.utf8.count == 1, let delimiter = text.first, !"\"\r\n".contains(delimiter) else {
        return nil
      }
      return delimiter
    }
  }

  /// The progress of an import.
  public struct Report: Sendable, Hashable {
    /// The number of new documents.
    public var imported = 0
    /// The number of documents that got a new revision.
    public var replaced = 0
    /// The number of documents skipped because their ids exist.
    public var skipped = 0
    /// The number of invalid documents.
    public var failed = 0
    /// The number of documents that were not replaced, as they have changed since the revision in `_rev`.
    public var stale = 0
    /// The number of deleted documents (tombstones) in the files, which are left out.
    public var tombstones = 0
    /// The number of bytes read.
    public var bytes: Int64 = 0

    package init() {}

    /// The number of documents written.
    public var written: Int { imported + replaced }
  }

  /// The format of the files.
  public var format = Format.automatic
  /// The options for reading tables.
  public var table = TableOptions()
  /// The member names on the path to the documents inside a single object; empty for the object itself. They are an array,
  /// or an object whose members are documents. From an array on the path on, the rest of it is followed in each element.
  /// `nil` if the file consists of documents.
  public var path: [String]?
  /// The member names on the path to the id of documents without `_id`; empty to make ids.
  public var idPath: [String] = []
  /// The action for fields whose names begin with an underscore.
  public var reservedNames = ReservedNames.fail
  /// The action for a document whose id exists.
  public var onConflict = ConflictRule.fail
  /// Whether documents are replaced also if they have changed since the revision in `_rev`.
  public var ignoresRevisions = false
  /// The maximum number of documents per transaction; large documents reduce it to limit memory.
  public var batchSize = 1_000
  /// Whether invalid documents are reported and skipped; otherwise the first one ends the import.
  public var continuesOnError = false
  /// Called for each invalid document that is skipped, and for each that has changed since the revision in `_rev`.
  public var onInvalidDocument: (@Sendable (ImportError) -> Void)?
  /// Called with sentences for people: what was recognized in a file, and what was left out of it.
  public var onNotice: (@Sendable (String) -> Void)?
  /// Called after each batch.
  public var onProgress: (@Sendable (Report) -> Void)?

  /// The additions of a server; `nil` for none.
  package var service: ImportService?

  private let datastore: Datastore

  /// Creates an importer with the defaults: the format by content, conflicts fail, 1,000 documents per transaction.
  public init(into datastore: Datastore) {
    self.datastore = datastore
  }

  /// Imports files; `-` is standard input.
  ///
  /// - Returns: The result of the import.
  /// - Throws: ``ImportError`` with file, line and column for an invalid document, `DatastoreError` if reading or
  ///   writing fails. The current batch is not written, but the batches before it are.
  public func run(_ files: [String]) throws -> Report {
    try run(files, stop: nil)
  }

  /// Imports files on one of the datastore's threads. If it is cancelled, it ends after a batch, and written batches
  /// are kept.
  public func run(_ files: [String]) async throws -> Report {
    try await datastore.runLong { try run(files, stop: $0) }
  }

  /// Imports files. See `run(_:)` with paths.
  public func run(_ files: [URL]) throws -> Report {
    try run(files.map(\.path))
  }

  /// Imports files on one of the datastore's threads.
  public func run(_ files: [URL]) async throws -> Report {
    try await run(files.map(\.path))
  }

  private func run(_ files: [String], stop: StopSignal?) throws -> Report {
    var reader = ImportReader(files)
    reader.format = format
    reader.table = table
    reader.path = path
    reader.idPath = idPath
    reader.reservedNames = reservedNames
    reader.onConflict = onConflict
    reader.ignoresRevisions = ignoresRevisions
    reader.batchSize = batchSize
    reader.continuesOnError = continuesOnError
    reader.onInvalidDocument = onInvalidDocument
    reader.onNotice = onNotice
    reader.onProgress = onProgress
    return try run(reader, stop: stop)
  }

  /// Imports what a reader reads. The settings of the reader are used instead of the importer's.
  package func run(_ reader: ImportReader) throws -> Report {
    try run(reader, stop: nil)
  }

  package func run(_ reader: ImportReader, stop: StopSignal?) throws -> Report {
    var reader = reader
    defer { reader.reportProblems() }
    var isOver = try !reader.next()
    while !isOver {
      try stop?.check()
      let ahead = reader.readAhead()
      try write(&reader)
      isOver = try !reader.next(ahead)
    }
    return reader.report
  }

  // MARK: Writing

  private func write(_ reader: inout ImportReader) throws {
    let batch = reader.batch
    do {
      reader = try write(0..<batch.count, reader)
    } catch let violation as UniqueViolation {
      let violation =
        try service.map { try datastore.readSnapshot(as: $0.rules) { try violation.naming($0.sees) } }
        ?? violation
      guard reader.continuesOnError else { throw problem(violation, in: batch) }
      // Each for itself, to find out which documents can be saved.
      for row in 0..<batch.count {
        do {
          reader = try write(row..<row + 1, reader)
        } catch let violation as UniqueViolation {
          try reader.refuse(batch.problem(violation.description, at: row))
        }
      }
    }
  }

  private func problem(_ violation: UniqueViolation, in batch: ImportBatch) -> any Error {
    let row = (0..<batch.count).first { batch.id(at: $0).hasSameBytes(as: violation.documentIDs.first ?? "") }
    return row.map { batch.problem(violation.description, at: $0) } ?? violation
  }

  /// Saves documents in a transaction.
  private func write(_ rows: Range<Int>, _ reader: ImportReader) throws -> ImportReader {
    try datastore.write { transaction in
      guard let service else { return try write(rows, transaction, reader) }
      return try transaction.enforcing(service.rules) { try write(rows, transaction, reader) }
    }
  }

  private func write(
    _ rows: Range<Int>, _ transaction: WriteTransaction, _ reader: ImportReader
  ) throws -> ImportReader {
    var reader = reader
    let batch = reader.batch
    // Most documents are new. Otherwise, or with attachments, save each document individually.
    let arePlain = batch.attachments.values.allSatisfy(\.isEmpty)
    if arePlain, rows.count == batch.count, try transaction.createDocuments(batch.documents) {
      reader.report.imported += batch.count
      return reader
    }
    for row in rows {
      do {
        try write(row, transaction, &reader)
      } catch let error as DatastoreError where error.status < 500 {
        try reader.refuse(batch.problem(error.message, at: row))
      } catch let violation as RuleViolation {
        try reader.refuse(batch.problem(violation.reason, at: row))
      }
    }
    return reader
  }

  private func write(_ row: Int, _ transaction: WriteTransaction, _ reader: inout ImportReader) throws {
    let batch = reader.batch
    let (id, body, attachments) = (
      batch.id(at: row), batch.documents.body(at: row), batch.attachments(at: row)
    )
    if let refusal = service?.refusal(id, body, attachments) {
      return try reader.refuse(batch.problem(refusal, at: row))
    }
    // The revision of a document that the user does not see is not told.
    if batch.revision(at: row) != nil, try transaction.sees(id),
      let current = try transaction.currentRevision(of: id),
      reader.isStale(row, current: "\(current.id)", isDeleted: current.isDeleted)
    {
      return
    }
    do {
      let made = try transaction.createDocument(id: id, body: body, attachments: attachments ?? [])
      try service?.saved(transaction, id, made.revision)
      reader.report.imported += 1
    } catch let error as DatastoreError where error.code == .conflict {
      guard try reader.replaces(row) else { return }
      let made = try transaction.updateDocument(
        id: id, revision: try transaction.winner(of: id), body: body, attachments: attachments)
      try service?.saved(transaction, id, made.revision)
      reader.report.replaced += 1
    }
  }
}
