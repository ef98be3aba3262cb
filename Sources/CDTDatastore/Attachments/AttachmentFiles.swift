import CDTPlatform
import Crypto
import FoundationEssentials
import Synchronization

/// A datastore's `attachments` directory: one file per content, named by its SHA-1.
///
/// Content is first written to a temporary file, synced, and renamed inside the transaction that refers to it. The
/// writer of a temporary file holds a lock on it, so a temporary file without a lock belongs to a process that has
/// ended. Only the holder of the database's write lock renames and removes files.
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

  /// Copies content into the directory under a name that nothing refers to.
  ///
  /// - Throws: ``DatastoreError``; no file is left then.
  func stage(_ attachment: Attachment) throws -> StagedFile {
    try stage { write in try attachment.content.forEachChunk(of: attachment.name, write) }
  }

  /// Writes content into the directory under a name that nothing refers to.
  ///
  /// - Parameter produce: Calls its argument with each chunk of the content.
  func stage(
    _ produce: (_ write: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) throws -> StagedFile {
    let staging = try beginStaging()
    try produce { try staging.write($0) }
    return try staging.finish()
  }

  /// Creates a file for content that arrives in parts.
  func beginStaging() throws -> StagingFile {
    try checkOpen()
    if try FileSystem.kind(of: directory) == nil { try FileSystem.makeDirectory(directory) }
    return StagingFile(try incomingFile())
  }

  /// Creates a new file and locks it. If a sweep removes the file before it is locked, another is created.
  private func incomingFile() throws(DatastoreError) -> WritableFile {
    while true {
      let file = try WritableFile(
        creating: "\(directory)/\(Self.incoming)\(UUID().uuidString)", isPrivate: true)
      do {
        if try file.lock(), try file.hasName() { return file }
      } catch {
        file.remove()
        throw error
      }
    }
  }

  /// Renames a staged file to the name of its content, replacing a file of that name, which may be damaged.
  func publish(_ staged: StagedFile) throws {
    try staged.rename(to: path(of: staged.key))
  }

  /// Whether the content exists and is undamaged. Reads all of it.
  func isSound(_ key: [UInt8], length: Int64) -> Bool {
    guard (try? Files.length(of: path(of: key))) == length else { return false }
    var hash = Insecure.SHA1()
    let isRead: Void? = try? FileChunks.read(
      path(of: key), failure: { DatastoreError($0, "read", path(of: key)) }
    ) { hash.update(bufferPointer: $0) }
    return isRead != nil && hash.finalize().elementsEqual(key)
  }

  /// Whether both use the same directory, as before and after a datastore is reopened.
  func isSameDirectory(as other: AttachmentFiles) -> Bool {
    self === other || directory.hasSameBytes(as: other.directory)
  }

  /// Syncs new file names to disk.
  func synchronize() throws {
    try FileSystem.synchronize(directory)
  }

  // MARK: Removing

  /// The keys of the files in the directory; none if the directory is a symbolic link, since a directory elsewhere may
  /// have other files.
  func keys() throws -> [[UInt8]] {
    try names().compactMap(Self.key)
  }

  /// Removes what interrupted writes left.
  ///
  /// - Returns: The number of files removed.
  func removeAbandoned() throws -> Int {
    try names().count { Self.isIncoming($0) && Files.removeUnlocked("\(directory)/\($0)") }
  }

  private static func isIncoming(_ name: String) -> Bool {
    name.utf8.starts(with: incoming.utf8) && UUID(uuidString: String(name.dropFirst(incoming.count))) != nil
  }

  /// Removes every file that this class has made, and the directory if there are no others.
  func removeAll() throws(DatastoreError) {
    for name in try names() where Self.key(named: name) != nil || Self.isIncoming(name) {
      let path = "\(directory)/\(name)"
      guard try FileSystem.kind(of: path) == .file else { continue }
      try FileSystem.perform("remove", path, Files.remove(path))
    }
    if try FileSystem.kind(of: directory) == .directory { try? Files.removeDirectory(directory) }
  }

  /// Removes the file of a key, if it is a regular file.
  ///
  /// - Returns: Whether it was removed.
  func remove(_ key: [UInt8]) -> Bool {
    let path = path(of: key)
    return (try? FileSystem.kind(of: path)) == .file && (try? Files.remove(path)) != nil
  }

  private func names() throws(DatastoreError) -> [String] {
    guard try FileSystem.kind(of: directory) == .directory else { return [] }
    return try FileSystem.names(in: directory)
  }

  /// The key in a file's name; `nil` for a file that this class did not create.
  static func key(named name: String) -> [UInt8]? {
    let digits = Array(name.utf8)
    guard digits.count == 40, digits.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }) else {
      return nil
    }
    return stride(from: 0, to: 40, by: 2).map { position in
      digits[position...position + 1].reduce(0) { $0 << 4 | ($1 < 0x3A ? $1 - 0x30 : $1 - 0x57) }
    }
  }

  /// Writes a temporary file next to the path and renames it when it is complete. The file is the user's, so the umask
  /// decides who can access it.
  static func replaceFile(
    _ path: String, _ produce: (_ write: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) throws {
    guard !path.utf8.contains(0) else { throw DatastoreError.invalidPath(path) }
    let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
    let file = try WritableFile(creating: "\(folder).\(UUID().uuidString)", isPrivate: false)
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

/// Content that is being written into the directory. Unless it is finished, it is removed with the last reference.
final class StagingFile: Sendable {
  private let file: WritableFile
  /// `nil` when the content is finished.
  private let hash: Mutex<Insecure.SHA1?> = Mutex(Insecure.SHA1())

  fileprivate init(_ file: WritableFile) {
    self.file = file
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    try hash.withLock { hash in
      hash?.update(bufferPointer: bytes)
      try file.write(bytes)
    }
  }

  /// Syncs the content to disk.
  func finish() throws -> StagedFile {
    try file.synchronize()
    let key = hash.withLock { $0.take()?.finalize() }
    guard let key else { throw DatastoreError.closed(file.path) }
    return StagedFile(file, key: Array(key), length: file.length)
  }

  deinit {
    if hash.withLock({ $0 != nil }) { file.remove() }
  }
}

/// Content in the directory that has no final name yet. Unless it is published, it is removed with the last reference.
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

/// A new file while it is written.
private final class WritableFile: Sendable {
  let path: String
  private let file: OpenFile
  private let written = Atomic<Int64>(0)

  init(creating path: String, isPrivate: Bool) throws(DatastoreError) {
    guard !path.utf8.contains(0) else { throw .invalidPath(path) }
    file = try FileSystem.perform("create", path, OpenFile(path, for: .creating, isPrivate: isPrivate))
    self.path = path
  }

  var length: Int64 { written.load(ordering: .relaxed) }

  /// Locks the file, unless another process has locked it.
  func lock() throws(DatastoreError) -> Bool {
    try FileSystem.perform("lock", path, file.lock())
  }

  /// Whether the file still exists.
  func hasName() throws(DatastoreError) -> Bool {
    try FileSystem.perform("read", path, file.hasName())
  }

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
