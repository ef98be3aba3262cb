import CDTDigest
import CDTPlatform
package import CDTSQLite
import Synchronization

/// A datastore's `attachments` directory: one file per content, named by its SHA-1, or encrypted (``StoreKeys``).
///
/// Content is first written to a temporary file, synced, and renamed inside the transaction that refers to it. See
/// ``StagingSession`` for how the temporary files of a process that has ended are told apart. Only the holder of the
/// database's write lock renames and removes files.
package final class AttachmentFiles: Sendable {
  let directory: String
  private let storeName: String
  private let encryption: StoreKeys?
  private let suspension: Suspension?
  private let isClosed = Atomic(false)
  private let session = Mutex<WeakReference<StagingSession>?>(nil)

  /// - Parameter keys: The keys of an encrypted datastore.
  package init(
    directory: String, storeName: String, keys: StoreKeys? = nil, _ suspension: Suspension? = nil
  ) {
    self.suspension = suspension
    self.directory = directory
    self.storeName = storeName
    self.encryption = keys
  }

  func close() {
    isClosed.store(true, ordering: .relaxed)
  }

  func checkOpen() throws(DatastoreError) {
    if isClosed.load(ordering: .relaxed) { throw DatastoreError(.closed(storeName)) }
    try suspension?.check()
  }

  /// Ends the uploads, and content that no document refers to yet, so that their file is not locked any more.
  func endUploads() {
    session.withLock { $0.take() }?.value?.end()
  }

  func path(of key: [UInt8]) -> String {
    "\(directory)/\(Hexadecimal.text(encryption?.name(of: key) ?? key))"
  }

  // MARK: Reading

  /// Opens a file of the directory.
  ///
  /// - Returns: `nil` if the file was not written here.
  func open(_ path: String) throws(SystemError) -> ContentFile? {
    try ContentFile(path, key: encryption?.contents)
  }

  /// The length of the content of a key; `nil` if there is no file of a content.
  func length(of key: [UInt8]) throws(DatastoreError) -> Int64? {
    let path = path(of: key)
    let status = try FileSystem.perform("read", path, FileStatus.ofFile(at: path))
    guard let status, status.kind == .file else { return nil }
    guard encryption != nil else { return status.size }
    // The length of no content, as the file is damaged.
    return SealedFile.contentLength(ofFileOf: status.size) ?? -1
  }

  // MARK: Writing

  /// Copies content into the directory under a name that nothing refers to.
  ///
  /// - Throws: ``DatastoreError``; no file is left then.
  func stage(_ attachment: DocumentAttachment) throws -> StagedFile {
    try stage { write in try attachment.content.forEachChunk(of: attachment.name, write) }
  }

  /// Writes content into the directory under a name that nothing refers to.
  ///
  /// - Parameter produce: Calls its argument with each chunk of the content.
  package func stage(
    _ produce: (_ write: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) throws -> StagedFile {
    let upload = try beginUpload()
    try produce { try upload.write($0) }
    return try upload.finish()
  }

  /// Creates a file for content that arrives in parts.
  func beginUpload() throws -> AttachmentUpload {
    try checkOpen()
    let hold = try suspension?.holdFiles()
    defer { _ = hold }
    try FileSystem.makeDirectory(directory, followsLinks: false)
    let session = try session.withLock { current in
      if let session = current?.value { return session }
      let new = try StagingSession(in: directory)
      current = WeakReference(new)
      return new
    }
    return try AttachmentUpload(in: session, keys: encryption)
  }

  /// Copies content that is saved elsewhere, unless it is here.
  ///
  /// - Returns: Whether it was copied.
  package func adopt(_ attachment: DocumentAttachment) throws -> Bool {
    guard case .saved(let saved) = attachment.content, saved.length > 0 else { return false }
    if try length(of: saved.key) == saved.length { return false }
    try publish(stage(attachment))
    return true
  }

  /// Renames a staged file to the name of its content, replacing a file of that name, which may be damaged.
  func publish(_ staged: StagedFile) throws {
    try staged.rename(to: path(of: staged.key))
  }

  /// Whether the content exists and is undamaged. Reads all of it.
  func isSound(_ key: [UInt8], length: Int64) -> Bool {
    guard (try? self.length(of: key)) == length, var file = (try? open(path(of: key))) ?? nil else {
      return false
    }
    var hash = Digest(.sha1)
    return (try? file.forEachChunk { hash.update($0) }) == true && hash.finalize().elementsEqual(key)
  }

  /// Whether both use the same directory, as before and after a datastore is reopened.
  func isSameDirectory(as other: AttachmentFiles) -> Bool {
    self === other || directory.hasSameBytes(as: other.directory)
  }

  /// Syncs new file names to disk.
  package func synchronize() throws {
    try FileSystem.synchronize(directory)
  }

  // MARK: Removing

  /// The keys of the files in the directory; none if the directory is a symbolic link, since a directory elsewhere may
  /// have other files.
  func keys() throws -> [[UInt8]] {
    try names().compactMap(Self.key).map { encryption?.key(named: $0) ?? $0 }
  }

  /// Removes what interrupted writes left.
  ///
  /// - Returns: The number of files removed.
  func removeAbandoned() throws -> Int {
    try names().count { name in
      guard let session = StagingSession.ofFile(named: name) else { return false }
      let path = "\(directory)/\(name)"
      if session == name { return Files.removeUnlocked(path) }
      guard (try? Files.isLocked("\(directory)/\(session)")) == false else { return false }
      return (try? FileSystem.kind(of: path)) == .file && (try? Files.remove(path)) != nil
    }
  }

  /// Removes every file that this class has made, and the directory if there are no others.
  func removeAll() throws(DatastoreError) {
    for name in try names() where Self.key(named: name) != nil || StagingSession.ofFile(named: name) != nil {
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

  /// The key in a file's name, or what stands for it in that of an encrypted one; `nil` for a file that this class did not create.
  static func key(named name: String) -> [UInt8]? {
    guard let key = Hexadecimal.bytes(name), key.count == 20, Hexadecimal.text(key) == name else {
      return nil
    }
    return key
  }

  /// Writes a file, which takes its place when it is complete. The file is the user's, so the umask decides who can access
  /// it.
  package static func replaceFile(
    _ path: String, _ produce: (_ write: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) throws {
    guard !path.utf8.contains(0) else { throw DatastoreError(.invalidPath(path)) }
    let draft = try FileSystem.perform("create", path, DraftFile(for: path, isPrivate: false))
    try produce { try FileSystem.perform("write", path, draft.file.write($0)) }
    try FileSystem.perform("write", path, draft.file.synchronize())
    try FileSystem.perform("create", path, draft.publish())
  }
}

extension AttachmentFiles: Hashable {
  package static func == (left: AttachmentFiles, right: AttachmentFiles) -> Bool { left === right }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}
