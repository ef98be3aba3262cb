import CDTPlatform
import CDTSQLite

/// Tells a datastore's `db.sync`, damaged or not, from a file of another program.
package enum FileOwner {
  /// - Throws: ``DatastoreError`` with the code `.corrupt` if no datastore has written the file.
  package static func check(_ path: String) throws {
    try FileSystem.reading(path) {
      let owner = try DatabaseOwner(of: path)
      switch owner {
      case .application(DatabaseFile.applicationID), .unknown(hasCheckedPages: true), .empty, .encrypted:
        return
      // SQLite's log of a file whose header is damaged, or the seals of an encrypted one, whose pages look like random bytes.
      case .unknown
      where try LogLoss.hasHeader(LogFile.path(of: path)) || Files.exists(path + LogFile.sealsSuffix): return
      case .unknown: throw DatastoreError(.unknownFile(path))
      case .application: throw DatastoreError(.foreignFile(path))
      }
    }
  }
}
