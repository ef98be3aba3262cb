import CDTPlatform

/// The name of a datastore as servers and `cdtquery` use it: the name of a datastore, or of a database in CouchDB.
///
/// | name | rule | longest |
/// |---|---|---|
/// | of a datastore | `^[a-zA-Z][a-zA-Z0-9_]*$` | 200 |
/// | of a database in CouchDB | `^[a-z][a-z0-9_$()+/-]*$`, or `_replicator` | 238 |
///
/// The methods of ``DatastoreManager`` that have a string take only names of datastores. Those that have a `DatabaseName` take
/// both:
///
/// ```swift
/// let tasks = try manager.datastore(named: DatabaseName("user-tasks/2026"))
/// tasks.name                   // user-tasks/2026
/// try manager.databaseNames()  // [user-tasks/2026]
/// ```
public struct DatabaseName: Hashable, Sendable, CustomStringConvertible {
  /// The name.
  public let description: String

  /// The database in which a server has its replications. Of the names that begin with `_`, it is the only one.
  package static let replicator = "_replicator"

  /// The maximum length of a datastore's name, supported by every file system.
  static let maximumLength = 200
  /// The maximum length of a database's name in CouchDB.
  private static let maximumLengthInCouchDB = 238
  /// The maximum length of a directory's name.
  private static let maximumDirectoryLength = 255

  /// Checks a name.
  ///
  /// - Throws: ``DatastoreError`` with the code `.invalidName` if it follows neither rule, or has more than 255 bytes
  ///   with `%2F` in place of each `/`.
  public init(_ name: String) throws(DatastoreError) {
    description = name
    guard Self.isOfDatastore(name) || isOfCouchDB || name == Self.replicator else {
      throw DatastoreError(.invalidDatabaseName(name))
    }
  }

  /// The name of the datastore in a directory.
  ///
  /// - Throws: ``DatastoreError`` with the code `.invalidName` if no datastore is stored in a directory of this name.
  package init(directoryName: String) throws(DatastoreError) {
    guard !directoryName.utf8.contains(UInt8(ascii: "/")),
      let name = try? DatabaseName(directoryName.replacing("%2F", with: "/"))
    else { throw DatastoreError(.invalidDatabaseName(directoryName)) }
    self = name
  }

  /// The name of a datastore, which can't be one that only CouchDB has.
  init(ofDatastore name: String) throws(DatastoreError) {
    guard Self.isOfDatastore(name) else { throw DatastoreError(.invalidName(name)) }
    description = name
  }

  /// The name of the directory: the name with `%2F` in place of each `/`.
  package var directoryName: String { description.replacing("/", with: "%2F") }

  /// Whether a manager takes the name as a string.
  var isOfDatastore: Bool { Self.isOfDatastore(description) }

  /// Whether a database in CouchDB can have the name, so that it can be replicated under the same name.
  package var isOfCouchDB: Bool {
    Self.hasCharactersOfCouchDB(description) && description.utf8.count <= Self.maximumLengthInCouchDB
      && directoryName.utf8.count <= Self.maximumDirectoryLength
  }

  private static func isOfDatastore(_ name: String) -> Bool {
    let bytes = name.utf8
    guard let first = bytes.first, bytes.count <= maximumLength, first.isLetter else { return false }
    return bytes.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
  }

  /// Whether a name that is not too long can be one of CouchDB.
  package static func hasCharactersOfCouchDB(_ name: String) -> Bool {
    let bytes = name.utf8
    guard let first = bytes.first, isLowerCase(first) else { return false }
    return bytes.allSatisfy { isLowerCase($0) || $0.isDigit || "_$()+-/".utf8.contains($0) }
  }

  private static func isLowerCase(_ byte: UInt8) -> Bool { 0x61...0x7A ~= byte }
}
