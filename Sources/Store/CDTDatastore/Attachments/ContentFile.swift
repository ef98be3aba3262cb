package import CDTPlatform

/// A file in the `attachments` directory or in a backup, read from its beginning. It may be encrypted.
package struct ContentFile: Sendable {
  private enum Source: Sendable {
    case plain(OpenFile)
    case sealed(SealedFileReader)
  }

  private static let chunk = 256 * 1024

  private var source: Source

  /// - Parameter key: The key of an encrypted file.
  /// - Returns: `nil` if it is not a regular file, or if there is a key and the file was not encrypted.
  package init?(_ path: String, key: [UInt8]?) throws(SystemError) {
    guard let file = try OpenFile.regular(path) else { return nil }
    guard let key else {
      source = .plain(file)
      return
    }
    guard let reader = try SealedFileReader(file, key: key) else { return nil }
    source = .sealed(reader)
  }

  /// The next bytes; empty at the end, and `nil` if they differ from what was written.
  package mutating func next() throws(SystemError) -> [UInt8]? {
    switch source {
    case .plain(let file): return try file.read(upTo: Self.chunk)
    case .sealed(var reader):
      if reader.isAtEnd { return [] }
      let bytes = try reader.next()
      source = .sealed(reader)
      return bytes
    }
  }

  /// The last bytes, at most 64 KB, wherever the next read begins; `nil` if they differ from what was written.
  package func tail(_ count: Int) throws(SystemError) -> [UInt8]? {
    switch source {
    case .plain(let file):
      let start = max(0, try file.length() - Int64(count))
      return try file.bytes(at: start, count: count)
    case .sealed(let reader): return try reader.tail(count)
    }
  }

  /// Calls a closure with the bytes in chunks.
  ///
  /// - Returns: `false` if they differ from what was written.
  /// - Throws: `SystemError`, and the errors of `body`.
  mutating func forEachChunk(_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
    while let bytes = try next() {
      if bytes.isEmpty { return true }
      try bytes.withUnsafeBytes(body)
    }
    return false
  }
}

/// Writes what ``ContentFile`` reads.
package struct ContentFileWriter: Sendable {
  private let file: OpenFile
  private var sealing: SealedFileWriter?

  /// - Parameters:
  ///   - file: A new file.
  ///   - key: The key, if it is to be encrypted.
  package init(to file: OpenFile, key: [UInt8]?) {
    self.file = file
    sealing = key.map { SealedFileWriter(key: $0) }
  }

  package mutating func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    guard sealing != nil else { return try file.write(bytes) }
    try sealing?.write(bytes, to: file)
  }

  /// Writes what is left, and syncs the file to disk.
  package mutating func finish() throws(SystemError) {
    try sealing?.finish(to: file)
    try file.synchronize()
  }
}
