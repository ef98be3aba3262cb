import CDTPlatform
import CDTSQLite

/// Whether a store was ever written with the durability ``DatastoreOptions/Durability/normal``: then a log that lacks
/// its last writes is not damaged, as a power failure may have taken them.
///
/// An empty file in the store's directory says so.
enum RelaxedDurability {
  static let name = "durability-normal"

  /// Notes it, before the first such write.
  static func note(in directory: String) throws(DatastoreError) {
    let path = "\(directory)/\(name)"
    guard try FileSystem.kind(of: path) == nil else { return }
    // Not where a symbolic link leads.
    try FileSystem.perform("create", path, Files.makeFile(path))
    try FileSystem.synchronize(directory)
  }

  /// - Throws: ``DatastoreError`` with the code `.corrupt` if a part of the log is lost that SQLite would leave out.
  static func checkLog(of path: String, _ cipher: DatabaseCipher?) throws {
    let log = LogFile.path(of: path)
    let loss = try FileSystem.reading(log) { try LogLoss.find(inLogOf: path, cipher: cipher) }
    let mark = String(path.dropLast(DatabaseFile.name.count)) + name
    switch loss {
    case nil: return
    case .header: throw DatastoreError(.damaged(log, "its header is not valid"))
    case .frames(let found, let all):
      if try FileSystem.perform("read", mark, Files.exists(mark)) { return }
      throw DatastoreError(.damaged(log, "only \(found) of its \(all) pages are valid"))
    }
  }
}
