import CDTPlatform

/// The path of a database's write-ahead log.
package enum LogFile {
  /// What SQLite adds to the path of a database.
  static let suffix = "-wal"
  /// What the log of an encrypted database has instead.
  static let encryptedSuffix = "-log"

  /// What follows the path of an encrypted database in the name of its ``PageSeals``.
  package static let sealsSuffix = PageSeals.suffix

  /// What may follow the path of a database in the names of its other files.
  package static let suffixes = [suffix, encryptedSuffix, PageSeals.suffix, "-shm", "-journal"]

  /// The log that is there, or would be.
  package static func path(of database: String) -> String {
    let encrypted = database + encryptedSuffix
    return (try? Files.exists(encrypted)) == true ? encrypted : database + suffix
  }
}
