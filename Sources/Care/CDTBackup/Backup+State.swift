public import CDTDatastore
import CDTDigest
import CDTPlatform

extension Backup {
  /// Opens a state as a datastore that can only be read.
  ///
  /// ```swift
  /// let (before, _) = try Backup(directory: backup).datastore(at: .sequence(report.increment.sequence))
  /// print(try before.find(["n": ["$lt": 5]]).count)
  /// ```
  ///
  /// The state is restored in a directory for temporary files, which is removed when nobody holds the datastore. The directory that a
  /// killed process has left is removed by the next call. Documents, revisions, attachments and indexes are those of the state,
  /// and documents have expired if they had at its time. Sequences are new. A write throws `.io`.
  ///
  /// - Parameters:
  ///   - point: The state.
  ///   - options: The options of the datastore. What is restored from an encrypted backup is encrypted with a random key.
  ///   - progress: Called with the number of documents restored, and how many there are at most.
  /// - Returns: The datastore; the state that it has, and what that lacks.
  /// - Throws: `DatastoreError`: `.notFound` if the backup does not have the state, `.corrupt` if it is damaged, `.wrongKey` if its
  ///   secret is missing or wrong, `.full`, `.io`.
  /// - Complexity: As of `Datastore.restore(from:at:progress:)`.
  public func datastore(
    at point: Point = .newest, options: DatastoreOptions = DatastoreOptions(),
    progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> (datastore: Datastore, report: RestoreReport) {
    var options = options
    options.encryption = encryption.map { _ in .key(RandomBytes.make(32)) }
    options.durability = .normal
    options.worksInBackground = false
    // Building the indexes would delete what has expired since.
    options.stateTime = try BackupFiles(self).files(upTo: point).last?.header.time.timeIntervalSince1970
    let manager = try DatastoreManager.temporary(options: options)
    let report = try manager.datastore(named: "state").restore(from: self, at: point, progress: progress)
    let time = report.increment.time.timeIntervalSince1970
    return (try manager.reopenDatastore(named: "state", asStateAt: time), report)
  }
}
