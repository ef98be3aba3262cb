import CDTDigest
import CDTPlatform
import Synchronization

/// Reads the content of a saved attachment, or a part of it, in chunks.
///
/// The whole content is verified on the way: the last chunk is returned only if the file is what was saved. So a consumer
/// that has all chunks has the right bytes.
package final class AttachmentReader: Sendable {
  private let state: Mutex<State>
  /// The number of bytes that the chunks have together.
  package let length: Int64

  fileprivate struct State: Sendable {
    let saved: SavedContent
    let name: String
    let path: String
    var file: ContentFile
    var hash = Digest(.sha1)
    /// The number of bytes read from the file.
    var position: Int64 = 0
    /// The start and the end of the requested part.
    let start: Int64
    let end: Int64
    /// The end of the requested part, until all is read.
    var held: [UInt8] = []
    /// Whether all was read and verified.
    var isAtEnd = false
  }

  /// Opens the file of a saved attachment, on a thread that may wait for the disk.
  ///
  /// - Parameter range: The bytes to return, within the content; `nil` for all.
  package init(_ attachment: DocumentAttachment, range: Range<Int64>? = nil) async throws {
    guard case .saved(let saved) = attachment.content else {
      throw DatastoreError(.missingAttachment(attachment.name, ""))
    }
    let name = attachment.name
    let (path, file) = try await WorkQueue.files.run { _ in
      try saved.files.checkOpen()
      let path = saved.files.path(of: saved.key)
      let file: ContentFile?
      do throws(SystemError) {
        file = try saved.files.open(path)
      } catch {
        if error.isMissing { throw DatastoreError(.missingAttachment(name, path)) }
        throw DatastoreError(error, "read", path)
      }
      guard let file else { throw DatastoreError(.damagedAttachment(name, path)) }
      return (path, file)
    }
    let range = (range ?? 0..<saved.length).clamped(to: 0..<saved.length)
    length = Int64(range.count)
    state = Mutex(
      State(
        saved: saved, name: name, path: path, file: file, start: range.lowerBound, end: range.upperBound))
  }

  /// The next chunk; empty at the end. Only one call may run at a time.
  ///
  /// - Throws: ``DatastoreError``: `.corrupt` if the file differs from what was saved.
  package func next() async throws -> [UInt8] {
    if state.withLock({ $0.isAtEnd }) { return [] }
    return try await WorkQueue.files.run { stop in
      try self.state.withLock { state in
        while true {
          try stop.check()
          if let chunk = try state.step() { return chunk }
        }
      }
    }
  }
}

extension AttachmentReader.State {
  /// Reads on, and returns a chunk that may be passed on; `nil` to go on.
  fileprivate mutating func step() throws -> [UInt8]? {
    guard let bytes = try FileSystem.perform("read", path, file.next()) else {
      throw DatastoreError(.damagedAttachment(name, path))
    }
    guard !bytes.isEmpty else { return try finish() }
    bytes.withUnsafeBytes { hash.update($0) }
    let wanted = (start..<end).clamped(to: position..<position + Int64(bytes.count))
    let offset = position
    position += Int64(bytes.count)
    guard position <= saved.length else { throw DatastoreError(.damagedAttachment(name, path)) }
    guard !wanted.isEmpty else { return nil }
    let chunk =
      wanted.count == bytes.count
      ? bytes : Array(bytes[Int(wanted.lowerBound - offset)..<Int(wanted.upperBound - offset)])
    if position < end { return chunk }
    held = chunk
    return nil
  }

  /// Verifies the content, and returns what is left.
  private mutating func finish() throws -> [UInt8] {
    guard position == saved.length, hash.finalize().elementsEqual(saved.key) else {
      throw DatastoreError(.damagedAttachment(name, path))
    }
    isAtEnd = true
    defer { held = [] }
    return held
  }
}
