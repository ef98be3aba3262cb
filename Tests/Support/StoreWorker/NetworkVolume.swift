import CDTCSQLite
import CDTDatastore
import CDTJSON

/// Opens the datastore `store` where SQLite has no shared memory, as on a network volume of a Mac.
enum NetworkVolume {
  static func run(in directory: String) throws -> JSONObject {
    sqlite3_vfs_register(sqlite3_vfs_find("unix-dotfile"), 1)
    let manager = try DatastoreManager(directory: directory)
    do {
      _ = try manager.datastore(named: "store")
      return [:]
    } catch let error as DatastoreError {
      return ["code": .string(error.code.description), "message": .string(error.message)]
    }
  }
}
