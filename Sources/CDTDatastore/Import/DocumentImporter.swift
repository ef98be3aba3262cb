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
    var report = Report()
    for file in files {
      try run(InputBuffer(file), stop: stop, &report)
    }
    return report
  }

  private func run(_ input: InputBuffer, stop: StopSignal?, _ report: inout Report) throws {
    var source = try source(input)
    let before = report.bytes
    var batch = Batch()
    while true {
      try fill(&batch, from: &source, &report)
      try stop?.check()
      if batch.lines.isEmpty { break }
      report = try write(batch, report)
      report.bytes = before + source.taken
      onProgress?(report)
    }
    report.bytes = before + source.taken
    onProgress?(report)
  }

  /// Detects the kind of JSON by the first bytes.
  private func source(_ input: InputBuffer) throws -> any DocumentSource {
    var input = input
    try input.skipByteOrderMark()
    if format == .csv { return CSVSource(input) }
    if !arrayPath.isEmpty { return JSONArraySource(input, at: arrayPath) }
    guard let first = try input.nextByte() else { return JSONLinesSource(input) }
    if first == UInt8(ascii: "[") { return JSONArraySource(input, at: []) }
    while input.available < 64, try input.fill() {}
    let isBulk = input.withBytes { bytes in
      let text = JSONBytes(bytes)
      var members = text.members(at: 0)
      guard let first = members.next() else { return false }
      let key = text.slice(first.keyStart, first.keyEnd)
      return key.elementsEqual("docs".utf8) && text.kind(at: first.value) == .array
        || key.elementsEqual("new_edits".utf8)
    }
    return isBulk ? JSONArraySource(input, at: ["docs"]) : JSONLinesSource(input)
  }

  // MARK: Reading

  /// The maximum size of a batch in bytes, not counting its last document.
  private static let largestBatch = 4 * 1024 * 1024

  /// Documents to be written, and their places in the input. Its memory is reused for each batch.
  private struct Batch {
    let documents = NewDocuments()
    /// The attachments of the documents that have `_attachments`, by position in the batch.
    var attachments: [Int: Attachments] = [:]
    var file = ""
    var lines: [Int] = []
    var normalizer = JSONNormalizer()

    mutating func removeAll() {
      documents.removeAll()
      attachments = [:]
      lines.removeAll(keepingCapacity: true)
    }
  }

  private func fill(_ batch: inout Batch, from source: inout any DocumentSource, _ report: inout Report)
    throws
  {
    batch.removeAll()
    var bytes = 0
    while batch.lines.count < max(1, batchSize), bytes < Self.largestBatch {
      do {
        guard let place = try source.next(&batch.normalizer) else { break }
        bytes += batch.normalizer.text.count
        do {
          let (id, attachments) = try head(of: batch.normalizer, at: place)
          if let attachments {
            bytes += attachments.reduce(0) { $0 + Int(clamping: $1.length ?? 0) }
            batch.attachments[batch.lines.count] = attachments
          }
          batch.documents.append(id: id ?? DocumentID.make(), body: batch.normalizer)
          batch.file = place.file
          batch.lines.append(place.line)
        } catch let error as ImportError where continuesOnError {
          report.failed += 1
          onInvalidDocument?(error)
        }
      } catch let error as ImportError where continuesOnError {
        report.failed += 1
        onInvalidDocument?(error)
        guard try source.recover() else { break }
      }
    }
  }

  /// A document's reserved members.
  private func head(
    of document: JSONNormalizer, at place: SourcePlace
  ) throws -> (id: String?, attachments: Attachments?) {
    // Most documents have no other reserved members.
    if let id = document.onlyReserved(#""_id""#) { return (id, nil) }
    var id: String?
    var attachments: Attachments?
    for (name, value) in document.reserved {
      switch name {
      case "_id":
        guard case .string(let text) = value else { throw problem("_id must be a string; quote it", place) }
        id = text
      case "_rev": continue
      case "_attachments":
        do {
          attachments = try Attachments(inlineJSON: value)
        } catch {
          throw problem(error.message, place)
        }
      default: throw problem(DatastoreError.reservedKey(name, id: id).message, place)
      }
    }
    if id == nil, let idField { id = try self.id(from: idField, of: document, at: place) }
    return (id, attachments)
  }

  private func id(
    from field: String, of document: JSONNormalizer, at place: SourcePlace
  ) throws -> String {
    let value = document.text.withUnsafeBytes { bytes -> JSONValue? in
      let text = JSONBytes(bytes)
      return text.member(spelled: JSONString.spelling(of: Array(field.utf8)), at: 0).map {
        text.value(at: $0)
      }
    }
    switch value {
    case .string(let text)?: return text
    case .int(let int)?: return String(int)
    case nil:
      throw problem(
        "the document has no field \(DatastoreError.quoted(field)) to use as the id; choose another field",
        place)
    default:
      throw problem(
        "the field \(DatastoreError.quoted(field)) must be a string or a whole number to serve as the id; choose another field",
        place)
    }
  }

  private func problem(_ message: String, _ place: SourcePlace) -> ImportError {
    ImportError(file: place.file, line: place.line, column: 0, message: message)
  }

  // MARK: Writing

  private func write(_ batch: Batch, _ report: Report) throws -> Report {
    var problems: [ImportError] = []
    let written = try datastore.write { transaction in
      var report = report
      // Most documents are new. Otherwise, or with attachments, save each document individually.
      let arePlain = batch.attachments.values.allSatisfy(\.isEmpty)
      if arePlain, try transaction.createDocuments(batch.documents) {
        report.imported += batch.lines.count
        return report
      }
      for (row, line) in batch.lines.enumerated() {
        let id = batch.documents.id(at: row)
        do {
          try write(
            id, batch.documents.body(at: row), batch.attachments[row], transaction, &report)
        } catch let error as DatastoreError where error.status < 500 {
          let message =
            error.code == .conflict
            ? "document \(DatastoreError.quoted(id)) already exists; skip or replace such documents (--on-conflict)"
            : error.message
          let problem = ImportError(file: batch.file, line: line, column: 0, message: message)
          guard continuesOnError else { throw problem }
          report.failed += 1
          problems.append(problem)
        }
      }
      return report
    }
    for problem in problems { onInvalidDocument?(problem) }
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
