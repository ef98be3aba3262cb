package import CDTDatastore
import CDTGzip
import CDTJSON

/// Receives the content of an attachment in parts, decompressed and counted, into a file of the datastore.
package struct AttachmentSink {
  private let upload: AttachmentUpload
  private let name: String
  private let limit: Int64
  private let gzip: GzipReader?
  private var length: Int64 = 0
  /// The bytes that are not written yet: each write is a change of threads.
  private var gathered: [UInt8] = []
  /// The digest that the client gives for the bytes as it sends them.
  private var expected: String?
  /// The error if they differ.
  private let mismatch: CouchError
  /// `nil` if the datastore computes the same one.
  private var digest: ContentDigest?
  private var expectedLength: Int64?
  private var received: Int64 = 0

  private static let chunk = 256 * 1024

  /// Receives an attachment that is the body of a request.
  ///
  /// - Parameter contentMD5: The header `Content-MD5`, which is verified.
  package init(_ store: Datastore, name: String, isCompressed: Bool, limit: Int64, contentMD5: String?)
    async throws
  {
    try await self.init(store, name: name, isCompressed: isCompressed, limit: limit, mismatch: .contentMD5)
    if let contentMD5 {
      expected = "md5-\(contentMD5)"
      digest = ContentDigest(.md5)
    }
  }

  private init(_ store: Datastore, name: String, isCompressed: Bool, limit: Int64, mismatch: CouchError)
    async throws
  {
    self.name = name
    self.limit = limit
    self.mismatch = mismatch
    gzip = isCompressed ? try GzipReader(limit: limit) : nil
    upload = try await store.beginUpload()
  }

  /// Receives a part of a multipart body, and verifies its length and digest.
  package init(_ store: Datastore, _ attachment: IncomingAttachment, isCompressed: Bool, limit: Int64)
    async throws
  {
    try await self.init(
      store, name: attachment.name, isCompressed: isCompressed, limit: limit,
      mismatch: .badRequest("Attachment \(attachment.name): the content differs from its digest"))
    if case .follows(let length, let encodedLength, _) = attachment.source {
      expectedLength = isCompressed ? encodedLength : length
    }
    if let text = attachment.digest, let kind = ContentDigest.Kind(of: text) {
      expected = text
      if isCompressed || kind != .sha1 { digest = ContentDigest(kind) }
    }
  }

  package mutating func write(_ bytes: some RandomAccessCollection<UInt8> & Sendable) async throws {
    digest?.update(bytes)
    received += Int64(bytes.count)
    if let expectedLength, received > expectedLength {
      throw CouchError.badRequest("Attachment \(name): attachment longer than expected")
    }
    guard let gzip else { return try await store(bytes) }
    var chunk = Array(bytes)[...]
    while let plain = try gzip.next(&chunk) { try await store(plain) }
  }

  private mutating func store(_ bytes: some RandomAccessCollection<UInt8> & Sendable) async throws {
    length += Int64(bytes.count)
    guard length <= limit else { throw CouchError(413, "attachment_too_large", name) }
    if gathered.isEmpty { gathered.reserveCapacity(Self.chunk + bytes.count) }
    gathered += bytes
    if gathered.count >= Self.chunk { try await flush() }
  }

  private mutating func flush() async throws {
    guard !gathered.isEmpty else { return }
    try await upload.write(gathered)
    gathered.removeAll(keepingCapacity: true)
  }

  package mutating func finish(name: String, type: String) async throws -> DocumentAttachment {
    try gzip?.finish()
    if let expectedLength, received < expectedLength {
      throw CouchError.badRequest("Attachment \(name): attachment shorter than expected")
    }
    if let expected, let digest { try check(digest.text, expected) }
    try await flush()
    let attachment = try await upload.finish(name: name, contentType: type)
    if let expected, digest == nil { try check(attachment.couchDigest, expected) }
    return attachment
  }

  private func check(_ digest: String?, _ expected: String) throws(CouchError) {
    if let digest, digest.hasSameBytes(as: expected) { return }
    throw mismatch
  }
}

extension CouchError {
  fileprivate static let contentMD5 = CouchError(400, "content_md5_mismatch", "Possible message corruption.")
}
