import CDTDigest
import CDTPlatform
import Synchronization

/// The temporary files of a process in the `attachments` directory:
///
/// ```
/// incoming-<uuid>            empty, and locked as long as the others may be needed
/// incoming-<uuid>.<number>   content
/// ```
///
/// If the first one is not locked, the process that has made them has ended, and the others may be removed. Only the first
/// one stays open, so that a transaction may have more attachments than a process may have open files.
final class StagingSession: Sendable {
  private let path: String
  private let file: OpenFile
  private let count = Atomic(0)
  private let hasEnded = Atomic(false)

  private static let prefix = "incoming-"

  /// Creates the locked file. If a sweep removes it before it is locked, another is created.
  init(in directory: String) throws(DatastoreError) {
    while true {
      let path = "\(directory)/\(Self.prefix)\(RandomID.uuid())"
      let file = try Self.make(path)
      do {
        if try FileSystem.perform("lock", path, file.lock()),
          try FileSystem.perform("read", path, file.hasName())
        {
          (self.path, self.file) = (path, file)
          return
        }
      } catch {
        try? Files.remove(path)
        throw error
      }
    }
  }

  deinit { try? Files.remove(path) }

  /// Unlocks the file: from now on, a sweep may remove the others.
  func end() {
    hasEnded.store(true, ordering: .sequentiallyConsistent)
    file.unlock()
  }

  /// - Throws: ``DatastoreError`` with the code `.suspended` after the end.
  func check() throws(DatastoreError) {
    if hasEnded.load(ordering: .sequentiallyConsistent) {
      throw DatastoreError(.endedBySuspension("the transfer of an attachment"))
    }
  }

  /// The name of the session's locked file, if a file in the directory is one of a session.
  static func ofFile(named name: String) -> String? {
    guard let rest = name.afterBytePrefix(prefix) else { return nil }
    let parts = rest.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard UUID(uuidString: String(parts[0])) != nil, parts.count == 1 || UInt64(parts[1]) != nil else {
      return nil
    }
    return prefix + parts[0]
  }

  fileprivate func makeFile() throws(DatastoreError) -> (path: String, file: OpenFile) {
    let path = "\(path).\(count.add(1, ordering: .relaxed).newValue)"
    return (path, try Self.make(path))
  }

  private static func make(_ path: String) throws(DatastoreError) -> OpenFile {
    guard !path.utf8.contains(0) else { throw DatastoreError(.invalidPath(path)) }
    return try FileSystem.perform("create", path, OpenFile(path, for: .creating, isPrivate: true))
  }
}

/// The content of an attachment that arrives in parts, for example from a network, and is written into the directory. Unless it
/// is finished, it is removed with the last reference.
package final class AttachmentUpload: Sendable {
  private let session: StagingSession
  private let path: String
  private let keys: StoreKeys?
  private let state: Mutex<State>

  private struct State: Sendable {
    /// `nil` when the content is finished.
    var file: ContentFileWriter?
    var hash = Digest(.sha1)
    var length: Int64 = 0
  }

  init(in session: StagingSession, keys: StoreKeys?) throws(DatastoreError) {
    let (path, file) = try session.makeFile()
    (self.session, self.path, self.keys) = (session, path, keys)
    state = Mutex(State(file: ContentFileWriter(to: file, key: keys?.contents)))
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    try state.withLock { state in
      guard state.file != nil else { throw DatastoreError(.closed(path)) }
      try session.check()
      state.hash.update(bytes)
      try FileSystem.perform("write", path, state.file?.write(bytes))
      state.length += Int64(bytes.count)
    }
  }

  /// Syncs the content to disk, and closes the file.
  func finish() throws -> StagedFile {
    try state.withLock { state in
      guard state.file != nil else { throw DatastoreError(.closed(path)) }
      try FileSystem.perform("write", path, state.file?.finish())
      state.file = nil
      return StagedFile(path, in: session, keys: keys, key: state.hash.finalize(), length: state.length)
    }
  }

  /// Appends a part. Only one call may run at a time.
  package func write(_ bytes: [UInt8]) async throws {
    try await WorkQueue.files.run { _ in try bytes.withUnsafeBytes { try self.write($0) } }
  }

  /// Syncs the content to disk, and returns an attachment that can be saved in the datastore.
  package func finish(name: String, contentType: String) async throws -> DocumentAttachment {
    let staged = try await WorkQueue.files.run { _ in try self.finish() }
    return DocumentAttachment(staged, name: name, contentType: contentType)
  }

  deinit {
    if state.withLock({ $0.file != nil }) { try? Files.remove(path) }
  }
}

extension Datastore {
  /// Begins to receive the content of an attachment.
  package func beginUpload() async throws -> AttachmentUpload {
    try await WorkQueue.files.run { _ in try self.attachmentFiles.beginUpload() }
  }
}

/// Content in the directory that has no final name yet. Unless it is published, it is removed with the last reference.
package final class StagedFile: Sendable, Hashable {
  let path: String
  package let key: [UInt8]
  package let length: Int64
  private let session: StagingSession
  private let keys: StoreKeys?
  private let isPublished = Atomic(false)

  fileprivate init(
    _ path: String, in session: StagingSession, keys: StoreKeys?, key: [UInt8], length: Int64
  ) {
    (self.path, self.session, self.keys) = (path, session, keys)
    (self.key, self.length) = (key, length)
  }

  /// Calls a closure with the bytes in chunks.
  func forEachChunk(of name: String, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    do {
      guard var file = try ContentFile(path, key: keys?.contents), try file.forEachChunk(body) else {
        throw DatastoreError(.damagedAttachment(name, path))
      }
    } catch let error as SystemError {
      throw DatastoreError(.missingSource(path, of: name, error.description))
    }
  }

  func rename(to path: String) throws {
    guard !isPublished.load(ordering: .relaxed) else { return }
    try session.check()
    try FileSystem.rename(self.path, to: path)
    isPublished.store(true, ordering: .relaxed)
  }

  deinit {
    if !isPublished.load(ordering: .relaxed) { try? Files.remove(path) }
  }

  package static func == (left: StagedFile, right: StagedFile) -> Bool { left.key == right.key }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(key)
  }
}
