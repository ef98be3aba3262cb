import CDTCSQLite
import CDTPlatform

/// The pages that a write-ahead log adds to its database, read without SQLite.
///
/// Source: https://sqlite.org/fileformat2.html, The Write-Ahead Log.
struct WriteAheadLog {
  /// The offset in the log of each page's newest committed content.
  private(set) var offsets: [Int64: Int64] = [:]
  /// The size of the database in pages after the last commit; 0 without a commit.
  private(set) var pageCount: Int64 = 0
  /// The number of frames up to the last commit.
  private(set) var committedFrames = 0
  /// The number of frames whose checksums are right, one after the other.
  private(set) var validFrames = 0
  /// Identifies the frames that were written since the log was last restarted.
  private var salt: [UInt8] = []

  /// The log that opens the frames of an encrypted database.
  private let sealed: SealedLog?

  /// The checksum of the header, which that of the first frame continues.
  private var first = LogChecksum(isBigEndian: false)

  static let headerLength = 32

  /// - Parameters:
  ///   - pageSize: The size of the database's pages in bytes; a log for another size has no pages.
  ///   - cipher: The keys of an encrypted database.
  /// - Returns: A log without pages if its header is not valid.
  init(_ file: OpenFile, pageSize: Int, cipher: DatabaseCipher?) throws(SystemError) {
    sealed = cipher.map(SealedLog.init)
    let header = try file.bytes(at: 0, count: Self.headerLength)
    guard Self.pageSize(of: header) == pageSize else { return }
    salt = Array(header[16..<24])
    first = Self.checksum(of: header)
    try readFrames(file, pageSize)
  }

  /// The size of pages according to a log's header; `nil` if the header is not valid.
  static func pageSize(of header: [UInt8]) -> Int? {
    guard header.count == headerLength, header.bigEndian(at: 0) & ~1 == 0x377F_0682,
      checksum(of: header).equals(header, at: 24)
    else { return nil }
    let size = Int(header.bigEndian(at: 8))
    return (512...65_536).contains(size) && size & (size - 1) == 0 ? size : nil
  }

  private static func checksum(of header: [UInt8]) -> LogChecksum {
    var sum = LogChecksum(isBigEndian: header.bigEndian(at: 0) & 1 == 1)
    sum.add(header[..<24])
    return sum
  }

  /// The part of a log from its first frame that is not valid.
  ///
  /// The checksum of a frame continues that of the frame before. So frames after a damaged one can be verified with the
  /// checksum that is stored in its header, or in that of a later frame.
  struct Rest {
    /// The number of frames up to the last one that belongs to this log by its salt, with the one that is not valid.
    var frames = 0
    /// The number of those that were verified.
    var verifiedFrames = 0
    /// Whether the log has lost writes that were committed: a frame that ends a transaction is followed by one of the next
    /// transaction, which a connection only writes when the former is on disk.
    var hasCommits = false
    fileprivate var offsets: [Int64: Int64] = [:]
    fileprivate var pageCount: Int64 = 0
  }

  /// Reads the frames after the first one that is not valid. What is left of a transaction that was rolled back, or that a
  /// process has not finished, may be among them.
  func rest(of file: OpenFile, pageSize: Int) throws(SystemError) -> Rest {
    var rest = Rest()
    guard !salt.isEmpty else { return rest }
    var frames = LogFrames(file, pageSize: pageSize, sealed: sealed, from: validFrames)
    var sum: LogChecksum?
    var uncommitted: [Int64: Int64] = [:]
    var followsCommit = false
    var number = 0
    while let frame = try frames.next() {
      number += 1
      guard frame.salt.elementsEqual(salt) else {
        (sum, followsCommit) = (nil, false)
        continue
      }
      rest.frames = number
      let isVerified =
        sum.map { before in
          var sum = before
          frame.add(to: &sum)
          return frame.isSum(sum)
        } ?? false
      sum = frame.storedSum(like: first)
      if followsCommit, isVerified {
        rest.hasCommits = true
        rest.offsets.merge(uncommitted) { $1 }
        uncommitted = [:]
      }
      followsCommit = false
      guard isVerified else { continue }
      rest.verifiedFrames += 1
      uncommitted[frame.page] = frame.offset
      if frame.databaseSize > 0 {
        followsCommit = true
        rest.pageCount = frame.databaseSize
      }
    }
    // The last commit of a log that has lost others.
    if rest.hasCommits, followsCommit { rest.offsets.merge(uncommitted) { $1 } }
    return rest
  }

  /// Adds the pages of ``Rest``: the newest content of each that can be verified.
  mutating func add(_ rest: Rest) {
    guard rest.hasCommits else { return }
    offsets.merge(rest.offsets) { $1 }
    pageCount = rest.pageCount
  }

  /// The content of a page at one of ``offsets``; `nil` if it is missing.
  func page(at offset: Int64, in file: OpenFile, pageSize: Int) throws(SystemError) -> [UInt8]? {
    let header = LogFrames.headerLength
    var frame = try file.bytes(at: offset - Int64(header), count: header + pageSize)
    guard frame.count == header + pageSize else { return nil }
    let number = (offset - Int64(Self.headerLength)) / Int64(header + pageSize)
    if let sealed, !sealed.open(&frame, number: number) { return nil }
    return Array(frame[header...])
  }

