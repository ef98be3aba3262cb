import CDTCSQLite

extension Connection {
  /// Whether the pages of a database have checksums.
  ///
  /// - Throws: ``SQLiteError`` if the connection is closed.
  package func hasPageChecksums(in schema: String = "main") throws(SQLiteError) -> Bool {
    guard let handle else { throw .closed(nil) }
    var isChecked: Int64 = 0
    _ = sqlite3_file_control(handle, schema, CheckedFile.isCheckedOperation, &isChecked)
    return isChecked != 0
  }

  /// Reserves space for checksums, or for the seals of encryption, in the pages of a new database, or of an existing one when it is rewritten by
  /// `VACUUM`. Source: SQLITE_FCNTL_RESERVE_BYTES.
  package func reservePageChecksums() {
    var length = Int32(cipher == nil ? PageChecksum.length : DatabaseCipher.reservedLength)
    if let handle { _ = sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &length) }
  }
}

/// A page of a database that differs from what was written.
struct DamagedPage {
  let file: String
  let number: Int64

  /// The page that the last call on a connection found damaged.
  static func last(of connection: OpaquePointer) -> DamagedPage? {
    var index: Int32 = 0
    while let name = sqlite3_db_name(connection, index) {
      var number: Int64 = 0
      let code = sqlite3_file_control(connection, name, CheckedFile.damagedPageOperation, &number)
      if code == SQLITE_OK, number > 0, let file = sqlite3_db_filename(connection, name) {
        return DamagedPage(file: String(cString: file), number: number)
      }
      index += 1
    }
    return nil
  }
}
