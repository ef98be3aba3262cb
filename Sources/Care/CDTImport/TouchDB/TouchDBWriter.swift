import CDTDatastore
import CDTJSON
import CDTPlatform

/// Writes the content of a CDTDatastore 2.x file into a datastore.
struct TouchDBWriter {
  let datastore: Datastore
  let revisions: TouchDBRevisions
  let attachments: TouchDBAttachments

  /// The contents of attachments by their keys in the file.
  private struct Contents {
    /// Staged contents, to be published by the transaction.
    var staged: [[UInt8]: StagedFile] = [:]
    /// Contents saved in the store's directory by the current transaction.
    var saved: [[UInt8]: (key: [UInt8], length: Int64)] = [:]
  }

  /// Writes documents in one transaction.
  ///
  /// - Returns: The updated report.
  /// - Throws: ``TouchDBError`` for an invalid document; `DatastoreError`. Nothing is written then.
  func write(_ documents: [TouchDBDocument], _ report: TouchDBReport) throws -> TouchDBReport {
    var contents = Contents()
    for document in documents { try stage(document, &contents) }
    return try datastore.write { transaction in
      var report = report
      for document in documents {
        do {
          try DocumentID.check(document.id)
          try write(document, transaction, &contents, &report)
        } catch let error as DatastoreError where error.status < 500 {
          throw TouchDBError.refused(revisions.file.path, document.id, error)
        }
        report.documents += 1
      }
      return report
    }
  }

  /// Writes local documents in one transaction. Existing ones are kept.
  func write(
    _ localDocuments: [(id: String, body: JSONObject)], _ report: TouchDBReport
  ) throws -> TouchDBReport {
    try datastore.write { transaction in
      var report = report
      for (id, body) in localDocuments where try !transaction.hasLocalDocument(id) {
        try transaction.setLocalDocument(body, withID: id)
        report.localDocuments += 1
      }
      return report
    }
  }

  private func write(
    _ document: TouchDBDocument, _ transaction: WriteTransaction, _ contents: inout Contents,
    _ report: inout TouchDBReport
  ) throws {
    // A document that the store has may have another history, of which the rest is ignored.
    let isNew = try transaction.entry(ofDocument: document.id) == nil
    var imported: Set<RevisionID> = []
    try revisions.forEachRevision(of: document) { revision in
      let history = try revisions.history(of: revision, in: document, until: imported)
      try WriteTransaction.check(history, of: revision.id, id: document.id)
      _ = try transaction.forceInsert(history, of: document.id) { sequence in
        let body = try revisions.body(of: revision, in: document)
        let rows = try self.rows(for: revision, of: document, transaction, &contents)
        report.revisions += 1
        report.attachments += rows.count
        return NewRevision(
          id: revision.id, parent: nil, sequence: sequence, isDeleted: revision.isDeleted, body: body.text,
          attachments: rows)
      }
      if isNew { imported.formUnion(history) }
    }
  }

  // MARK: Attachments

  /// Stages the contents of a document's new revisions, so that the transaction is short.
  private func stage(_ document: TouchDBDocument, _ contents: inout Contents) throws {
    guard try attachments.hasAny(in: document) else { return }
    try revisions.forEachRevision(of: document) { revision in
      let rows = try attachments.rows(ofSequence: revision.sequence, id: document.id)
      guard !rows.isEmpty,
        try datastore.read({ try $0.missingRevisions(of: document.id, among: [revision.id]) }).count == 1
      else { return }
      for row in rows where contents.staged[row.contentKey] == nil {
        contents.staged[row.contentKey] = try staged(row, of: document)
      }
    }
  }

  private func staged(_ row: TouchDBAttachment, of document: TouchDBDocument) throws -> StagedFile {
    try datastore.attachmentFiles.stage { write in
      try attachments.forEachChunk(of: row, id: document.id, write)
    }
  }

  /// Saves the contents of a revision's attachments inside the transaction, and returns the rows to write.
  private func rows(
    for revision: TouchDBRevision, of document: TouchDBDocument, _ transaction: WriteTransaction,
    _ contents: inout Contents
  ) throws -> [AttachmentRow] {
    var rows: [KeyBytes: AttachmentRow] = [:]
    for row in try attachments.rows(ofSequence: revision.sequence, id: document.id) {
      guard !row.name.isEmpty else { throw DatastoreError(.attachmentWithoutName(document.id)) }
      if contents.saved[row.contentKey] == nil {
        let staged = try contents.staged.removeValue(forKey: row.contentKey) ?? staged(row, of: document)
        try transaction.publish(staged)
        contents.saved[row.contentKey] = (staged.key, staged.length)
      }
      guard let content = contents.saved[row.contentKey] else { continue }
      rows[KeyBytes(row.name)] = self.row(row, content, revision)
    }
    return Array(rows.values)
  }

  /// The row to write. An attachment keeps its generation.
  private func row(
    _ row: TouchDBAttachment, _ content: (key: [UInt8], length: Int64), _ revision: TouchDBRevision
  ) -> AttachmentRow {
    let generation = Int(clamping: row.revpos)
    return AttachmentRow(
      name: row.name, key: content.key, type: row.type, storedLength: content.length,
      generation: Int64(1...revision.id.generation ~= generation ? generation : revision.id.generation))
  }
}

extension TouchDBAttachment {
  /// Identifies a content: a compressed and an uncompressed one may have the same bytes.
  fileprivate var contentKey: [UInt8] { key + [isPacked ? 1 : 0] }
}
