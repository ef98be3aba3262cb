package import CDTPlatform

/// The loss of a part of a write-ahead log, which SQLite does not report: it opens the log up to the first frame that is
/// not valid, as after a power failure.
///
/// Two things tell how many frames were committed: the index of the log (`-shm`), if the processes that used the log were
/// killed, and the frames after the one that is not valid (``WriteAheadLog/Rest``). With the durability FULL a commit is on
/// disk before it is counted or followed by another frame, so fewer frames mean damage. The header of the index is only
/// compared with a log of the same salt: one of another salt was begun later.
///
/// Source: https://sqlite.org/walformat.html
package enum LogLoss: Sendable, Hashable {
  /// The log has no valid header, although it was written.
  case header
  /// The number of committed frames that are valid, and the number that there were.
  case frames(found: Int, of: Int)

  /// The loss of a database's log; `nil` if there is none, if nothing tells, or if the database is open: SQLite reads the
  /// log when the first connection opens the database, and damage done later is not noticed.
  ///
  /// - Parameter cipher: The keys of an encrypted database.
  /// - Complexity: O(*n*) in the length of the log, if a process was killed; otherwise O(1).
  package static func find(
    inLogOf path: String, cipher: DatabaseCipher? = nil
  ) throws(SystemError) -> LogLoss? {
    guard let file = FileIdentity(path) else { return nil }
    return try OpenDatabases.ifClosed(file) { () throws(SystemError) in try findWhileClosed(path, cipher) }
  }

  /// Whether a file is a write-ahead log.
  package static func hasHeader(_ path: String) throws(SystemError) -> Bool {
    guard let file = try existing(path) else { return false }
    return WriteAheadLog.pageSize(of: try file.bytes(at: 0, count: WriteAheadLog.headerLength)) != nil
  }

  private static func findWhileClosed(_ path: String, _ cipher: DatabaseCipher?) throws(SystemError)
    -> LogLoss?
  {
    guard let file = try existing(LogFile.path(of: path)) else { return nil }
    let header = try file.bytes(at: 0, count: WriteAheadLog.headerLength)
    guard !header.isEmpty, try !isOpenElsewhere(path) else { return nil }
    let index = try existing("\(path)-shm").map { file throws(SystemError) in try LogIndex(file) } ?? nil
    guard let pageSize = WriteAheadLog.pageSize(of: header) else {
      return try hasContent(file, header) ? .header : nil
    }
    let known = index?.salt == Array(header[16..<24]) ? index : nil
    if let known, known.frames <= known.copiedFrames { return nil }
    let log = try WriteAheadLog(file, pageSize: pageSize, cipher: cipher)
    if let known, log.validFrames >= known.frames { return nil }
    let rest = try log.rest(of: file, pageSize: pageSize)
    guard known != nil || rest.hasCommits else { return nil }
    // Another process may have begun the log again in the meantime.
    guard try file.bytes(at: 0, count: header.count) == header else { return nil }
    return .frames(found: log.validFrames, of: max(known?.frames ?? 0, log.validFrames + rest.frames))
  }

  /// Whether another process has a database open: a connection has a shared lock of it as long as it uses the log. Without
  /// an answer of the system, the log is read.
  private static func isOpenElsewhere(_ path: String) throws(SystemError) -> Bool {
    try existing(path)?.isLocked(lockBytes) ?? false
  }

  /// The bytes at which SQLite locks a database. Source: https://sqlite.org/fileformat2.html, The Lock-Byte Page.
  private static let lockBytes: Range<Int64> = 0x4000_0000..<0x4000_0200

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
///
/// Only read it while no connection of this process has the database open: closing the file releases their locks.
package struct LogIndex {
  /// The number of committed pages that are only in the log of a database, after its process was killed; `nil` if nothing tells, or if
  /// the database is open.
  package static func pagesOnlyInLog(of path: String) -> Int? {
    guard let file = FileIdentity(path) else { return nil }
    let index = try? OpenDatabases.ifClosed(file) { () throws(SystemError) in
      try OpenFile.regular("\(path)-shm").flatMap { file throws(SystemError) in try LogIndex(file) }
    }
    return index.map { $0.frames - $0.copiedFrames }
  }

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
