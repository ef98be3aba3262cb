package import CDTDatastore
import CDTJSON
import CDTPlatform

/// Reads the documents of files in batches, for an import, and counts them.
package struct ImportReader {
  // The settings are those of ``DocumentImporter``.
  package var format = DocumentImporter.Format.automatic
  package var path: [String]?
  package var idPath: [String] = []
  package var reservedNames = DocumentImporter.ReservedNames.fail
  package var table = DocumentImporter.TableOptions()
  package var onConflict = DocumentImporter.ConflictRule.fail
  package var ignoresRevisions = false
  package var batchSize = 1_000
  package var continuesOnError = false
  package var onInvalidDocument: (@Sendable (ImportError) -> Void)?
  package var onNotice: (@Sendable (String) -> Void)?
  package var onProgress: (@Sendable (DocumentImporter.Report) -> Void)?

  /// The most bytes of a document without its attachments, of one with them, and of a compressed file when it is decompressed;
  /// `nil` for what can be stored.
  package var limits: (document: Int, value: Int, decompressed: Int64)?

  package static let longestPiece = InputBuffer.chunk

  /// Returns the next bytes of a file, at most ``longestPiece``; none at its end.
  package typealias Pieces = @Sendable () -> Result<[UInt8], DatastoreError>

  package var report = DocumentImporter.Report()
  /// The documents that are written next.
  package private(set) var batch = ImportBatch()
  /// The errors of documents that are left out, until they are reported.
  var problems: [ImportError] = []
  /// Whether another batch is being written meanwhile. What there is to tell is then told afterwards.
  private(set) var isAhead = false
  /// The notices, each after so many of the problems.
  private var notices: [(place: Int, notice: ImportNotice)] = []
  /// Whether the batch ended because it was large enough.
  private var isFull = false
  /// The memory of the batch that was written last.
  private var spare = ImportBatch()
  /// Whether the file is only the beginning of one.
  var isBeginning = false
  var files: ArraySlice<String>
  private var pieces: Pieces?
  private var source: (any DocumentSource)?
  private(set) var recognized = Recognized()
  private var leftOut = LeftOut()
  /// The number of bytes in the files before this one.
  private var bytesBefore: Int64 = 0
  /// Its memory is reused for each document.
  private(set) var normalizer = JSONNormalizer()

  /// Properties of a file that were recognized from its documents.
  struct Recognized {
    var isTable = false
    var hasRows = false
    var isMongoDB = false
    /// The names that begin with an underscore and were changed.
    var renamed: Set<String> = []
  }

  /// The counts of everything that was left out or had no effect, in all files.
  private struct LeftOut {
    var idPath = 0
    var stubs = 0
    var tombstones = 0
    var designDocuments = 0
  }

  /// - Parameter files: Paths; `-` is standard input.
  package init(_ files: [String]) {
    self.files = files[...]
  }

  /// Reads one file in pieces, whose name says the format and is in messages.
  package init(_ name: String, _ pieces: @escaping Pieces) {
    files = [name]
    self.pieces = pieces
  }

  /// The names that notices tell; those of a file can be any number.
  private static let maximumRenamed = 100

  /// The maximum size of a batch in bytes, not counting its last document.
  private static let largestBatch = 4 * 1024 * 1024

  /// Reads the next batch, when the one before is written. It has documents of one file, and at least one.
  ///
  /// - Returns: Whether there is one.
  /// - Throws: ``ImportError`` for an invalid document, `DatastoreError` if a file can't be read.
  package mutating func next() throws -> Bool {
    endBatch()
    if try readBatch() { return true }
    end()
    return false
  }

  private mutating func endBatch() {
    reportProblems()
    if batch.count > 0 { onProgress?(report) }
  }

  private mutating func end() {
    tellLeftOut()
    onProgress?(report)
  }

  private mutating func readBatch() throws -> Bool {
    while true {
      if var current = source.take() {
        defer { source = current }
        try fill(from: &current)
        report.bytes = bytesBefore + current.taken
        if batch.count > 0 { return true }
      }
      source = nil
      guard let file = files.popFirst() else { return false }
      bytesBefore = report.bytes
      source = try source(file)
    }
  }

  /// Begins to read the next batch on another thread, while this one is written.
  ///
  /// - Returns: `nil` if the batch may be the last, or if no thread can be started. Otherwise the next batch comes from ``next(_:)``.
  mutating func readAhead() -> ImportAhead? {
    guard isFull, pieces == nil else { return nil }
    var ahead = self
    ahead.isAhead = true
    swap(&ahead.batch, &ahead.spare)
    ahead.report = DocumentImporter.Report()
    ahead.report.bytes = report.bytes
    // Memory that two have would be copied.
    (source, normalizer) = (nil, JSONNormalizer())
    let reading = ImportAhead(consume ahead)
    if reading.begin({ try $0.readBatch() }) { return reading }
    let unchanged = reading.take()
    (source, normalizer) = (unchanged.source, unchanged.normalizer)
    return nil
  }

  /// The next batch, which was read while this one was written.
  ///
  /// - Returns: Whether there is one.
  mutating func next(_ reading: ImportAhead?) throws -> Bool {
    guard let reading else { return try next() }
    endBatch()
    let result = reading.wait()
    let ahead = reading.take()
    let written = (report: report, batch: batch)
    self = ahead
    isAhead = false
    spare = written.batch
    report = written.report
    report.failed += ahead.report.failed
    report.tombstones += ahead.report.tombstones
    report.bytes = ahead.report.bytes
    tellKept()
    if try result.get() { return true }
    end()
    return false
  }

  /// Opens a file. Its kind is determined by the format, by its content, and by its name if that ends with `.csv` or
  /// `.tsv`.
  mutating func source(_ file: String) throws -> any DocumentSource {
    var input = try pieces.map { InputBuffer(file, $0) } ?? InputBuffer(file)
    input.isBeginning = isBeginning
    if let limits {
      input.longestValue = min(input.longestValue, limits.value)
      input.longestPlainValue = max(limits.document, InputBuffer.chunk)
    }
    try input.begin(maximumDecompressed: limits?.decompressed ?? .max)
    recognized = Recognized()
    let named = Self.tableFormat(file)
    guard format == .csv || format == .tsv || (format == .automatic && path == nil && named != nil) else {
      if !continuesOnError { try checkKind(of: &input) }
      return JSONSource(input, at: path, format: format)
    }
    if format == .automatic, let byte = try input.nextByte(),
      byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[")
    {
      throw ImportError(
        "the name of the file is that of a table, but the text begins as JSON; give --format csv or --format json",
        at: input)
    }
    recognized.isTable = true
    if let limits { input.longestValue = min(input.longestValue, limits.document) }
    let isTSV = format == .automatic ? named == .tsv : format == .tsv
    let separator = table.delimiter?.asciiValue ?? (isTSV ? UInt8(ascii: "\t") : nil)
    return CSVSource(input, separator: separator, table, isRecognized: format == .automatic)
  }

  /// Throws for text that is not JSON, if its kind is known.
  private func checkKind(of input: inout InputBuffer) throws {
    guard let byte = try input.nextByte(), byte != UInt8(ascii: "{"), byte != UInt8(ascii: "["),
      let kind = input.withBytes(nil, { TextKind($0) })
    else { return }
    throw ImportError(kind.message, at: input)
  }

  /// The format of a table that a file has by its name, which may end with `.gz`.
  private static func tableFormat(_ file: String) -> DocumentImporter.Format? {
    var name = file.lowercased()
    if name.hasSuffix(".gz") { name.removeLast(3) }
    return name.hasSuffix(".csv") ? .csv : name.hasSuffix(".tsv") || name.hasSuffix(".tab") ? .tsv : nil
  }

  private mutating func fill(from source: inout any DocumentSource) throws {
    batch.removeAll()
    var bytes = 0
    while batch.count < max(1, batchSize), bytes < Self.largestBatch,
      let (document, place) = try next(from: &source)
    {
      bytes += normalizer.text.count
      bytes += document.attachments?.reduce(0) { $0 + Int(clamping: $1.length ?? 0) } ?? 0
      batch.append(document, at: place, body: normalizer)
    }
    isFull = batch.count >= max(1, batchSize) || bytes >= Self.largestBatch
  }

  /// The next document that is not left out; the normalizer has its texts. `nil` at the end of the file.
  mutating func next(
    from source: inout any DocumentSource
  ) throws -> (ImportedDocument, SourcePlace)? {
    while true {
      do {
        let place = try source.next(&normalizer)
        for notice in source.takeNotices() { tell(notice) }
        guard let place else { return nil }
        do {
          if let document = try document(at: place) { return (document, place) }
        } catch let error as ImportError {
          try refuse(error)
          reportProblems()
        }
      } catch let error as ImportError where continuesOnError {
        try refuse(error)
        reportProblems()
        guard try source.recover() else { return nil }
      }
    }
  }

  /// Calls a closure with each document that is not left out, without batches.
  ///
  /// - Parameter body: Gets its id, if it has one, the text of its body, which is valid during the call, and its place. The
  ///   strings in the text are in stored form, but the text may have white space, and an `_id`. It returns whether to go on.
  /// - Throws: ``ImportError`` for an invalid document, `DatastoreError` if a file can't be read. The reader can't read batches
  ///   afterwards.
  mutating func forEach(
    _ body: (_ id: String?, _ text: UnsafeRawBufferPointer, _ place: SourcePlace) throws -> Bool
  ) throws {
    normalizer.defersPlain = true
    normalizer.makesCanonical = false
    while let file = files.popFirst() {
      var source = try source(file)
      while let (document, place) = try next(from: &source) {
        guard try normalizer.text.withUnsafeBytes({ try body(document.id, $0, place) }) else { return }
      }
    }
    tellLeftOut()
  }

  // MARK: Documents

  /// The document in the normalizer; `nil` if it is left out.
  private mutating func document(at place: SourcePlace) throws -> ImportedDocument? {
    if normalizer.isDeferred {
      if isDocument(at: place) {
        try checkLength(at: place)
        var document = ImportedDocument()
        document.id = normalizer.plainID ?? place.name
        return document
      }
      normalizer.settle()
    }
    if !recognized.isTable, format == .automatic || format == .couchDB, try takeFromRow(at: place) {
      return nil
    }
    try checkLength(at: place)
    var document: ImportedDocument
    do throws(DatastoreError) {
      document = try head(at: place)
    } catch {
      throw problem(error.message, place)
    }
    if document.isDeleted {
      report.tombstones += 1
      leftOut.tombstones += 1
      return nil
    }
    leftOut.stubs += document.stubs
    if document.id == nil {
      document.id = idPath.isEmpty ? place.name : try id(at: idPath, at: place)
    } else if !idPath.isEmpty, idPath.first != "_id" {
      leftOut.idPath += 1
    }
    if document.id?.hasBytePrefix("_design/") == true { leftOut.designDocuments += 1 }
    return document
  }

  private func checkLength(at place: SourcePlace) throws(ImportError) {
    guard let limits, normalizer.text.count > limits.document else { return }
    throw problem(
      "the document has more than \(limits.document) bytes; leave it out, or raise the limit", place)
  }

  /// Whether an object that is deferred is a document as it is, which is decided by its first names.
  private func isDocument(at place: SourcePlace) -> Bool {
    let isJSON = recognized.isTable || format == .json
    guard isJSON || format == .automatic, !recognized.hasRows, !recognized.isMongoDB, !place.isWrapped,
      idPath.isEmpty
    else { return false }
    return isJSON || normalizer.plainID != nil
      || normalizer.text.withUnsafeBytes { CouchRow(JSONBytes($0)) == nil }
  }

  /// Replaces a row of CouchDB by its document.
  ///
  /// - Returns: Whether the row has no document and is left out.
  private mutating func takeFromRow(at place: SourcePlace) throws -> Bool {
    // Rows have no reserved members, and most documents are told from them by their first member.
    guard !normalizer.hasReserved else { return false }
    let text = normalizer.text
    guard let row = text.withUnsafeBytes({ CouchRow(JSONBytes($0)) }) else { return false }
    if case .end = row { return recognized.hasRows }
    if !recognized.hasRows, !place.isWrapped, format == .automatic { tell(.rows(place.file)) }
    recognized.hasRows = true
    switch row {
    case .end: return true
    case .deleted:
      report.tombstones += 1
      leftOut.tombstones += 1
      return true
    case .withoutDocument:
      throw problem(
        "the row has no document; read the database with include_docs=true, or give --format json to import the rows",
        place)
    case .document(let start):
      do throws(JSONError) {
        _ = try normalizer.normalize(text, from: start)
      } catch {
        throw problem(error.message, place)
      }
      return false
    }
  }

  /// The reserved members of what the normalizer has, without the types of MongoDB.
  private mutating func head(at place: SourcePlace) throws(DatastoreError) -> ImportedDocument {
    var document = ImportedDocument()
    // Most documents have no other reserved members.
    let id = normalizer.onlyReserved(#""_id""#)
    let reserved = id.map { [("_id", .string($0))] } ?? normalizer.reserved
    if let mongo = try mongoDocument(reserved) {
      if format == .automatic, !recognized.isMongoDB { tell(.mongoDB(place.file)) }
      recognized.isMongoDB = true
      for (name, new) in mongo.renamed
      where recognized.renamed.count < Self.maximumRenamed && recognized.renamed.insert(name).inserted {
        tell(.renamed(name, new, place.file))
      }
      if let text = mongo.text { try replaceText(text) }
      document.id = mongo.id
    } else if let id {
      document.id = id
    } else if !reserved.isEmpty {
      document = try ImportedDocument(
        reserved, readsRevisions: onConflict == .replace && !ignoresRevisions,
        leavesOutStubs: place.isWrapped || recognized.hasRows || format == .couchDB, reservedNames)
      var text = normalizer.text
      for (name, value) in document.foreign {
        if let new = reservedNames.renamed(name) { text.addMember(new, value.utf8Text) }
      }
      if !document.foreign.isEmpty { try replaceText(text) }
    }
    return document
  }

  private mutating func replaceText(_ text: [UInt8]) throws(DatastoreError) {
    do throws(JSONError) {
      _ = try normalizer.normalize(text)
    } catch {
      throw DatastoreError(.importedText(error))
    }
  }

  /// The document of MongoDB that the normalizer has; `nil` if it is of another kind. A document of MongoDB has no `_rev`.
  private func mongoDocument(_ reserved: [ReservedField]) throws(DatastoreError)
    -> MongoDocument?
  {
    let isKnown = format == .mongoDB || recognized.isMongoDB
    guard !recognized.isTable, format == .automatic || format == .mongoDB,
      isKnown || !reserved.contains(where: { $0.name == "_rev" })
    else { return nil }
    return try MongoDocument(normalizer.text, reserved: reserved, reservedNames, isKnown: isKnown)
  }

  /// The id of a document without `_id`.
  private func id(at path: [String], at place: SourcePlace) throws -> String {
    let value = normalizer.text.withUnsafeBytes { bytes -> JSONValue? in
      let text = JSONBytes(bytes)
      var value = 0
      for name in path {
        guard let member = text.member(spelled: JSONString.spelling(of: Array(name.utf8)), at: value) else {
          return nil
        }
        value = member
      }
      return text.value(at: value)
    }
    let name = DatastoreError.quoted(path.joined(separator: "."))
    switch value {
    case .string(let text)?: return text
    case .int(let int)?: return String(int)
    case .spelled(let number)? where number.isInteger: return number.text
    case nil:
      throw problem("the document has no field \(name) to use as the id; choose another field", place)
    default:
      throw problem(
        "the field \(name) must be a string or a whole number to serve as the id; choose another field", place
      )
    }
  }

  // MARK: Notices

  private mutating func tell(_ notice: ImportNotice) {
    if isAhead { notices.append((problems.count, notice)) } else { onNotice?(notice.message) }
  }

  /// Tells what there was to tell while it was ahead, in order.
  private mutating func tellKept() {
    let (problems, notices) = (problems, notices)
    (self.problems, self.notices) = ([], [])
    var told = 0
    for (place, notice) in notices {
      for problem in problems[told..<place] { onInvalidDocument?(problem) }
      told = place
      tell(notice)
    }
    for problem in problems[told...] { onInvalidDocument?(problem) }
  }

  /// Tells once, at the end, what was left out.
  mutating func tellLeftOut() {
    if leftOut.idPath > 0 { tell(.unusedIDPath(leftOut.idPath)) }
    if leftOut.tombstones > 0 { tell(.tombstones(leftOut.tombstones)) }
    if leftOut.stubs > 0 { tell(.stubs(leftOut.stubs)) }
    if leftOut.designDocuments > 0 { tell(.designDocuments(leftOut.designDocuments)) }
    leftOut = LeftOut()
  }

  private func problem(_ message: String, _ place: SourcePlace) -> ImportError {
    ImportError(file: place.file, line: place.line, column: 0, message: message)
  }
}
