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
  private(set) var salt: [UInt8] = []

  static let headerLength = 32
  private static let frameHeaderLength = 24

  /// - Parameter pageSize: The size of the database's pages in bytes; a log for another size has no pages.
  /// - Returns: A log without pages if its header is not valid.
  init(_ file: OpenFile, pageSize: Int) throws(SystemError) {
    let header = try file.bytes(at: 0, count: Self.headerLength)
    guard Self.pageSize(of: header) == pageSize else { return }
    salt = Array(header[16..<24])
    try readFrames(file, pageSize, Self.checksum(of: header))
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

  /// The number of frames of this log after the first one that is not valid. Whether they are valid can't be told.
  func framesAfterDamage(in file: OpenFile, pageSize: Int) throws(SystemError) -> Int {
    let length = Int64(Self.frameHeaderLength + pageSize)
    var number = Int64(validFrames) + 1
    var count = 0
    while case let frame = try file.bytes(
      at: Int64(Self.headerLength) + number * length, count: Self.frameHeaderLength),
      frame.count == Self.frameHeaderLength, frame[8..<16].elementsEqual(salt)
    {
      (number, count) = (number + 1, count + 1)
    }
    return count
  }

  private mutating func readFrames(_ file: OpenFile, _ pageSize: Int, _ first: LogChecksum)
    throws(SystemError)
  {
    var sum = first
    var uncommitted: [Int64: Int64] = [:]
    let length = Self.frameHeaderLength + pageSize
    while true {
      let offset = Int64(Self.headerLength) + Int64(validFrames) * Int64(length)
      let frame = try file.bytes(at: offset, count: length)
      guard frame.count == length, frame[8..<16].elementsEqual(salt) else { return }
      sum.add(frame[..<8])
      sum.add(frame[Self.frameHeaderLength...])
      guard sum.equals(frame, at: 16) else { return }
      validFrames += 1
      uncommitted[Int64(frame.bigEndian(at: 0))] = offset + Int64(Self.frameHeaderLength)
      let size = frame.bigEndian(at: 4)
      guard size > 0 else { continue }
      offsets.merge(uncommitted) { $1 }
      uncommitted = [:]
      (pageCount, committedFrames) = (Int64(size), validFrames)
    }
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
    var sums = sums
    bytes.withUnsafeBytes { bytes in
      for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
        let first = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        let second = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
        sums.0 &+= (isBigEndian ? first.bigEndian : first.littleEndian) &+ sums.1
        sums.1 &+= (isBigEndian ? second.bigEndian : second.littleEndian) &+ sums.0
      }
    }
    self.sums = sums
  }

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
