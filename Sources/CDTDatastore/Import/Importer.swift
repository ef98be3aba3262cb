import JSON

/// Brings documents from files into a datastore, a batch a transaction.
///
/// ```swift
/// var importer = Importer(into: store)
/// importer.onConflict = .replace
/// let report = try importer.run(["people.jsonl"])
/// report.imported  // how many documents are new
/// ```
///
/// JSON Lines, a JSON array and CouchDB's `{"docs": […]}` are told apart by their content. Files are read as a stream:
/// memory follows the largest document, not the file. `_attachments` with their data, as ``Attachments/inlineJSON()``
/// and CouchDB write them, come too; on a document that is replaced they take the place of those it had.
///
/// Source: `docs/cli.md`, import.
public struct Importer: Sendable {
  /// What becomes of a document whose id is taken.
  public enum ConflictRule: String, Sendable, CaseIterable {
    /// The import stops.
    case fail
    /// The document is left out.
    case skip
    /// The document becomes a new revision.
    case replace
  }

  /// How files are written.
  public enum Format: String, Sendable, CaseIterable {
    /// JSON Lines, an array, or `{"docs": […]}`, by content.
    case json
    /// Comma-separated values with a header line.
    case csv
  }

  /// What an import has done so far.
  public struct Report: Sendable, Hashable {
    /// How many documents are new.
    public var imported = 0
    /// How many documents got a new revision.
    public var replaced = 0
    /// How many were left out as their ids were taken.
    public var skipped = 0
    /// How many could not be taken.
    public var failed = 0
    /// How many bytes have been read.
    public var bytes: Int64 = 0

    /// How many documents have been written.
    public var written: Int { imported + replaced }
  }

  /// How files are written.
  public var format = Format.json
  /// The names on the way to an array in one big object; none for a file of documents.
  public var path: [String] = []
  /// The field to take the id from when a document has no `_id`.
  public var idField: String?
  /// What becomes of a document whose id is taken.
  public var onConflict = ConflictRule.fail
  /// How many documents are written in one transaction at most; large documents make it fewer, for the sake of memory.
  public var batch = 1_000
  /// Whether documents that can't be taken are reported and left out; else the first one ends the import.
  public var keepsGoing = false
  /// Learns of a document that was left out because it can't be taken.
  public var onProblem: (@Sendable (ImportError) -> Void)?
  /// Learns what has been done, after each batch.
  public var onProgress: (@Sendable (Report) -> Void)?

  private let datastore: Datastore

  /// An importer with the defaults: JSON by content, conflicts fail, 1,000 documents a transaction.
  public init(into datastore: Datastore) {
    self.datastore = datastore
  }

  /// Imports files, `-` being standard input.
  ///
  /// - Returns: What was done.
  /// - Throws: ``ImportError`` with file, line and column for a document that can't be taken, ``DatastoreError`` when
  ///   reading or writing fails. The batch it happened in is not written, those before it are.
  public func run(_ files: [String]) throws -> Report {
    var report = Report()
    for file in files {
      try run(InputBuffer(file), &report)
    }
    return report
  }

  private func run(_ input: InputBuffer, _ report: inout Report) throws {
    var source = try source(input)
    let before = report.bytes
    var batch = Batch()
    while true {
      try fill(&batch, from: &source, &report)
      if batch.lines.isEmpty { break }
      report = try write(batch, report)
      report.bytes = before + source.taken
      onProgress?(report)
    }
    report.bytes = before + source.taken
    onProgress?(report)
  }

  /// Tells the kinds of JSON apart by the first bytes.
  private func source(_ input: InputBuffer) throws -> any DocumentSource {
    var input = input
    try input.skipByteOrderMark()
    if format == .csv { return CSVSource(input) }
    if !path.isEmpty { return JSONArraySource(input, at: path) }
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

  /// How many bytes of documents are held at most, besides one document.
  private static let largestBatch = 4 * 1024 * 1024

  /// Documents that are ready to be written, and where they came from. Its memory serves one batch after the other.
  private struct Batch {
    let documents = NewDocuments()
    /// The attachments of the documents that say something of them, by their place.
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
    while batch.lines.count < max(1, self.batch), bytes < Self.largestBatch {
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
        } catch let error as ImportError where keepsGoing {
          report.failed += 1
          onProblem?(error)
        }
      } catch let error as ImportError where keepsGoing {
        report.failed += 1
        onProblem?(error)
        guard try source.recover() else { break }
      }
    }
  }

  /// What a document says of itself beside its body.
  private func head(
    of document: JSONNormalizer, at place: SourcePlace
  ) throws -> (id: String?, attachments: Attachments?) {
    // Most documents say nothing else of themselves.
    if let id = document.onlyReserved(#""_id""#) { return (id, nil) }
    var id: String?
    var attachments: Attachments?
    for (name, value) in document.reserved {
      switch name {
      case "_id":
        guard case .string(let text) = value else { throw problem("_id must be a string", place) }
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
      throw problem("the document has no field \(DatastoreError.quoted(field)) to take the id from", place)
    default:
      throw problem(
        "the field \(DatastoreError.quoted(field)) is no string or whole number to be an id", place)
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
      // Most documents are new. If one is not, or can't be taken, or has attachments, each is looked at for itself.
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
            ? "document \(DatastoreError.quoted(id)) exists; skip or replace such documents (--on-conflict)"
            : error.message
          let problem = ImportError(file: batch.file, line: line, column: 0, message: message)
          guard keepsGoing else { throw problem }
          report.failed += 1
          problems.append(problem)
        }
      }
      return report
    }
    for problem in problems { onProblem?(problem) }
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
