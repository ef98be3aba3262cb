import CDTDatastore
import CDTDigest
import CDTGzip
import CDTJSON
import CDTPlatform
import CDTSQLite

/// A row of `attachments`.
struct TouchDBAttachment {
  let name: String
  /// The SHA-1 of the bytes in the file, which may be compressed.
  let key: [UInt8]
  let type: String
  /// The uncompressed length of the content.
  let length: Int64
  let revpos: Int64
  let isPacked: Bool
}

/// The attachments of a CDTDatastore 2.x file: rows in the database, contents in `NAME attachments` beside it.
struct TouchDBAttachments {
  private let file: TouchDBFile
  private let directory: String
  private let hasRows: Bool
  private let hasNames: Bool

  init(_ file: TouchDBFile, tables: Set<String>) throws {
    self.file = file
    directory = TouchDBPaths(file.path).attachments
    hasRows =
      try tables.contains("attachments")
      && file.read { try $0.scalar("SELECT EXISTS (SELECT 1 FROM attachments)") } != 0
    hasNames = tables.contains("attachments_key_filename")
  }

  /// Whether any revision of a document has attachments.
  func hasAny(in document: TouchDBDocument) throws -> Bool {
    guard hasRows else { return false }
    var hasAny = false
    let sql = """
      SELECT EXISTS (SELECT 1 FROM revs r JOIN attachments a ON a.sequence = r.sequence WHERE r.doc_id = ?1)
      """
    try file.forEachRow(sql, document.number) { hasAny = $0.int64(0) != 0 }
    return hasAny
  }

  /// The attachments of a revision, by its sequence.
  func rows(ofSequence sequence: Int64, id: String) throws -> [TouchDBAttachment] {
    guard hasRows else { return [] }
    var rows: [TouchDBAttachment] = []
    let sql =
      "SELECT filename, key, type, length, revpos, encoding FROM attachments WHERE sequence = ?1 ORDER BY rowid"
    try file.forEachRow(sql, sequence) { row in
      guard let name = row.checkedText(0), let type = row.isNull(2) ? "" : row.checkedText(2) else {
        throw TouchDBError.invalidAttachment(
          file.path, id, row.text(0), "has a name that is not valid UTF-8 text")
      }
      let key = row.withBytes(1) { Array($0) }
      guard key.count == Digest.Function.sha1.byteCount else {
        throw TouchDBError.invalidAttachment(file.path, id, name, "has a key that is not a SHA-1 digest")
      }
      guard row.int64(5) == 0 || row.int64(5) == 1 else {
        throw TouchDBError.invalidAttachment(
          file.path, id, name, "has the encoding \(row.int64(5)), which is unknown")
      }
      rows.append(
        TouchDBAttachment(
          name: name, key: key, type: type.isEmpty ? "application/octet-stream" : type, length: row.int64(3),
          revpos: row.int64(4), isPacked: row.int64(5) == 1))
    }
    return rows
  }

  /// Calls `write` with the uncompressed content in chunks; completeness is checked after the last chunk.
  ///
  /// - Throws: ``TouchDBError`` if the file is missing, damaged, or its length differs from the row.
  func forEachChunk(
    of attachment: TouchDBAttachment, id: String, _ write: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    func failure(_ reason: String) -> TouchDBError {
      .invalidAttachment(file.path, id, attachment.name, reason)
    }
    let candidates = try candidates(for: attachment.key)
    guard
      let path = try candidates.first(where: {
        try FileSystem.perform("read", $0, Files.length(of: $0)) != nil
      })
    else {
      throw failure("has no file \(candidates.last ?? directory)")
    }
    let unreadable = { (error: SystemError) in DatastoreError(error, "read", path) }
    var hash = Digest(.sha1)
    var length: Int64 = 0
    func count(_ chunk: UnsafeRawBufferPointer) throws {
      length += Int64(chunk.count)
      try write(chunk)
    }
    if attachment.isPacked {
      do {
        let gzip = try GzipReader(limit: .max)
        try FileChunks.read(path, failure: unreadable) { chunk in
          hash.update(chunk)
          var rest = chunk[...]
          while let piece = try gzip.next(&rest) { try piece.withUnsafeBytes { try count($0) } }
        }
        try gzip.finish()
      } catch GzipError.outOfMemory {
        throw unreadable(.outOfMemory)
      } catch is GzipError {
        throw failure("is marked as gzip, but \(path) is not a gzip file")
      }
    } else {
      try FileChunks.read(path, failure: unreadable) { chunk in
        hash.update(chunk)
        try count(chunk)
      }
    }
    guard hash.finalize().elementsEqual(attachment.key) else {
      throw failure("differs from what was saved, in \(path)")
    }
    // The length of compressed content was not always recorded.
    guard length == attachment.length || (attachment.isPacked && attachment.length == 0) else {
      throw failure("has \(length) bytes instead of \(attachment.length), in \(path)")
    }
  }

  /// The possible paths of a content: the name stored in the database, or names derived from the key.
  private func candidates(for key: [UInt8]) throws -> [String] {
    let lower = Hexadecimal.text(key)
    let upper = lower.uppercased()
    var names: [String] = []
    if hasNames {
      names += try file.read { connection in
        let statement = try connection.statement(
          "SELECT filename FROM attachments_key_filename WHERE key IN (?1, ?2)")
        defer { statement.reset() }
        try statement.bind(upper, at: 1)
        try statement.bind(lower, at: 2)
        return try statement.step() ? [statement.text(0), statement.text(0) + ".blob"] : []
      }
    }
    names += [lower, lower + ".blob", upper, upper + ".blob"]
    // Only names inside the directory are allowed.
    return names.filter { !$0.isEmpty && !$0.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 } }
      .map { "\(directory)/\($0)" }
  }
}

/// The paths beside `NAME.touchdb`.
package struct TouchDBPaths {
  package let attachments: String
  package let indexes: String

  package init(_ path: String) {
    let suffix = ".touchdb"
    let name = path.hasSuffix(suffix) ? String(path.dropLast(suffix.count)) : path
    attachments = name + " attachments"
    indexes = name + "_extensions/com.cloudant.sync.query/indexes.sqlite"
  }
}
