import CDTSQLite

extension DatabaseFile {
  /// Opens a file that can only be read. The directory must stay in place (``StoreDirectory``).
  ///
  /// - Returns: The connection and the unique id of the store.
  /// - Throws: ``DatastoreError``, also if the file is of an older format, as it can't be upgraded.
  static func openReading(
    in directory: String, _ access: FileAccess, options: DatastoreOptions, _ cipher: DatabaseCipher?
  ) throws -> (connection: Connection, storeID: String) {
    let path = path(in: directory)
    try RelaxedDurability.checkLog(of: path, cipher)
    return try FileSystem.reading(path) {
      let connection = try Connection(
        path: path, mode: access.mode, busyTimeout: options.busyTimeout,
        copiedPages: copiedPages(cipher), in: directory, cipher: cipher)
      do {
        let found = try connection.transaction(.deferred) { try check(connection, path) }
        guard found >= versionWithoutChecksums else {
          throw DatastoreError(.olderFormat(path, version: found))
        }
        return (connection, try storeID(connection, path))
      } catch {
        connection.close()
        throw error
      }
    }
  }
}
