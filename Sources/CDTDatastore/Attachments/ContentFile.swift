import CDTPlatform

/// The content of a file in the `attachments` directory, read from its beginning. It may be encrypted.
struct ContentFile: Sendable {
  private enum Source: Sendable {
    case plain(OpenFile)
    case sealed(SealedFileReader)
  }

  private static let chunk = 256 * 1024

  private var source: Source

  /// - Parameter keys: The keys of an encrypted datastore.
  /// - Returns: `nil` if it is no regular file, or none that was written with the keys.
  init?(_ path: String, keys: StoreKeys?) throws(SystemError) {
    guard let file = try OpenFile.regular(path) else { return nil }
    guard let keys else {
      source = .plain(file)
      return
    }
    guard let reader = try SealedFileReader(file, key: keys.contents) else { return nil }
    source = .sealed(reader)
  }

  /// The next bytes; empty at the end, and `nil` if they differ from what was written.
  mutating func next() throws(SystemError) -> [UInt8]? {
    switch source {
    case .plain(let file): return try file.read(upTo: Self.chunk)
    case .sealed(var reader):
      if reader.isAtEnd { return [] }
      let bytes = try reader.next()
      source = .sealed(reader)
      return bytes
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
