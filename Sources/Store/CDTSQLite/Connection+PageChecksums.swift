import CDTCSQLite

extension Connection {
  /// Whether the pages of a database have checksums.
  ///
  /// - Throws: ``SQLiteError`` if the connection is closed.
  package func hasPageChecksums(in schema: String = "main") throws(SQLiteError) -> Bool {
    guard let handle else { throw .closed(nil) }
    return CheckedFile.of(schema, in: handle)?.hasCodedPages ?? false
  }

  /// Reserves space for checksums, or for the seals of encryption, in the pages of a new database, or of an existing one when it is rewritten by
  /// `VACUUM`. Source: SQLITE_FCNTL_RESERVE_BYTES.
  package func reservePageChecksums() {
    var length = Int32(cipher == nil ? PageChecksum.length : DatabaseCipher.reservedLength)
    if let handle { _ = sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &length) }
  }
}
