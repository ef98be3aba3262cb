/// The content of an attachment that arrives in parts, for example from a network. It is written to the datastore's
/// directory, and removed with the last reference unless the attachment is saved.
package struct AttachmentUpload: Sendable {
  private let file: StagingFile

  fileprivate init(_ file: StagingFile) {
    self.file = file
  }

  /// Appends a part. Only one call may run at a time.
  package func write(_ bytes: [UInt8]) async throws {
    try await AsyncWork.ofFiles.run(.read) { _ in try bytes.withUnsafeBytes { try file.write($0) } }
  }

  /// Syncs the content to disk, and returns an attachment that can be saved in the datastore.
  package func finish(name: String, contentType: String) async throws -> DocumentAttachment {
    let staged = try await AsyncWork.ofFiles.run(.read) { _ in try file.finish() }
    return DocumentAttachment(staged, name: name, contentType: contentType)
  }
}

extension Datastore {
  /// Begins to receive the content of an attachment.
  package func beginUpload() async throws -> AttachmentUpload {
    try await AsyncWork.ofFiles.run(.read) { _ in AttachmentUpload(try self.attachmentFiles.beginStaging()) }
  }
}
