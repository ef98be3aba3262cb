import CDTJSON
public import CDTPlatform

/// Binary data attached to a document under a name.
///
/// ```swift
/// var task = try store.document(withID: "task1")
/// task.attachments["cat.jpg"] = DocumentAttachment(file: "/tmp/cat.jpg", name: "cat.jpg", contentType: "image/jpeg")
/// task = try store.updateDocument(from: task)
/// try task.attachments["cat.jpg"]?.data()
/// ```
///
/// The content is either data in memory or a file, which is read when you save the revision. You can add an attachment
/// of a saved revision to another revision, also of another document or datastore. See <doc:KeepingAttachments>.
public struct DocumentAttachment: Sendable, Hashable {
  /// The name, which is not empty and is unique in its revision. It is never used as a path.
  public let name: String

  /// The media type, such as `image/jpeg`, stored unchanged.
  public let contentType: String

  let content: AttachmentContent

  /// The generation that the revision's source says added it; `nil` to find out.
  let declaredGeneration: Int?

  private init(
    name: String, contentType: String, content: AttachmentContent, declaredGeneration: Int? = nil
  ) {
    self.name = name
    self.contentType = contentType
    self.content = content
    self.declaredGeneration = declaredGeneration
  }

  /// The attachment as added by a generation, which a replicator knows.
  package func declared(inGeneration generation: Int) -> DocumentAttachment {
    DocumentAttachment(name: name, contentType: contentType, content: content, declaredGeneration: generation)
  }

  /// Creates an attachment from data in memory.
  public init(data: Data, name: String, contentType: String) {
    self.init(name: name, contentType: contentType, content: .data(data))
  }

  /// Creates an attachment from a file, which is read in constant memory when you save the document.
  ///
  /// - Parameters:
  ///   - path: The path of a regular file, or of a link to one. If the file is missing when the document is saved, or is
  ///     a device, a FIFO or a directory, saving throws `.invalidAttachment` and nothing is saved.
  ///   - name: The attachment's name, unique in its revision.
  ///   - contentType: The content's MIME type, such as `image/jpeg`.
  public init(file path: String, name: String, contentType: String) {
    self.init(name: name, contentType: contentType, content: .file(path))
  }

  /// Creates an attachment from a file. See ``init(file:name:contentType:)-(String,_,_)``.
  public init(file url: URL, name: String, contentType: String) {
    self.init(file: url.path, name: name, contentType: contentType)
  }

  package init(_ row: AttachmentRow, in files: AttachmentFiles) {
    self.init(name: row.name, contentType: row.type, content: .saved(SavedContent(row, in: files)))
  }

  init(_ staged: StagedFile, name: String, contentType: String) {
    self.init(name: name, contentType: contentType, content: .staged(staged))
  }

  func with(_ staged: StagedFile) -> DocumentAttachment {
    DocumentAttachment(
      name: name, contentType: contentType, content: .staged(staged), declaredGeneration: declaredGeneration)
  }

  /// The number of bytes; `nil` for a file that is not saved yet.
  public var length: Int64? {
    switch content {
    case .data(let data): Int64(data.count)
    case .file: nil
    case .staged(let staged): staged.length
    case .saved(let saved): saved.length
    }
  }

  /// The generation of the revision that added the attachment, CouchDB's `revpos`; `nil` before it is saved.
  public var generation: Int? {
    if case .saved(let saved) = content { saved.generation } else { nil }
  }

  /// The SHA-1 of the content as 40 hexadecimal digits; `nil` before it is saved.
  public var digest: String? {
    if case .saved(let saved) = content { Hexadecimal.text(saved.key) } else { nil }
  }

  /// Whether both have the same name, type and content. Contents are compared by their source, without reading them.
  public static func == (left: DocumentAttachment, right: DocumentAttachment) -> Bool {
    left.name.hasSameBytes(as: right.name) && left.contentType.hasSameBytes(as: right.contentType)
      && left.content == right.content
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(KeyBytes(name))
    hasher.combine(content)
  }
}

// MARK: - Reading

extension DocumentAttachment {
  /// The whole content, read into memory.
  ///
  /// - Throws: ``DatastoreError``: `.corrupt` if the file differs from what was saved, `.notFound` if compaction
  ///   removed it, `.closed`, `.io`.
  public func data() throws -> Data {
    try data(stop: nil)
  }

  private func data(stop: StopSignal?) throws -> Data {
    if case .data(let data) = content { return data }
    var data = Data()
    if let length { data.reserveCapacity(Int(clamping: min(length, 1 << 30))) }
    try content.forEachChunk(of: name) {
      try stop?.check()
      data.append(contentsOf: $0)
    }
    return data
  }

  /// The whole content, read into memory without blocking the calling thread.
  public func data() async throws -> Data {
    try await WorkQueue.files.run { try self.data(stop: $0) }
  }

  /// Verifies that a saved content can be read and is what was saved, which reads all of it.
  ///
  /// - Throws: The errors of `data()`.
  package func verify(stop: StopSignal? = nil) throws {
    guard case .saved(let saved) = content else { return }
    try saved.forEachChunk(of: name) { _ in try stop?.check() }
  }

  /// Verifies a saved content without blocking the calling thread.
  package func verify() async throws {
    try await WorkQueue.files.run { try self.verify(stop: $0) }
  }

  /// Calls a closure with the content in chunks, in constant memory.
  ///
  /// A saved file is verified before the first call and therefore read twice. The bytes are valid only during the
  /// call.
  ///
  /// - Throws: The errors of `data()` and of the closure.
  public func forEachChunk(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    try verify()
    try content.forEachChunk(of: name, body)
  }

  /// Calls a closure with the content in chunks, without blocking the calling thread.
  public func forEachChunk(
    _ body: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
  ) async throws {
    try await WorkQueue.files.run { stop in
      try self.forEachChunk {
        try stop.check()
        try body($0)
      }
    }
  }

  /// Writes the content to a file in constant memory. An existing file is replaced only after all content is written;
  /// after an error it is unchanged.
  public func write(toFile path: String) throws {
    try write(toFile: path, stop: nil)
  }

  /// Writes the content to a file, on a thread that may block.
  public func write(toFile path: String) async throws {
    try await WorkQueue.files.run { try self.write(toFile: path, stop: $0) }
  }

  private func write(toFile path: String, stop: StopSignal?) throws {
    try AttachmentFiles.replaceFile(path) { write in
      try content.forEachChunk(of: name) {
        try stop?.check()
        try write($0)
      }
    }
  }

  /// Writes the content to a file. See `write(toFile:)`.
  public func write(to url: URL) throws {
    try write(toFile: url.path)
  }

  /// Writes the content to a file without blocking the calling thread.
  public func write(to url: URL) async throws {
    try await WorkQueue.files.run { try self.write(toFile: url.path, stop: $0) }
  }
}
