public import CDTDatastore
import CDTDigest
import CDTJSON
import CDTPlatform
import CDTQuery
import CouchDB

/// The result of a backup.
public struct BackupReport: Sendable, Hashable {
  /// The new state, or the newest one if nothing has changed since.
  public let increment: Backup.Increment
  /// The number of documents that changed, including deleted ones.
  public let documents: Int
  /// The number of their leaves.
  public let revisions: Int
  /// The number of contents of attachments that the backup did not have.
  public let attachments: Int
  /// The number of bytes written, without attachments; 0 if nothing has changed.
  public let bytes: Int64
  /// The attachments whose content is missing or damaged. Their documents were saved without them.
  public let losses: [IntegrityFinding]
}

extension Datastore {
  /// Backs up what has changed since the last backup in a directory, all documents the first time.
  ///
  /// ```swift
  /// let report = try store.backup(to: "/backup/people")
  /// print(report.documents, "documents up to sequence", report.increment.sequence)
  /// ```
  ///
  /// One state of the datastore is saved while it is open and written to: every leaf of each changed document with its history,
  /// attachments once for each content, the local documents if any changed, and the definitions of the indexes. When the call returns, it
  /// is on disk. A call that is interrupted leaves the backup as it was.
  ///
  /// An attachment whose content is missing or damaged is left out: the report names it, and so do `Backup.verify(progress:)` and
  /// `restore(from:at:progress:)`. The next change of its document saves it, if it can be read again.
  ///
  /// The backup of an encrypted datastore is encrypted with its data key, and has a copy of `encryption.json`, which each call
  /// brings up to date: a new passphrase of the datastore is also the backup's from the next call on.
  ///
  /// - Parameters:
  ///   - directory: The backup's directory, which is created if it does not exist; its parent must exist.
  ///   - progress: Called with the number of documents saved, and their total.
  /// - Throws: `DatastoreError`: `.unknownSequence` if the directory has the backup of another datastore, `.wrongKey` if it has one that
  ///   is not encrypted with the datastore's data key, or is encrypted and the datastore is not; `.busy` if another process writes to it, `.conflict` if it has other files, `.corrupt` if a file of the
  ///   backup is damaged or missing, `.full`, `.io`.
  /// - Complexity: O(*changes* + *increments*), as the header of each increment is read.
  @discardableResult
  public func backup(
    to directory: String, progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> BackupReport {
    try BackupRun(of: self, to: directory, stop: nil).run(progress)
  }

  /// Backs up what has changed since the last backup in a directory, on one of the datastore's threads.
  @discardableResult
  public func backup(
    to directory: String, progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws -> BackupReport {
    try await runLong { try BackupRun(of: self, to: directory, stop: $0).run(progress) }
  }

  /// Backs up the datastore for a client of a server, on threads for that.
  package func backupForClient(to directory: String) async throws {
    _ = try await runBackup { try BackupRun(of: self, to: directory, stop: $0).run { _, _ in } }
  }
}

/// A backup in progress.
private struct BackupRun {
  private let store: Datastore
  private let backup: BackupFiles
  private let stop: StopSignal?

  /// The number of documents whose changes are read at once.
  private static let page = 1_000

  init(of store: Datastore, to directory: String, stop: StopSignal?) {
    (self.store, self.stop) = (store, stop)
    backup = BackupFiles(directory: directory, keys: store.keys?.ofBackups)
  }

  func run(_ progress: (_ done: Int, _ total: Int) -> Void) throws -> BackupReport {
    try FileSystem.makeDirectory(backup.directory)
    // A datastore locks its own directory.
    try BackupFiles.check(backup.directory)
    let hold = try store.suspension.holdFiles()
    defer { _ = hold }
    let lock = try FileSystem.perform("lock", backup.directory, OpenFile(backup.directory, for: .directory))
    guard try FileSystem.perform("lock", backup.directory, lock.lock()) else {
      throw DatastoreError.backupInUse(backup.directory)
    }
    defer { lock.unlock() }
    try store.copyKeyFile(
      toBackupIn: backup.directory, isNew: !BackupFiles.haveIncrements(in: backup.directory))
    let last = try backup.newest()
    // Indexes that design documents declare are defined before the state is read.
    let indexes = try store.indexDefinitionsJSON()
    return try store.readSnapshot(stop: stop) { transaction in
      transaction.ignoreRules()
      return try save(transaction, indexes, after: last, progress)
    }
  }

  private func save(
    _ transaction: ReadTransaction, _ indexes: JSONValue, after last: BackupFiles.File?,
    _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws -> BackupReport {
    let sequence = try transaction.lastSequence()
    let since = last?.header.sequence ?? 0
    if let last { try check(last.header, transaction, sequence) }
    let locals = try localDocuments(transaction)
    let header = BackupHeader(
      number: (last?.header.number ?? 0) + 1, store: store.storeID, time: BackupHeader.now,
      sequence: sequence, session: try transaction.session(of: sequence) ?? "",
      previousDigest: try last.map { try BackupEnd(of: $0).digest } ?? "", indexes: indexes,
      localDigest: Self.digest(of: locals))
    if let last, since == sequence, last.header.localDigest == header.localDigest,
      last.header.indexes == indexes
    {
      return BackupReport(
        increment: last.increment, documents: 0, revisions: 0, attachments: 0, bytes: 0, losses: [])
    }
    let writer = try IncrementWriter(number: header.number, of: backup)
    try writer.write(header.json.utf8Text)
    if header.localDigest != last?.header.localDigest { for local in locals { try writer.write(local) } }
    let total = try transaction.changeCount(since: since)
    var (position, done, revisions) = (since, 0, 0)
    while done < total {
      let changes = try transaction.changes(since: position, limit: Self.page)
      for change in changes.documents {
        try stop?.check()
        revisions += try save(change, transaction, writer)
      }
      position = changes.lastSequence
      done += changes.documents.count
      progress(done, total)
    }
    try writer.finish(documents: done)
    try FileSystem.synchronize(backup.directory)
    return BackupReport(
      increment: Backup.Increment(number: header.number, time: header.time, sequence: sequence),
      documents: done, revisions: revisions, attachments: writer.newContents, bytes: writer.length,
      losses: writer.losses)
  }

  /// Throws unless the last state is one of this datastore's past. A store that was copied back from elsewhere has written other
  /// documents under the same sequences, in other sessions.
  private func check(_ last: BackupHeader, _ transaction: ReadTransaction, _ sequence: Int64) throws {
    let session = try transaction.session(of: last.sequence)
    guard last.store == store.storeID, last.sequence <= sequence, session == nil || session == last.session
    else {
      throw DatastoreError.backupOfAnother(backup.directory)
    }
  }

  /// Writes the leaves of a document.
  ///
  /// - Returns: Their number.
  private func save(
    _ change: Change, _ transaction: ReadTransaction, _ writer: IncrementWriter
  ) throws -> Int {
    let leaves = try transaction.leaves(of: change)
    var options = DocumentOptions()
    options.revisions = true
    options.attachments = true
    let text = DocumentText(transaction, options)
    for leaf in leaves {
      var revision = try transaction.document(withID: change.id, revisionID: leaf)
      var losses: [IntegrityFinding] = []
      for attachment in revision.attachments {
        do {
          try writer.save(attachment)
        } catch let error as DatastoreError where error.isLostContent {
          try store.checkFile()
          revision.attachments[attachment.name] = nil
          losses.append(IntegrityFinding(.attachment, documentID: change.id, error.message))
        }
      }
      try writer.write(try text.text(of: revision, content: .follows))
      for loss in losses { try writer.write(loss) }
    }
    return leaves.count
  }

  private func localDocuments(_ transaction: ReadTransaction) throws -> [[UInt8]] {
    try transaction.localDocumentIDs().compactMap { id in
      try transaction.localDocumentEntry(withID: id)?.line(withID: id)
    }
  }

  private static func digest(of lines: [[UInt8]]) -> String {
    var digest = Digest(.sha256)
    for line in lines {
      digest.update(line)
      digest.update([UInt8(ascii: "\n")])
    }
    return Hexadecimal.text(digest.finalize())
  }
}

/// Writes the lines of an increment, which gets its name when all are on disk.
private final class IncrementWriter {
  private let path: String
  private let draft: DraftFile
  private var file: ContentFileWriter
  private let contents: AttachmentFiles
  private var buffer: [UInt8] = []
  private var digest = Digest(.sha256)
  /// The length of the file, when it is finished.
  private(set) var length: Int64 = 0
  private(set) var newContents = 0
  private(set) var losses: [IntegrityFinding] = []

  private static let chunk = 256 * 1024

  init(number: Int, of backup: BackupFiles) throws {
    path = backup.path(of: number)
    contents = backup.attachments
    draft = try FileSystem.perform("create", path, DraftFile(for: path, isPrivate: true))
    file = ContentFileWriter(to: draft.file, key: backup.keys?.increments)
  }

  func write(_ line: [UInt8]) throws {
    buffer += line
    buffer.append(UInt8(ascii: "\n"))
    if buffer.count >= Self.chunk { try flush() }
  }

  func write(_ loss: IntegrityFinding) throws {
    losses.append(loss)
    try write(BackupLoss.json(loss).utf8Text)
  }

  private func flush() throws {
    digest.update(buffer)
    try FileSystem.perform(
      "write", path,
      buffer.withUnsafeBufferPointer { bytes throws(SystemError) in
        try file.write(UnsafeRawBufferPointer(bytes))
      })
    buffer.removeAll(keepingCapacity: true)
  }

  /// Saves the content of an attachment, unless it is there.
  func save(_ attachment: DocumentAttachment) throws {
    guard try contents.adopt(attachment) else { return }
    newContents += 1
  }

  func finish(documents: Int) throws {
    try flush()
    try write(BackupEnd(digest: Hexadecimal.text(digest.finalize()), documents: documents).json.utf8Text)
    try flush()
    if newContents > 0 { try contents.synchronize() }
    try FileSystem.perform("write", path, file.finish())
    length = try FileSystem.perform("read", path, draft.file.length())
    try FileSystem.perform("create", path, draft.publish())
  }
}
