import CDTPlatform

/// The path of a database's write-ahead log.
package enum LogFile {
  /// The suffix that SQLite adds to the path of a database.
  static let suffix = "-wal"
  /// The suffix of the log of an encrypted database.
  static let encryptedSuffix = "-log"

  /// The suffix of the ``PageSeals`` of an encrypted database.
  package static let sealsSuffix = PageSeals.suffix

  /// The suffixes that the other files of a database may have.
  package static let suffixes = [suffix, encryptedSuffix, PageSeals.suffix, "-shm", "-journal"]

  /// The log that is there, or would be.
  package static func path(of database: String) -> String {
    let encrypted = database + encryptedSuffix
    return (try? Files.exists(encrypted)) == true ? encrypted : database + suffix
  }
}
