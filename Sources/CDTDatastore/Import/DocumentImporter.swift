import CDTJSON
public import FoundationEssentials

/// Imports documents from files into a datastore, in batches of one transaction each.
///
/// ```swift
/// var importer = DocumentImporter(into: store)
/// importer.onConflict = .replace
/// let report = try importer.run(["people.jsonl"])
/// report.imported  // the number of new documents
/// ```
///
/// JSON Lines, a JSON array and CouchDB's `{"docs": […]}` are detected by their content. Files are read as a stream:
/// memory depends on the largest document, not on the file. `_attachments` with inline data, as written by
/// ``Attachments/inlineJSON()`` and CouchDB, are imported too; they replace the attachments of a replaced document.
///
/// Source: `docs/cli.md`, import.
public struct DocumentImporter: Sendable {
  /// What to do with a document whose id exists.
  public enum ConflictRule: String, Sendable, CaseIterable {
    /// The import stops.
    case fail
    /// The document is skipped.
    case skip
    /// The document is saved as a new revision.
    case replace
  }

  /// The format of the files.
  public enum Format: String, Sendable, CaseIterable {
    /// JSON Lines, an array, or `{"docs": […]}`, detected by content.
    case json
    /// Comma-separated values with a header line.
    case csv
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
    /// The number of bytes read.
    public var bytes: Int64 = 0

    package init() {}

    /// The number of documents written.
    public var written: Int { imported + replaced }
  }

  /// The format of the files.
  public var format = Format.json
  /// The member names on the path to the array inside a single object; empty if the file consists of documents.
  public var arrayPath: [String] = []
  /// The field to use as the id of documents without `_id`.
  public var idField: String?
  /// What to do with a document whose id exists.
  public var onConflict = ConflictRule.fail
  /// The maximum number of documents per transaction; large documents reduce it to limit memory.
  public var batchSize = 1_000
  /// Whether invalid documents are reported and skipped; otherwise the first one ends the import.
  public var continuesOnError = false
  /// Called for each skipped invalid document.
  public var onInvalidDocument: (@Sendable (ImportError) -> Void)?
  /// Called after each batch.
  public var onProgress: (@Sendable (Report) -> Void)?

  private let datastore: Datastore

  /// Creates an importer with the defaults: JSON by content, conflicts fail, 1,000 documents per transaction.
  public init(into datastore: Datastore) {
    self.datastore = datastore
  }

  /// Imports files; `-` is standard input.
  ///
  /// - Returns: The result of the import.
  /// - Throws: ``ImportError`` with file, line and column for an invalid document, ``DatastoreError`` if reading or
  ///   writing fails. The current batch is not written, but the batches before it are.
  public func run(_ files: [String]) throws -> Report {
    try run(files, stop: nil)
  }

  /// Imports files on one of the datastore's threads. If it is cancelled, it ends after a batch, and written batches
  /// are kept.
  public func run(_ files: [String]) async throws -> Report {
    try await datastore.work.run(.long) { try run(files, stop: $0) }
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
    reader.arrayPath = arrayPath
    reader.idField = idField
    reader.batchSize = batchSize
    reader.continuesOnError = continuesOnError
    reader.onInvalidDocument = onInvalidDocument
    return try run(reader, stop: stop)
  }

  /// Imports what a reader reads. The settings of the reader are used instead of the importer's.
  package func run(_ reader: ImportReader) throws -> Report {
    try run(reader, stop: nil)
  }

  private func run(_ reader: ImportReader, stop: StopSignal?) throws -> Report {
    var reader = reader
    var report = Report()
    while let batch = try reader.next(&report) {
      try stop?.check()
      report = try write(batch, of: reader, report)
      onProgress?(report)
    }
    onProgress?(report)
    return report
  }

  // MARK: Writing

  private func write(_ batch: ImportBatch, of reader: ImportReader, _ report: Report) throws -> Report {
    var problems: [ImportError] = []
    let written = try datastore.write { transaction in
      var report = report
      // Most documents are new. Otherwise, or with attachments, save each document individually.
      let arePlain = batch.attachments.values.allSatisfy(\.isEmpty)
      if arePlain, try transaction.createDocuments(batch.documents) {
        report.imported += batch.count
        return report
      }
      for row in 0..<batch.count {
        do {
          try write(
            batch.id(at: row), batch.documents.body(at: row), batch.attachments[row], transaction, &report)
        } catch let error as DatastoreError where error.status < 500 {
          let problem =
            error.code == .conflict ? batch.conflict(at: row) : batch.problem(error.message, at: row)
          guard reader.continuesOnError else { throw problem }
          report.failed += 1
          problems.append(problem)
        }
      }
      return report
    }
    for problem in problems { reader.onInvalidDocument?(problem) }
    return written
  }

  private func write(
    _ id: String, _ body: BodyText, _ attachments: Attachments?, _ transaction: WriteTransaction,
    _ report: inout Report
  ) throws {
    do {
      try transaction.createDocument(id: id, body: body, attachments: attachments ?? [])
      report.imported += 1
    } catch let error as DatastoreError where error.code == .conflict && onConflict != .fail {
      if onConflict == .skip {
        report.skipped += 1
      } else {
        try transaction.updateDocument(
          id: id, revision: try transaction.winner(of: id), body: body, attachments: attachments)
        report.replaced += 1
      }
    }
  }
}
