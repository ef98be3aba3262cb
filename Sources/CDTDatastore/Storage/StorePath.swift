import CDTPlatform
import CDTSQLite

/// The length of the path of a datastore's directory.
///
/// SQLite limits the absolute paths of databases. The paths of a datastore's directory, and of what extensions keep below
/// it, must all fit, so that a datastore is refused when it is opened and not when its first index is created.
enum StorePath {
  /// The longest path of a database below a datastore's directory.
  static let longestDatabase = "/extensions/com.cloudant.sync.query/indexes.sqlite.new"

  /// - Parameter directory: The path of a datastore's directory, which need not exist.
  /// - Throws: ``DatastoreError`` with the code `.io` if it is too long.
  static func check(_ directory: String) throws(DatastoreError) {
    let absolute = try absolute(directory)
    let longest = Connection.longestPath - longestDatabase.utf8.count
    guard absolute.utf8.count <= longest else { throw .longPath(absolute, longest: longest) }
  }

  /// The path without symbolic links, as SQLite uses it. The last component may be missing.
  private static func absolute(_ path: String) throws(DatastoreError) -> String {
    guard !path.utf8.contains(0) else { throw .invalidPath(path) }
    if let real = try FileSystem.perform("read", path, Files.realPath(path)) { return real }
    let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let parent = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let name = end.map { path[path.utf8.index(after: $0)...] } ?? path[...]
    // Without a parent, creating the directory fails.
    guard let real = try FileSystem.perform("read", parent, Files.realPath(parent)) else { return path }
    return real == "/" ? "/\(name)" : "\(real)/\(name)"
  }
}
