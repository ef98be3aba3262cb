package import CDTPlatform

/// The loss of a part of a write-ahead log, which SQLite does not report: it opens the log up to the first frame that is
/// not valid, as after a power failure.
///
/// The index of the log (`-shm`) tells how many frames were committed before its processes ended. With the durability
/// FULL these frames are on disk before they are counted, so fewer of them mean damage. Its header is only compared
/// with a log of the same salt: one of another salt was begun later.
///
/// Source: https://sqlite.org/walformat.html
package enum LogLoss: Sendable, Hashable {
  /// The log has no valid header, although it was written.
  case header
  /// The number of committed frames that are valid, and the number that there were.
  case frames(found: Int, of: Int)

  /// The loss of a database's log; `nil` if there is none, if nothing tells, or if this process has the database open.
  ///
  /// Other processes may use the database.
  package static func find(inLogOf path: String) throws(SystemError) -> LogLoss? {
    guard let file = FileIdentity(path) else { return nil }
    return try OpenDatabases.ifClosed(file) { () throws(SystemError) in try findWhileClosed(path) }
  }

  /// The same for a database that nobody has open. Without the index, frames after one that is not valid count as lost: a
  /// process that ended while it wrote them may have left them, but so may one that committed them.
  static func findAfterCrash(inLogOf path: String) throws(SystemError) -> LogLoss? {
    if let loss = try find(inLogOf: path) { return loss }
    // To open and close the index would release the locks that this process has on it.
    guard try FileStatus.ofFile(at: "\(path)-shm") == nil, let file = try existing("\(path)-wal") else {
      return nil
    }
    let header = try file.bytes(at: 0, count: WriteAheadLog.headerLength)
    guard let pageSize = WriteAheadLog.pageSize(of: header) else { return nil }
    let log = try WriteAheadLog(file, pageSize: pageSize)
    let following = try log.framesAfterDamage(in: file, pageSize: pageSize)
    return following == 0 ? nil : .frames(found: log.validFrames, of: log.validFrames + 1 + following)
  }

  /// Whether a file is a write-ahead log.
  package static func hasHeader(_ path: String) throws(SystemError) -> Bool {
    guard let file = try existing(path) else { return false }
    return WriteAheadLog.pageSize(of: try file.bytes(at: 0, count: WriteAheadLog.headerLength)) != nil
  }

  private static func findWhileClosed(_ path: String) throws(SystemError) -> LogLoss? {
    guard let file = try existing("\(path)-wal") else { return nil }
    let index = try existing("\(path)-shm").map { file throws(SystemError) in try LogIndex(file) } ?? nil
    let header = try file.bytes(at: 0, count: WriteAheadLog.headerLength)
    guard !header.isEmpty else { return nil }
    guard let pageSize = WriteAheadLog.pageSize(of: header) else {
      return try hasContent(file, header) ? .header : nil
    }
    guard let index, index.salt == Array(header[16..<24]), index.frames > index.copiedFrames else {
      return nil
    }
    let log = try WriteAheadLog(file, pageSize: pageSize)
    guard log.validFrames < index.frames else { return nil }
    // Another process may have begun the log again in the meantime.
    guard try file.bytes(at: 0, count: header.count) == header else { return nil }
    return .frames(found: log.validFrames, of: index.frames)
  }

  private static func existing(_ path: String) throws(SystemError) -> OpenFile? {
    do throws(SystemError) {
      return try OpenFile.regular(path)
    } catch {
      guard error.isMissing else { throw error }
      return nil
    }
  }

  /// Whether anything was written. Before the header is on disk, the file may have its length only.
  private static func hasContent(_ file: OpenFile, _ header: [UInt8]) throws(SystemError) -> Bool {
    if header.contains(where: { $0 != 0 }) { return true }
    var offset = Int64(header.count)
    while case let bytes = try file.bytes(at: offset, count: 64 * 1024), !bytes.isEmpty {
      if bytes.contains(where: { $0 != 0 }) { return true }
      offset += Int64(bytes.count)
    }
    return false
  }
}

/// The header of the index of a log, which processes share in memory.
private struct LogIndex {
  let frames: Int
  /// The number of frames that are also in the database file.
  let copiedFrames: Int
  let salt: [UInt8]

  /// - Returns: `nil` if it is not valid, as while a process changes it.
  init?(_ file: OpenFile) throws(SystemError) {
    let bytes = try file.bytes(at: 0, count: 136)
    guard bytes.count == 136, bytes[0..<48] == bytes[48..<96], bytes.native(at: 0) == 3_007_000,
      bytes[12] != 0
    else { return nil }
    var sum = LogChecksum(isBigEndian: UInt32(1).bigEndian == 1)
    sum.add(bytes[..<40])
    guard sum.equalsNative(bytes, at: 40) else { return nil }
    frames = Int(bytes.native(at: 16))
    copiedFrames = Int(bytes.native(at: 96))
    salt = Array(bytes[32..<40])
  }
}
