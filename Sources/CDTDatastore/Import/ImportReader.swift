import CDTJSON

/// Reads the documents of files in batches, for an import.
package struct ImportReader {
  // The settings are those of ``DocumentImporter``.
  package var format = DocumentImporter.Format.json
  package var arrayPath: [String] = []
  package var idField: String?
  package var batchSize = 1_000
  package var continuesOnError = false
  package var onInvalidDocument: (@Sendable (ImportError) -> Void)?

  private var files: ArraySlice<String>
  private var source: (any DocumentSource)?
  /// The number of bytes in the files before this one.
  private var bytesBefore: Int64 = 0
  private var batch = ImportBatch()
  /// Its memory is reused for each document.
  private var normalizer = JSONNormalizer()

  /// - Parameter files: Paths; `-` is standard input.
  package init(_ files: [String]) {
    self.files = files[...]
  }

  /// The maximum size of a batch in bytes, not counting its last document.
  private static let largestBatch = 4 * 1024 * 1024

  /// Reads the next batch, which has documents of one file, and at least one. It is valid until the next call.
  ///
  /// - Parameter report: Gets the numbers of bytes and of invalid documents.
  /// - Returns: `nil` after the last document.
  /// - Throws: ``ImportError`` for an invalid document, ``DatastoreError`` if a file can't be read.
  package mutating func next(_ report: inout DocumentImporter.Report) throws -> ImportBatch? {
    while true {
      if var current = source.take() {
        defer { source = current }
        try fill(from: &current, &report)
        report.bytes = bytesBefore + current.taken
        if batch.count > 0 { return batch }
      }
      guard let file = files.popFirst() else { return nil }
      bytesBefore = report.bytes
      source = try source(InputBuffer(file))
    }
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

  private mutating func fill(
    from source: inout any DocumentSource, _ report: inout DocumentImporter.Report
  ) throws {
    batch.removeAll()
    var bytes = 0
    while batch.count < max(1, batchSize), bytes < Self.largestBatch {
      do {
        guard let place = try source.next(&normalizer) else { break }
        bytes += normalizer.text.count
        do {
          let (id, attachments) = try head(of: normalizer, at: place)
          bytes += attachments?.reduce(0) { $0 + Int(clamping: $1.length ?? 0) } ?? 0
          batch.append(id ?? DocumentID.make(), normalizer, attachments, at: place)
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
}
