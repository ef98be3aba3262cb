package import CDTPlatform
import CDTSQLite

extension ReadTransaction {
  /// The number of stored attachments; content shared by several revisions counts once.
  ///
  /// - Complexity: O(*a*) in the number of attachments of all revisions.
  public func attachmentCount() throws -> Int {
    let seen = try seenDocuments()?.table(hidesDocuments: false)
    let condition = seen.map { " WHERE document IN (SELECT number FROM \($0.name))" } ?? ""
    return try use { Int(try $0.scalar("SELECT count(DISTINCT key) FROM attachments\(condition)")) }
  }
}

extension Datastore {
  /// Creates an attachment from the rest of an open file, such as a pipe. The content is copied into the store's
  /// directory immediately, in constant memory; the copy is removed with the attachment unless you save it.
  ///
  /// - Parameter source: The name of the file in messages.
  package func attachment(
    reading file: OpenFile, source: String, name: String, contentType: String
  ) throws -> DocumentAttachment {
    let staged = try attachmentFiles.stage { write in
      do {
        try FileChunks.read(file, write)
      } catch let error as SystemError {
        throw DatastoreError(.missingSource(source, of: name, error.description))
      }
    }
    return DocumentAttachment(staged, name: name, contentType: contentType)
  }
}
