public import CDTDatastore
public import CDTPlatform

/// A backup of a datastore: a directory with one file for each increment, and the attachments.
///
/// ```
/// 00000001.jsonl   the header, a line for each leaf of each document, and the end
/// 00000002.jsonl   the documents that changed since
/// attachments/     one file for each content, named by its SHA-1
/// ```
///
/// A line of a document is what CouchDB's `_bulk_docs` takes with `new_edits: false`: the revision with `_revisions`. Lines of local
/// documents have an `_id` that begins with `_local/`. The last line has the SHA-256 of what is before it, and each header that of the
/// previous file. Files appear when they are whole and on disk, and never change.
///
/// The backup of an encrypted datastore is encrypted: its increments are `00000001.sealed` and so on, the names of the attachments are
/// encrypted, too, and `encryption.json` has the key, encrypted with the datastore's secret.
///
/// ```swift
/// try store.backup(to: "/backup/people")
/// for increment in try Backup(directory: "/backup/people").increments() { print(increment.time, increment.sequence) }
/// ```
public struct Backup: Sendable {
  /// The directory's path.
  public let directory: String
  /// The secret of the datastore, if the backup is encrypted.
  public let encryption: Encryption?

  /// - Parameters:
  ///   - directory: The path of the directory, which need not exist.
  ///   - encryption: The secret of the datastore when it was backed up last, if it is encrypted.
  public init(directory: String, encryption: Encryption? = nil) {
    self.directory = directory
    self.encryption = encryption
  }

  /// A state of the datastore that a backup has.
  public struct Increment: Sendable, Hashable {
    /// 1 for the first, which has every document.
    public let number: Int
    /// The time at which its state was read.
    public let time: Date
    /// The datastore's sequence at this time.
    public let sequence: Int64
  }

  /// The state to restore.
  public enum Point: Sendable, Hashable {
    case newest
    /// The last increment whose time is not later, also if the clock has gone back between two.
    case time(Date)
    /// The last increment that has no change after a sequence.
    case sequence(Int64)
  }

  /// The increments, oldest first, up to the first one whose file is missing or not what a backup has written; none if there is no
  /// backup.
  ///
  /// - Throws: `DatastoreError`: `.wrongKey` if the secret is missing or wrong, or if one was given for a backup that is not
  ///   encrypted; `.corrupt` if the file with the key is missing or damaged; `.io`.
  /// - Complexity: O(*increments*).
  public func increments() throws -> [Increment] {
    try BackupFiles(self).files().intact.map(\.increment)
  }

  /// The name of the store in the directory that a database is replicated to before it is backed up.
  package static let mirror = "mirror"
}
