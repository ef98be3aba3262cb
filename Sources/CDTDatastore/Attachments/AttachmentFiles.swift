import CDTPlatform
import Crypto
import FoundationEssentials
import Synchronization

/// A datastore's `attachments` directory: a file for each content, named by its SHA-1.
///
/// Content is first written to a file of its own, synced, and renamed within the transaction that refers to it. Whoever
/// writes such a file holds a lock on it, so one without a lock was left by a process that is gone. Files are only
/// renamed and removed by the holder of the database's write lock.
package final class AttachmentFiles: Sendable {
  let directory: String
  private let storeName: String
  private let isClosed = Atomic(false)

  private static let incoming = "incoming-"

  init(directory: String, storeName: String) {
    self.directory = directory
    self.storeName = storeName
  }

  func close() {
    isClosed.store(true, ordering: .relaxed)
  }

  func checkOpen() throws(DatastoreError) {
    if isClosed.load(ordering: .relaxed) { throw .closed(storeName) }
  }

  func path(of key: [UInt8]) -> String { "\(directory)/\(RevisionDigest.hex(key))" }

  // MARK: Writing

  /// Copies content into the directory, under a name that nothing refers to.
  ///
  /// - Throws: ``DatastoreError``; nothing is left then.
  func stage(_ attachment: Attachment) throws -> StagedFile {
    try stage { write in try attachment.content.forEachChunk(of: attachment.name, write) }
  }

  /// Writes content into the directory, under a name that nothing refers to.
  ///
  /// - Parameter produce: Calls what it is given with each piece of the content.
  func stage(
    _ produce: (_ write: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) throws -> StagedFile {
    try checkOpen()
    if Files.kind(of: directory) == nil { try FileSystem.makeDirectory(directory) }
    let file = try incomingFile()
    do {
      var hash = Insecure.SHA1()
      try produce { chunk in
        hash.update(bufferPointer: chunk)
        try file.write(chunk)
      }
      try file.synchronize()
      return StagedFile(file, key: Array(hash.finalize()), length: file.length)
    } catch {
      file.remove()
      throw error
    }
  }

  /// A new file with a lock on it. A sweep that comes between the two takes the file; then another is made.
  private func incomingFile() throws(DatastoreError) -> WritableFile {
    while true {
      let file = try WritableFile(creating: "\(directory)/\(Self.incoming)\(UUID().uuidString)")
      do {
        if try file.lock(), file.hasName { return file }
      } catch {
        file.remove()
        throw error
      }
    }
  }

  /// Gives a staged file the name of its content, in place of one that may be there and be damaged.
  func publish(_ staged: StagedFile) throws {
    try staged.rename(to: path(of: staged.key))
  }

  /// Whether content is there, undamaged: all of it is read.
  func isSound(_ key: [UInt8], length: Int64) -> Bool {
    guard Files.length(of: path(of: key)) == length else { return false }
    var hash = Insecure.SHA1()
    let isRead: Void? = try? FileChunks.read(
      path(of: key), failure: { DatastoreError($0, "read", path(of: key)) }
    ) { hash.update(bufferPointer: $0) }
    return isRead != nil && hash.finalize().elementsEqual(key)
  }

  /// Whether both look after the same files, as those of a datastore do that was closed and opened again.
  func isSameDirectory(as other: AttachmentFiles) -> Bool {
    self === other || directory.hasSameBytes(as: other.directory)
  }

  /// Makes sure that new names are on disk.
  func synchronize() throws {
    try FileSystem.synchronize(directory)
  }

  /// Removes every file that is not wanted, and what broken writes left.
  ///
  /// - Returns: The number of files removed.
  func sweep(isWanted: (_ key: [UInt8]) throws -> Bool) throws -> Int {
    guard Files.kind(of: directory) == .directory else { return 0 }
    var removed = 0
    for name in try FileSystem.names(in: directory) {
      let path = "\(directory)/\(name)"
      if let key = Self.key(named: name) {
        if try !isWanted(key), (try? Files.remove(path)) != nil { removed += 1 }
      } else if name.utf8.starts(with: Self.incoming.utf8), Files.removeUnlocked(path) {
        removed += 1
      }
    }
    return removed
  }

  /// The key that is a file's name, if it is one; other files in the directory are not ours to touch.
  static func key(named name: String) -> [UInt8]? {
    let digits = Array(name.utf8)
    guard digits.count == 40, digits.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }) else {
      return nil
    }
    return stride(from: 0, to: 40, by: 2).map { position in
      digits[position...position + 1].reduce(0) { $0 << 4 | ($1 < 0x3A ? $1 - 0x30 : $1 - 0x57) }
    }
  }

  /// Writes a file beside its path and renames it when it is whole.
  static func replaceFile(
    _ path: String, _ produce: (_ write: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) throws {
    guard !path.utf8.contains(0) else { throw DatastoreError.invalidPath(path) }
    let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
    let file = try WritableFile(creating: "\(folder).\(UUID().uuidString)")
    do {
      try produce { try file.write($0) }
      try file.synchronize()
      try FileSystem.rename(file.path, to: path)
    } catch {
      file.remove()
      throw error
    }
  }
}

extension AttachmentFiles: Hashable {
  package static func == (left: AttachmentFiles, right: AttachmentFiles) -> Bool { left === right }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}

/// Content that waits in the directory for its name. Unless it gets one, it goes with the last reference.
final class StagedFile: Sendable, Hashable {
  let key: [UInt8]
  let length: Int64
  private let file: WritableFile
  private let isPublished = Atomic(false)

  fileprivate init(_ file: WritableFile, key: [UInt8], length: Int64) {
    self.file = file
    self.key = key
    self.length = length
  }

  var path: String { file.path }

  fileprivate func rename(to path: String) throws {
    guard !isPublished.load(ordering: .relaxed) else { return }
    try FileSystem.rename(file.path, to: path)
    isPublished.store(true, ordering: .relaxed)
  }

  deinit {
    if !isPublished.load(ordering: .relaxed) { file.remove() }
  }

  static func == (left: StagedFile, right: StagedFile) -> Bool { left.key == right.key }

  func hash(into hasher: inout Hasher) {
    hasher.combine(key)
  }
}

/// A new file that is being written.
private final class WritableFile: Sendable {
  let path: String
  private let file: OpenFile
  private let written = Atomic<Int64>(0)

  init(creating path: String) throws(DatastoreError) {
    guard !path.utf8.contains(0) else { throw .invalidPath(path) }
    file = try FileSystem.perform("create", path, OpenFile(path, for: .creating))
    self.path = path
  }

  var length: Int64 { written.load(ordering: .relaxed) }

  /// Locks the file, unless someone else has.
  func lock() throws(DatastoreError) -> Bool {
    try FileSystem.perform("lock", path, file.lock())
  }

  /// Whether the file has not been removed.
  var hasName: Bool { file.hasName }

  func write(_ bytes: UnsafeRawBufferPointer) throws(DatastoreError) {
    try FileSystem.perform("write", path, file.write(bytes))
    written.add(Int64(bytes.count), ordering: .relaxed)
  }

  func synchronize() throws(DatastoreError) {
    try FileSystem.perform("write", path, file.synchronize())
  }

  func remove() {
    try? Files.remove(path)
  }
}
