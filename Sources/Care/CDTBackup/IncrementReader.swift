import CDTDatastore
import CDTDigest
import CDTJSON
import CDTPlatform
import CouchDB

/// Reads the lines of an increment and computes their digest.
struct IncrementReader {
  enum Line {
    case document(id: String, DocumentInput)
    case local(id: String, LocalDocument)
    /// An attachment that the document before it was saved without.
    case loss(IntegrityFinding)
  }

  private let path: String
  private var lines: BackupLines
  private var digest = Digest(.sha256)
  /// The number of documents of the lines so far.
  private(set) var documents = 0
  private var last: String?
  private var end: BackupEnd?

  init(_ file: BackupFiles.File) throws {
    path = file.path
    lines = try BackupLines(path, file.keys)
    if let header = try lines.next() { add(header) }
  }

  private mutating func add(_ line: [UInt8]) {
    digest.update(line)
    digest.update([UInt8(ascii: "\n")])
  }

  /// The next line; `nil` at the end.
  mutating func next() throws -> Line? {
    guard let line = try lines.next() else { return nil }
    if let found = BackupEnd(line) {
      end = found
      guard try lines.next() == nil else {
        throw DatastoreError.damagedBackup(path, "there is something after its end")
      }
      return nil
    }
    add(line)
    if let loss = BackupLoss.read(line) { return .loss(loss) }
    let input: DocumentInput
    do {
      if let local = try LocalDocument.read(line) { return .local(id: local.id, local.document) }
      input = try line.withUnsafeBytes { try DocumentInput($0) }
    } catch {
      throw DatastoreError.damagedBackup(path, "a line is not a document: \(error)")
    }
    guard let id = input.id else { throw DatastoreError.damagedBackup(path, "a document has no _id") }
    // The leaves of a document follow each other.
    if last?.hasSameBytes(as: id) != true { documents += 1 }
    last = id
    return .document(id: id, input)
  }

  /// Throws unless the file is as it was written. Call it at the end.
  ///
  /// - Parameter expected: The digest that the next increment names.
  func check(expecting expected: String?) throws {
    guard let end else { throw DatastoreError.damagedBackup(path, "its end is missing") }
    let found = Hexadecimal.text(digest.finalize())
    guard found == end.digest, documents == end.documents else {
      throw DatastoreError.damagedBackup(path, "it differs from what was written")
    }
    guard expected == nil || expected == found else {
      throw DatastoreError.damagedBackup(path, "the next increment was made after another one")
    }
  }
}

/// The lines of a file of a backup. A last line without a line feed is incomplete and is ignored.
struct BackupLines {
  private let path: String
  private var lines: LineReader<DatastoreError>

  /// - Parameter keys: The keys of an encrypted backup.
  init(_ path: String, _ keys: StoreKeys?) throws(DatastoreError) {
    self.path = path
    guard var file = try FileSystem.perform("read", path, ContentFile(path, key: keys?.increments)) else {
      throw .damagedBackup(path, "it is not a file that a backup has written")
    }
    lines = LineReader { () throws(DatastoreError) in
      guard let bytes = try FileSystem.perform("read", path, file.next()) else {
        throw .damagedBackup(path, "it differs from what was written")
      }
      return bytes
    }
  }

  mutating func next() throws(DatastoreError) -> [UInt8]? {
    let line = try lines.next()
    return lines.isTerminated ? line : nil
  }
}

extension LocalDocument {
  private static let prefix = "_local/"

  /// The document as a line.
  func line(withID id: String) -> [UInt8] {
    var json: JSONObject = ["_id": .string(Self.prefix + id), "_rev": .string("0-\(revision)")]
    for (name, value) in body { json[name] = value }
    return json.utf8Text
  }

  /// - Returns: `nil` for the line of another document.
  /// - Throws: ``JSONError``.
  static func read(_ line: [UInt8]) throws -> (id: String, document: LocalDocument)? {
    guard line.starts(with: #"{"_id":"\#(prefix)"#.utf8) else { return nil }
    var json = try JSONObject(parsing: line)
    guard let id = json["_id"]?.stringValue?.afterBytePrefix(prefix) else { return nil }
    json["_id"] = nil
    return (id, LocalDocument(stored: json))
  }
}

extension BackupFiles {
  /// The attachments of a line whose content is in a file.
  func contents(
    of input: DocumentInput, in files: AttachmentFiles, _ file: File
  ) throws -> [DocumentAttachment] {
    try input.attachments.compactMap { attachment in
      guard case .follows(let length, _, _) = attachment.source else { return nil }
      guard let key = attachment.digest.flatMap(ContentDigest.sha1), let length else {
        throw DatastoreError.damagedBackup(
          file.path, "the attachment \(DatastoreError.quoted(attachment.name)) has no digest")
      }
      let row = AttachmentRow(
        name: attachment.name, key: key, type: attachment.contentType, storedLength: length,
        generation: Int64(attachment.revpos ?? 0))
      return DocumentAttachment(row, in: files)
    }
  }
}