  private mutating func readFrames(_ file: OpenFile, _ pageSize: Int) throws(SystemError) {
    var sum = first
    var uncommitted: [Int64: Int64] = [:]
    var frames = LogFrames(file, pageSize: pageSize, sealed: sealed, from: 0)
    while let frame = try frames.next(), frame.salt.elementsEqual(salt) {
      frame.add(to: &sum)
      guard frame.isSum(sum) else { return }
      validFrames += 1
      uncommitted[frame.page] = frame.offset
      guard frame.databaseSize > 0 else { continue }
      offsets.merge(uncommitted) { $1 }
      uncommitted = [:]
      (pageCount, committedFrames) = (frame.databaseSize, validFrames)
    }
  }
}

/// The frames of a log, one after the other.
struct LogFrames {
  private let file: OpenFile
  private let length: Int
  private let sealed: SealedLog?
  private var number: Int
  /// The frames that were read and not returned yet.
  private var rest: ArraySlice<UInt8> = []

  static let headerLength = 24
  private static let framesPerRead = 64

  struct Frame {
    fileprivate let bytes: ArraySlice<UInt8>
    /// The offset of the page in the log.
    let offset: Int64

    private func number(at offset: Int) -> UInt32 {
      bytes[(bytes.startIndex + offset)..<(bytes.startIndex + offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    var page: Int64 { Int64(number(at: 0)) }
    /// In pages, after the transaction that the frame ends; 0 if it does not end one.
    var databaseSize: Int64 { Int64(number(at: 4)) }
    var salt: ArraySlice<UInt8> { bytes.dropFirst(8).prefix(8) }

    func add(to sum: inout LogChecksum) {
      sum.add(bytes.prefix(8))
      sum.add(bytes.dropFirst(LogFrames.headerLength))
    }

    func isSum(_ sum: LogChecksum) -> Bool { sum.isEqual(to: number(at: 16), number(at: 20)) }

    func storedSum(like sum: LogChecksum) -> LogChecksum { sum.with(number(at: 16), number(at: 20)) }
  }

  init(_ file: OpenFile, pageSize: Int, sealed: SealedLog?, from number: Int) {
    self.file = file
    self.sealed = sealed
    self.number = number
    length = Self.headerLength + pageSize
  }

  /// - Returns: `nil` at the end of the file.
  mutating func next() throws(SystemError) -> Frame? {
    let start = Int64(WriteAheadLog.headerLength) + Int64(number) * Int64(length)
    if rest.count < length {
      rest = try file.bytes(at: start, count: length * Self.framesPerRead)[...]
      guard rest.count >= length else { return nil }
    }
    defer {
      rest = rest.dropFirst(length)
      number += 1
    }
    let offset = start + Int64(Self.headerLength)
    guard let sealed else { return Frame(bytes: rest.prefix(length), offset: offset) }
    var frame = Array(rest.prefix(length))
    sealed.open(&frame, number: Int64(number))
    return Frame(bytes: frame[...], offset: offset)
  }
}

/// The running checksum of a log.
struct LogChecksum {
  private let isBigEndian: Bool
  private var sums: (UInt32, UInt32) = (0, 0)

  init(isBigEndian: Bool) {
    self.isBigEndian = isBigEndian
  }

  /// - Parameter bytes: A multiple of 8 bytes.
  mutating func add(_ bytes: ArraySlice<UInt8>) {
    bytes.withUnsafeBytes { bytes in
      csqlite_log_sum(bytes.baseAddress, bytes.count, isBigEndian, &sums.0, &sums.1)
    }
  }

  /// The checksum of the same log with other sums.
  func with(_ first: UInt32, _ second: UInt32) -> LogChecksum {
    var other = self
    other.sums = (first, second)
    return other
  }

  func isEqual(to first: UInt32, _ second: UInt32) -> Bool { sums == (first, second) }

  /// Whether the two sums are stored at an offset, in big-endian order.
  func equals(_ bytes: [UInt8], at offset: Int) -> Bool {
    bytes.bigEndian(at: offset) == sums.0 && bytes.bigEndian(at: offset + 4) == sums.1
  }

  /// Whether the two sums are stored at an offset, in the order of the processor.
  func equalsNative(_ bytes: [UInt8], at offset: Int) -> Bool {
    bytes.native(at: offset) == sums.0 && bytes.native(at: offset + 4) == sums.1
  }
}

extension [UInt8] {
  /// Four bytes as a number; 0 beyond the end.
  func bigEndian(at offset: Int) -> UInt32 {
    guard offset >= 0, offset + 4 <= count else { return 0 }
    return self[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Four bytes as a number in the order of the processor; 0 beyond the end.
  func native(at offset: Int) -> UInt32 { UInt32(bigEndian: bigEndian(at: offset)) }

  /// Two bytes as a number; 0 beyond the end.
  func bigEndian16(at offset: Int) -> Int {
    guard offset >= 0, offset + 2 <= count else { return 0 }
    return Int(self[offset]) << 8 | Int(self[offset + 1])
  }
}
