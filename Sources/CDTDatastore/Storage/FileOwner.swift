import CDTPlatform
import CDTSQLite

/// Tells a datastore's `db.sync`, damaged or not, from a file of another program.
package enum FileOwner {
  /// - Throws: ``DatastoreError`` with the code `.corrupt` if no datastore has written the file.
  package static func check(_ path: String) throws(DatastoreError) {
    do {
      let owner = try DatabaseOwner(of: path)
      switch owner {
      case .application(DatabaseFile.applicationID), .unknown(hasCheckedPages: true), .empty: return
      // SQLite's log of a file whose header is damaged.
      case .unknown where try LogLoss.hasHeader("\(path)-wal"): return
      case .unknown: throw DatastoreError.unknownFile(path)
      case .application: throw DatastoreError.foreignFile(path)
      }
    } catch let error as DatastoreError {
      throw error
    } catch let error as SQLiteError {
      throw DatastoreError(error, path: path)
    } catch let error as SystemError {
      throw DatastoreError(error, "read", path)
    } catch {
      throw .system("read", path, "\(error)", isFull: false)
    }
  }
}
