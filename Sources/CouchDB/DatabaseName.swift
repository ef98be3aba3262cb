/// The rules for the names of databases that are datastores: a letter, then letters, digits and `_`.
///
/// CouchDB's names are lower case and may contain `$()+-/`. Ours may have upper case letters, so that every datastore
/// of an app can be reached.
package enum DatabaseName {
  /// The maximum length of a datastore's name.
  package static let maximumLength = 200
  /// The maximum length of a name in CouchDB.
  private static let maximumLengthInCouchDB = 238

  /// Throws ``CouchError`` with status 400 if a datastore can't have the name, or it is the name of a system database,
  /// such as `_users`.
  package static func check(_ name: String) throws(CouchError) {
    let bytes = name.utf8
    guard let first = bytes.first, isLetter(first), bytes.allSatisfy(isAllowedInCouchDB) else {
      throw .illegalDatabaseName(name)
    }
    guard bytes.count <= maximumLengthInCouchDB else { throw .databaseNameTooLong(name) }
    guard bytes.count <= maximumLength, bytes.allSatisfy(isAllowed) else {
      throw .unsupportedDatabaseName(name)
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    0x61...0x7A ~= byte | 0x20
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    isLetter(byte) || 0x30...0x39 ~= byte || byte == UInt8(ascii: "_")
  }

  private static func isAllowedInCouchDB(_ byte: UInt8) -> Bool {
    isAllowed(byte) || "$()+-/".utf8.contains(byte)
  }
}
