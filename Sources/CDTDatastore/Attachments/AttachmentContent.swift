import CDTPlatform
import Crypto
import FoundationEssentials

/// Where an attachment's bytes are.
enum AttachmentContent: Sendable, Hashable {
  case data(Data)
  case file(String)
  /// Copied into the datastore's directory, for a write that is about to be made.
  case staged(StagedFile)
  case saved(SavedContent)

  /// Calls `body` with the bytes piece by piece; of a saved file, the last step is to check that they were the right ones.
  func forEachChunk(of name: String, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    switch self {
    case .data(let data): try data.withUnsafeBytes { if !$0.isEmpty { try body($0) } }
    case .file(let path): try Self.readSource(path, of: name, body)
    case .staged(let staged): try Self.readSource(staged.path, of: name, body)
    case .saved(let saved): try saved.forEachChunk(of: name, body)
    }
  }

  private static func readSource(
    _ path: String, of name: String, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try FileChunks.read(path, failure: { .missingSource(path, of: name, $0.description) }, body)
  }

  /// - Throws: ``DatastoreError`` when a saved file is not what was saved.
  func verify(_ name: String) throws {
    if case .saved(let saved) = self { try saved.forEachChunk(of: name) { _ in } }
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
    var hash = Insecure.SHA1()
    var count: Int64 = 0
    let path = files.path(of: key)
    try FileChunks.read(
      path, failure: { $0.isMissing ? .missingAttachment(name, path) : DatastoreError($0, "read", path) }
    ) { chunk in
      hash.update(bufferPointer: chunk)
      count += Int64(chunk.count)
      guard count <= length else { throw DatastoreError.damagedAttachment(name, path) }
      try body(chunk)
    }
    guard count == length, hash.finalize().elementsEqual(key) else {
      throw DatastoreError.damagedAttachment(name, path)
    }
  }

  static func == (left: SavedContent, right: SavedContent) -> Bool {
    left.key == right.key && left.length == right.length
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(key)
  }
}

/// Reads files in pieces of a bounded size.
enum FileChunks {
  private static let size = 256 * 1024

  /// - Parameter failure: The error for a file that can't be read.
  static func read(
    _ path: String, failure: (SystemError) -> DatastoreError, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    guard !path.utf8.contains(0) else { throw DatastoreError.invalidPath(path) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    defer { buffer.deallocate() }
    do {
      let file = try OpenFile(path, for: .reading)
      while case let count = try file.read(into: buffer), count > 0 {
        try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
    } catch let error as SystemError {
      throw failure(error)
    }
  }
}
