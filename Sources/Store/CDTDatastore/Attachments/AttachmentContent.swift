import CDTDigest
package import CDTPlatform

/// The location of an attachment's bytes.
enum AttachmentContent: Sendable, Hashable {
  case data(Data)
  case file(String)
  /// Copied into the datastore's directory for a pending write.
  case staged(StagedFile)
  case saved(SavedContent)

  /// Calls `body` with the bytes in chunks. For a saved file, the digest is checked after the last chunk.
  func forEachChunk(of name: String, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    switch self {
    case .data(let data): try data.withUnsafeBytes { if !$0.isEmpty { try body($0) } }
    case .file(let path): try Self.readSource(path, of: name, body)
    case .staged(let staged): try staged.forEachChunk(of: name, body)
    case .saved(let saved): try saved.forEachChunk(of: name, body)
    }
  }

  private static func readSource(
    _ path: String, of name: String, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    guard !path.utf8.contains(0) else { throw DatastoreError(.sourcePathWithNUL(path, of: name)) }
    try FileChunks.read(
      path, notRegular: DatastoreError(.sourceNotRegular(path, of: name)),
      failure: { DatastoreError(.missingSource(path, of: name, $0.description)) }, body)
  }
}

/// Content in a datastore's directory.
struct SavedContent: Sendable, Hashable {
  let key: [UInt8]
  let length: Int64
  let generation: Int
  let files: AttachmentFiles

  init(_ row: AttachmentRow, in files: AttachmentFiles) {
    key = row.key
    length = row.length
    generation = row.generation
    self.files = files
  }

  func forEachChunk(of name: String, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    try files.checkOpen()
    var hash = Digest(.sha1)
    var count: Int64 = 0
    let path = files.path(of: key)
    var isWhole = false
    do {
      guard var file = try files.open(path) else { throw DatastoreError(.damagedAttachment(name, path)) }
      isWhole = try file.forEachChunk { chunk in
        hash.update(chunk)
        count += Int64(chunk.count)
        guard count <= length else { throw DatastoreError(.damagedAttachment(name, path)) }
        try body(chunk)
      }
    } catch let error as SystemError {
      throw error.isMissing
        ? DatastoreError(.missingAttachment(name, path)) : DatastoreError(error, "read", path)
    }
    guard isWhole, count == length, hash.finalize().elementsEqual(key) else {
      throw DatastoreError(.damagedAttachment(name, path))
    }
  }

  static func == (left: SavedContent, right: SavedContent) -> Bool {
    left.key == right.key && left.length == right.length
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(key)
  }
}

/// Reads files in chunks of bounded size.
package enum FileChunks {
  private static let size = 256 * 1024

  /// Reads a regular file.
  ///
  /// - Parameters:
  ///   - notRegular: The error for a device, a FIFO, a directory or a socket.
  ///   - failure: The error for a file that can't be read.
  package static func read(
    _ path: String, notRegular: @autoclosure () -> DatastoreError? = nil,
    failure: (SystemError) -> DatastoreError, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    guard !path.utf8.contains(0) else { throw DatastoreError(.invalidPath(path)) }
    do {
      guard let file = try OpenFile.regular(path) else {
        throw notRegular() ?? DatastoreError(.notARegularFile(path))
      }
      try read(file, body)
    } catch let error as SystemError {
      throw failure(error)
    }
  }

  /// Reads the rest of an open file.
  ///
  /// - Throws: `SystemError`, and the errors of `body`.
  package static func read(_ file: OpenFile, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    defer { buffer.deallocate() }
    while case let count = try file.read(into: buffer), count > 0 {
      try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }
}
