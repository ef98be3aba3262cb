import CDTDigest
import CDTPlatform

/// A file that is encrypted in chunks, so that it is written and read in bounded memory.
///
/// It begins with a mark and a random id. Each chunk has up to ``chunk`` bytes of content, followed by a nonce and a tag of
/// AES-256-GCM. The id, the number of the chunk, and whether it is the last one are authenticated, so chunks can't be
/// exchanged, and the end can't be cut off.
package enum SealedFile {
  static let chunk = 64 * 1024
  private static let mark = Array("CDT sealed 1\0\0\0\0".utf8)
  static let headerLength = 32
  static let sealedChunk = chunk + AuthenticatedCipher.overhead

  /// The length of the content of a file; `nil` if no such file has this length.
  package static func contentLength(ofFileOf length: Int64) -> Int64? {
    let body = length - Int64(headerLength)
    guard body >= Int64(AuthenticatedCipher.overhead) else { return nil }
    let chunks = (body + Int64(sealedChunk) - 1) / Int64(sealedChunk)
    let content = body - chunks * Int64(AuthenticatedCipher.overhead)
    return body - (chunks - 1) * Int64(sealedChunk) >= Int64(AuthenticatedCipher.overhead) ? content : nil
  }

  fileprivate static func header(id: [UInt8]) -> [UInt8] { mark + id }

  fileprivate static func id(in header: [UInt8]) -> [UInt8]? {
    header.count == headerLength && header.starts(with: mark) ? Array(header[mark.count...]) : nil
  }

  fileprivate static func context(_ id: [UInt8], _ number: Int64, isLast: Bool) -> [UInt8] {
    id + withUnsafeBytes(of: number.littleEndian, Array.init) + [isLast ? 1 : 0]
  }
}

/// Writes a ``SealedFile``.
struct SealedFileWriter: @unchecked Sendable {
  // Sendable without a lock: only one thread writes the file, and nobody reads it meanwhile. Its nonces count.
  private let cipher: AuthenticatedCipher
  private let id = RandomBytes.make(16)
  private var pending: [UInt8] = []
  private var number: Int64 = 0
  private var hasHeader = false

  init(key: [UInt8]) {
    cipher = AuthenticatedCipher(key: key)
  }

  mutating func write(_ bytes: UnsafeRawBufferPointer, to file: OpenFile) throws(SystemError) {
    var rest = bytes
    while !rest.isEmpty {
      // A whole chunk stays until it is known not to be the last one.
      if pending.count == SealedFile.chunk { try flush(to: file, isLast: false) }
      let count = min(rest.count, SealedFile.chunk - pending.count)
      pending += rest.prefix(count)
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
  }

  /// Writes what is left.
  mutating func finish(to file: OpenFile) throws(SystemError) {
    try flush(to: file, isLast: true)
  }

  private mutating func flush(to file: OpenFile, isLast: Bool) throws(SystemError) {
    var bytes = hasHeader ? [] : SealedFile.header(id: id)
    bytes += cipher.seal(pending, with: SealedFile.context(id, number, isLast: isLast))
    pending.removeAll(keepingCapacity: true)
    number += 1
    hasHeader = true
    try bytes.withUnsafeBufferPointer { bytes throws(SystemError) in
      try file.write(UnsafeRawBufferPointer(bytes))
    }
  }
}

/// Reads a ``SealedFile`` from its beginning.
struct SealedFileReader: Sendable {
  private let key: [UInt8]
  private let file: OpenFile
  private let chunks: Int64
  private var number: Int64 = 0
  private let id: [UInt8]

  /// - Returns: `nil` if it is not such a file.
  init?(_ file: OpenFile, key: [UInt8]) throws(SystemError) {
    let length = try file.length()
    guard SealedFile.contentLength(ofFileOf: length) != nil,
      let id = SealedFile.id(in: try file.bytes(at: 0, count: SealedFile.headerLength))
    else { return nil }
    (self.file, self.id) = (file, id)
    self.key = key
    let body = length - Int64(SealedFile.headerLength)
    chunks = (body + Int64(SealedFile.sealedChunk) - 1) / Int64(SealedFile.sealedChunk)
  }

  var isAtEnd: Bool { number == chunks }

  /// The content of the next chunk.
  ///
  /// - Returns: `nil` if it is not what was written.
  mutating func next() throws(SystemError) -> [UInt8]? {
    let offset = Int64(SealedFile.headerLength) + number * Int64(SealedFile.sealedChunk)
    let sealed = try file.bytes(at: offset, count: SealedFile.sealedChunk)
    let context = SealedFile.context(id, number, isLast: number == chunks - 1)
    number += 1
    return AuthenticatedCipher(key: key).open(sealed, with: context)
  }

  /// The last bytes of the content, at most those of a chunk, wherever the next read begins.
  ///
  /// - Returns: `nil` if they are not what was written.
  func tail(_ count: Int) throws(SystemError) -> [UInt8]? {
    var (reader, bytes) = (self, [UInt8]())
    reader.number = max(0, chunks - 2)
    while !reader.isAtEnd {
      guard let chunk = try reader.next() else { return nil }
      bytes += chunk
    }
    return Array(bytes.suffix(count))
  }
}
