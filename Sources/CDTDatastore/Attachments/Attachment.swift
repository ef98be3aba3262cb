public import FoundationEssentials
import JSON

/// Binary data that belongs to a document, under a name.
///
/// ```swift
/// var task = try store.document(withID: "task1")
/// task.attachments["cat.jpg"] = Attachment(file: "/tmp/cat.jpg", name: "cat.jpg", type: "image/jpeg")
/// task = try store.updateDocument(from: task)
/// try task.attachments["cat.jpg"]?.data()
/// ```
///
/// An attachment is made of data or of a file, which is read when the revision is saved. One that is taken from a saved
/// revision can be given to another revision, also of another document or datastore. Source: `docs/attachments.md`.
public struct Attachment: Sendable, Hashable {
  /// The name, unique in its revision; any text but none. It never becomes a path.
  public let name: String

  /// The media type, such as `image/jpeg`; it is kept as it is.
  public let type: String

  let content: AttachmentContent

  private init(name: String, type: String, content: AttachmentContent) {
    self.name = name
    self.type = type
    self.content = content
  }

  /// An attachment of data in memory.
  public init(data: Data, name: String, type: String) {
    self.init(name: name, type: type, content: .data(data))
  }

  /// An attachment of a file, which is read when the revision is saved, in constant memory.
  ///
  /// - Parameter file: The path; a file that is missing then is an error, and nothing is saved.
  public init(file: String, name: String, type: String) {
    self.init(name: name, type: type, content: .file(file))
  }

  init(_ row: AttachmentRow, in files: AttachmentFiles) {
    self.init(name: row.name, type: row.type, content: .saved(SavedContent(row, in: files)))
  }

  init(_ staged: StagedFile, name: String, type: String) {
    self.init(name: name, type: type, content: .staged(staged))
  }

  func with(_ staged: StagedFile) -> Attachment {
    Attachment(staged, name: name, type: type)
  }

  /// The number of bytes; `nil` for a file that has not been saved.
  public var length: Int64? {
    switch content {
    case .data(let data): Int64(data.count)
    case .file: nil
    case .staged(let staged): staged.length
    case .saved(let saved): saved.length
    }
  }

  /// The generation of the revision in which the attachment came to its document, CouchDB's `revpos`; `nil` when it has
  /// not been saved.
  public var generation: Int? {
    if case .saved(let saved) = content { saved.generation } else { nil }
  }

  /// The SHA-1 of the content, in 40 hexadecimal digits; `nil` when it has not been saved.
  public var digest: String? {
    if case .saved(let saved) = content { RevisionDigest.hex(saved.key) } else { nil }
  }

  /// Whether both have the same name, type and content, told by where the content comes from and not by reading it.
  public static func == (left: Attachment, right: Attachment) -> Bool {
    left.name.hasSameBytes(as: right.name) && left.type.hasSameBytes(as: right.type)
      && left.content == right.content
  }

  /// Equal attachments hash alike.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(KeyBytes(name))
    hasher.combine(content)
  }
}

// MARK: - Reading

extension Attachment {
  /// The content, in memory at once.
  ///
  /// - Throws: ``DatastoreError``: `.corrupt` naming the attachment when the file is not what was saved, `.notFound`
  ///   when it was removed by a compaction, `.closed`, `.io`.
  public func data() throws -> Data {
    if case .data(let data) = content { return data }
    var data = Data()
    if let length { data.reserveCapacity(Int(clamping: min(length, 1 << 30))) }
    try content.forEachChunk(of: name) { data.append(contentsOf: $0) }
    return data
  }

  /// Calls a closure with the content piece by piece, in constant memory.
  ///
  /// A saved file is checked before the first call, so that no wrong byte is ever given; that reads it twice. The
  /// bytes are valid only within the call.
  ///
  /// - Throws: What ``data()`` throws, and what the closure does.
  public func forEachChunk(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    try content.verify(name)
    try content.forEachChunk(of: name, body)
  }

  /// Writes the content to a file in constant memory. A file that is there is replaced when all of it is written, and
  /// is left as it was after an error.
  public func write(toFile path: String) throws {
    try AttachmentFiles.replaceFile(path) { write in
      try content.forEachChunk(of: name, write)
    }
  }
}
