package import CDTPlatform

/// The path of a database's write-ahead log.
package enum LogFile {
  /// The suffix that SQLite adds to the path of a database.
  package static let suffix = "-wal"
  /// The suffix of the log of an encrypted database.
  static let encryptedSuffix = "-log"

  /// The suffix of the ``PageSeals`` of an encrypted database.
  package static let sealsSuffix = PageSeals.suffix

  /// The suffixes of logs, one of which a database in use has. SQLite locks other files.
  package static let logSuffixes = [suffix, encryptedSuffix]

  /// The suffixes that the other files of a database may have.
  package static let suffixes = [suffix, encryptedSuffix, PageSeals.suffix, "-shm", "-journal"]

  /// The log that is there, or would be.
  package static func path(of database: String) -> String {
    let encrypted = database + encryptedSuffix
    let isEncrypted = (try? Files.exists(encrypted)) == true || isPlaceTaken(besideDatabase: database)
    return isEncrypted ? encrypted : database + suffix
  }

  // MARK: The place of SQLite's log

  /// Makes a directory in the place of SQLite's log, so that another program can't open an encrypted database, in which it finds
  /// SQLite's mark. Otherwise it would write the index of its own, empty log, `-shm`, which is also the index of ours.
  ///
  /// - Returns: `false` if there is a file.
  static func takePlace(besideDatabase path: String) -> Bool {
    do throws(SystemError) {
      try Files.makeDirectory(path + suffix)
      return true
    } catch {
      // On a full disk, a store can still be read.
      return (try? Files.kind(of: path + suffix, followsLinks: false)) ?? .directory == .directory
    }
  }

  /// Whether there is a directory in the place of SQLite's log.
  private static func isPlaceTaken(besideDatabase path: String) -> Bool {
    (try? Files.kind(of: path + suffix, followsLinks: false)) == .directory
  }

  /// Removes a file of a database, or the directory in the place of SQLite's log.
  package static func remove(_ path: String) throws(SystemError) {
    guard path.hasSuffix(suffix), try Files.kind(of: path, followsLinks: false) == .directory else {
      return try Files.remove(path)
    }
    try Files.removeDirectory(path)
  }
}
