public import CDTDatastore
import CDTDigest
import CDTJSON
import CDTPlatform
import CDTQuery
import CouchDB

extension Datastore {
  /// Restores a state of a backup into this datastore, which must be new.
  ///
  /// ```swift
  /// let saved = try manager.datastore(named: "people2")
  /// try saved.restore(from: Backup(directory: "/backup/people"), at: .time(yesterday))
  /// ```
  ///
  /// The documents get the leaves and the histories that they had, and the indexes are declared and built. Sequences are new, and
  /// replicators begin again. If the call fails, delete the datastore: part of the documents may be in it.
  ///
  /// - Parameters:
  ///   - point: The state to restore.
  ///   - progress: Called with the number of documents restored, and how many there are at most.
  /// - Returns: The state that was restored.
  /// - Throws: `DatastoreError`: `.notFound` if the backup does not have the state, `.corrupt` if it is damaged, `.conflict` if this
  ///   datastore has documents; the errors of a write.
  /// - Complexity: O(*n*) in the number of documents in the backup's files; memory for the ids of those that changed after the first.
  ///
  /// Source: `docs/backup.md`, Restoring.
  @discardableResult
  public func restore(
    from backup: Backup, at point: Backup.Point = .newest,
    progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> Backup.Increment {
    try Restoration(of: self, from: backup, stop: nil).run(point, progress)
  }

  /// Restores a state of a backup into this datastore, which must be new, on one of its threads.
  @discardableResult
  public func restore(
    from backup: Backup, at point: Backup.Point = .newest,
    progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws -> Backup.Increment {
    try await runLong { try Restoration(of: self, from: backup, stop: $0).run(point, progress) }
  }
}

/// A restoration in progress. It reads the newest increment first: what it has of a document is all that the document was.
private struct Restoration {
  private let store: Datastore
  private let backup: Backup
  private let contents: AttachmentFiles
  private let stop: StopSignal?

  /// The number of lines that are saved in one transaction.
  private static let batch = 1_000

  init(of store: Datastore, from backup: Backup, stop: StopSignal?) {
    (self.store, self.backup, self.stop) = (store, backup, stop)
    contents = backup.attachments
  }

  func run(
    _ point: Backup.Point, _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws -> Backup.Increment {
    guard try store.read({ try $0.lastSequence() }) == 0 else { throw DatastoreError.notEmpty(store.name) }
    let files = try backup.files(upTo: point)
    guard let last = files.last else { throw DatastoreError.noBackup(backup.directory, oldest: nil) }
    let total = try files.reduce(0) { $0 + (try BackupEnd(ofFileAt: $1.path).documents) }
    var (seen, done) = (Set<KeyBytes>(), 0)
    var expected: String?
    var hasLocals = false
    for file in files.reversed() {
      let wantsLocals = !hasLocals
      let restored = try restore(file, expecting: expected, without: &seen, locals: wantsLocals) { count in
        done += count
        progress(done, total)
      }
      hasLocals = hasLocals || restored.hadLocals
      expected = file.header.previousDigest
    }
    if let loss = try store.createIndexes(ofBackup: last.header.indexes).first {
      throw DatastoreError.damagedBackup(last.path, loss.description)
    }
    return last.increment
  }

  /// Restores the documents of a file that are not in a newer one.
  private func restore(
    _ file: Backup.File, expecting digest: String?, without seen: inout Set<KeyBytes>, locals: Bool,
    _ noteDocuments: (Int) -> Void
  ) throws -> (hadLocals: Bool, documents: Int) {
    var reader = try IncrementReader(file)
    var (hadLocals, documents) = (false, 0)
    var last: String?
    var mine = Set<KeyBytes>()
    var isAtEnd = false
    while !isAtEnd {
      var batch: [IncrementReader.Line] = []
      while batch.count < Self.batch {
        guard let line = try reader.next() else {
          isAtEnd = true
          break
        }
        batch.append(line)
      }
      try stop?.check()
      var count = 0
      try store.write(stop: stop) { transaction in
        let saving = DocumentSaving(transaction)
        for line in batch {
          switch line {
          case .local(let id, let document):
            hadLocals = true
            if locals {
              try transaction.setLocalDocument(DatabaseIdentity.renewed(document, withID: id), withID: id)
            }
          case .document(let input):
            guard let id = input.id else {
              throw DatastoreError.damagedBackup(file.path, "a document has no _id")
            }
            let key = KeyBytes(id)
            if last?.hasSameBytes(as: id) != true { count += 1 }
            last = id
            if seen.contains(key) { continue }
            // The first increment has each document once and nothing is older.
            if file.header.number > 1 { mine.insert(key) }
            do {
              _ = try saving.insert(input, id: id, uploads: uploads(input, file))
            } catch let error as CouchError {
              throw DatastoreError.damagedBackup(file.path, "document \(DatastoreError.quoted(id)): \(error)")
            } catch let error as DatastoreError where error.code == .notFound {
              throw DatastoreError.damagedBackup(
                file.path, "the content of an attachment of document \(DatastoreError.quoted(id)) is missing")
            }
          }
        }
      }
      documents += count
      noteDocuments(count)
    }
    try reader.check(documents: documents, expecting: digest)
    seen.formUnion(mine)
    return (hadLocals, documents)
  }

  private func uploads(_ input: DocumentInput, _ file: Backup.File) throws -> Attachments {
    Attachments(try backup.contents(of: input, in: contents, file))
  }
}

extension Backup {
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

  /// Reads all files and contents, and compares them with their digests.
  ///
  /// - Parameter progress: Called with the number of documents read, and their total.
  /// - Returns: What is damaged or missing; empty if every state can be restored.
  /// - Throws: `DatastoreError`: `.notFound` if there is no backup; `.io`.
  /// - Complexity: O(*bytes*).
  public func verify(
    progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> [IntegrityFinding] {
    let contents = attachments
    var findings: [IntegrityFinding] = []
    var verified = Set<[UInt8]>()
    let (files, damage) = try files()
    if files.isEmpty, damage == nil { throw DatastoreError.noBackup(directory, oldest: nil) }
    let total = files.reduce(0) { $0 + ((try? BackupEnd(ofFileAt: $1.path))?.documents ?? 0) }
    var done = 0
    for (position, file) in files.enumerated() {
      do {
        var reader = try IncrementReader(file)
        var (documents, last) = (0, String?.none)
        while let line = try reader.next() {
          guard case .document(let input) = line, let id = input.id else { continue }
          if last?.hasSameBytes(as: id) != true { documents += 1 }
          last = id
          for attachment in try self.contents(of: input, in: contents, file) {
            guard let digest = attachment.digest, verified.insert(Array(digest.utf8)).inserted else {
              continue
            }
            do {
              try attachment.forEachChunk { _ in }
            } catch let error as DatastoreError {
              findings.append(IntegrityFinding(.attachment, documentID: id, error.message))
            }
          }
          progress(done + documents, max(total, done + documents))
        }
        let next = position + 1 < files.count ? files[position + 1] : nil
        try reader.check(documents: documents, expecting: next?.header.previousDigest)
        done += documents
      } catch let error as DatastoreError where error.code == .corrupt {
        findings.append(IntegrityFinding(.database, error.message))
      }
    }
    if let damage { findings.append(IntegrityFinding(.database, damage.message)) }
    return findings
  }
}

/// Reads the lines of an increment and computes their digest.
private struct IncrementReader {
  enum Line {
    case document(DocumentInput)
    case local(id: String, LocalDocument)
  }

  private let path: String
  private var lines: LineReader
  private var digest = Digest(.sha256)
  private var end: BackupEnd?

  init(_ file: Backup.File) throws {
    path = file.path
    lines = try LineReader(path)
    if let header = try lines.next() { add(header) }
  }

  private mutating func add(_ line: ArraySlice<UInt8>) {
    digest.update(line)
    digest.update(CollectionOfOne(UInt8(ascii: "\n")))
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
    do {
      if let local = try LocalLine.read(line) { return .local(id: local.id, local.document) }
      return .document(try line.withUnsafeBytes { try DocumentInput($0) })
    } catch {
      throw DatastoreError.damagedBackup(path, "a line is not a document: \(error)")
    }
  }

  /// Throws unless the file is as it was written. Call it at the end.
  ///
  /// - Parameter expected: The digest that the next increment names.
  mutating func check(documents: Int, expecting expected: String?) throws {
    guard let end else { throw DatastoreError.damagedBackup(path, "its end is missing") }
    let found = Hexadecimal.text(digest.finalize())
    digest = Digest(.sha256)
    guard found == end.digest, documents == end.documents else {
      throw DatastoreError.damagedBackup(path, "it differs from what was written")
    }
    guard expected == nil || expected == found else {
      throw DatastoreError.damagedBackup(path, "the next increment was made after another one")
    }
  }
}

/// A line of a local document.
enum LocalLine {
  static let prefix = "_local/"

  static func write(_ document: LocalDocument, id: String) -> [UInt8] {
    var json: JSONObject = ["_id": .string(prefix + id), "_rev": .string("0-\(document.revision)")]
    for (name, value) in document.body { json[name] = value }
    return json.utf8Text
  }

  /// - Returns: `nil` for the line of another document.
  /// - Throws: ``JSONError``.
  static func read(_ line: ArraySlice<UInt8>) throws -> (id: String, document: LocalDocument)? {
    guard line.starts(with: #"{"_id":"\#(prefix)"#.utf8) else { return nil }
    var json = try JSONObject(parsing: Array(line))
    guard let id = json["_id"]?.stringValue?.afterBytePrefix(prefix) else { return nil }
    let revision = json["_rev"]?.stringValue.flatMap(LocalDocument.revision) ?? 0
    (json["_id"], json["_rev"]) = (nil, nil)
    return (id, LocalDocument(body: json, revision: revision))
  }
}
