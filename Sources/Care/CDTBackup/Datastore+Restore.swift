public import CDTDatastore
import CDTDigest
import CDTJSON
import CDTPlatform
import CDTQuery
import CouchDB

/// The result of a restore.
public struct RestoreReport: Sendable, Hashable {
  /// The state.
  public let increment: Backup.Increment
  /// The attachments that the state does not have, as their content was missing or damaged when it was saved.
  public let losses: [IntegrityFinding]
}

extension Datastore {
  /// Restores a state of a backup into this datastore, which must be new.
  ///
  /// ```swift
  /// let saved = try manager.datastore(named: "people2")
  /// try saved.restore(from: Backup(directory: "/backup/people"), at: .time(yesterday))
  /// ```
  ///
  /// The documents get the leaves and the histories that they had, and the indexes are declared and built. Sequences are new, and
  /// replicators begin again. If the call fails, delete the datastore: part of the documents may be in it. The options of this
  /// datastore say whether it is encrypted, not the backup.
  ///
  /// - Parameters:
  ///   - point: The state to restore.
  ///   - progress: Called with the number of documents restored, and how many there are at most.
  /// - Returns: The state that was restored, and what it lacks.
  /// - Throws: `DatastoreError`: `.notFound` if the backup does not have the state, `.corrupt` if it is damaged, `.wrongKey` if its
  ///   secret is missing or wrong, `.conflict` if this datastore has documents; the errors of a write.
  /// - Complexity: O(*n*) in the number of documents in the backup's files; memory for the ids of those that changed after the first.
  @discardableResult
  public func restore(
    from backup: Backup, at point: Backup.Point = .newest,
    progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> RestoreReport {
    try Restoration(of: self, from: backup, stop: nil).run(point, progress)
  }

  /// Restores a state of a backup into this datastore, which must be new, on one of its threads.
  @discardableResult
  public func restore(
    from backup: Backup, at point: Backup.Point = .newest,
    progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws -> RestoreReport {
    try await runLong { try Restoration(of: self, from: backup, stop: $0).run(point, progress) }
  }
}

/// A restoration in progress. It reads the newest increment first: what it has of a document is all that the document was.
private struct Restoration {
  private let store: Datastore
  private let backup: BackupFiles
  private let contents: AttachmentFiles
  private let stop: StopSignal?

  /// The number of lines that are saved in one transaction.
  private static let batch = 1_000

  init(of store: Datastore, from backup: Backup, stop: StopSignal?) throws {
    self.backup = try BackupFiles(backup)
    (self.store, self.stop) = (store, stop)
    contents = self.backup.attachments
  }

  func run(
    _ point: Backup.Point, _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws -> RestoreReport {
    guard try store.read({ try $0.lastSequence() }) == 0 else { throw DatastoreError.notEmpty(store.name) }
    let files = try backup.files(upTo: point)
    guard let last = files.last else { throw DatastoreError.noBackup(backup.directory, oldest: nil) }
    let counts = try files.map { try BackupEnd(of: $0).documents }
    let total = counts.reduce(0, +)
    var (seen, done) = (Set<KeyBytes>(), 0)
    var expected: String?
    var losses: [IntegrityFinding] = []
    // The newest file with other local documents than the one before has all of them; it has no lines if they were deleted.
    let locals = files.indices.last {
      $0 == files.startIndex || files[$0].header.localDigest != files[$0 - 1].header.localDigest
    }
    for (position, count) in zip(files.indices, counts).reversed() {
      let file = files[position]
      losses += try restore(file, expecting: expected, without: &seen, locals: position == locals) {
        progress(done + $0, total)
      }
      done += count
      expected = file.header.previousDigest
    }
    if let loss = try store.createIndexes(ofBackup: last.header.indexes).first {
      throw DatastoreError.damagedBackup(last.path, loss.description)
    }
    return RestoreReport(increment: last.increment, losses: losses)
  }

  /// Restores the documents of a file that are not in a newer one.
  ///
  /// - Parameter locals: Whether its local documents are those of the state.
  /// - Returns: The losses of the restored documents.
  private func restore(
    _ file: BackupFiles.File, expecting digest: String?, without seen: inout Set<KeyBytes>, locals: Bool,
    _ progress: (_ documents: Int) -> Void
  ) throws -> [IntegrityFinding] {
    var reader = try IncrementReader(file)
    var losses: [IntegrityFinding] = []
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
      try store.write(stop: stop) { transaction in
        transaction.ignoreRules()
        let saving = DocumentSaving(transaction)
        for line in batch {
          switch line {
          case .local(let id, let document):
            if locals {
              try transaction.setLocalDocument(DatabaseIdentity.renewed(document, withID: id), withID: id)
            }
          case .loss(let loss):
            if loss.documentID.map({ seen.contains(KeyBytes($0)) }) != true { losses.append(loss) }
          case .document(let id, let input):
            let key = KeyBytes(id)
            if seen.contains(key) { continue }
            // The first increment has each document once and nothing is older.
            if file.header.number > 1 { mine.insert(key) }
            do {
              _ = try saving.insert(
                input, id: id, uploads: Attachments(backup.contents(of: input, in: contents, file)))
            } catch let error as CouchError {
              throw DatastoreError.damagedBackup(file.path, "document \(DatastoreError.quoted(id)): \(error)")
            } catch let error as DatastoreError where error.code == .notFound {
              throw DatastoreError.damagedBackup(
                file.path, "the content of an attachment of document \(DatastoreError.quoted(id)) is missing")
            }
          }
        }
      }
      progress(reader.documents)
    }
    try reader.check(expecting: digest)
    seen.formUnion(mine)
    return losses
  }
}
