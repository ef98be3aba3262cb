package import CDTSQLite

/// A row of `attachments`: an attachment of a revision.
package struct AttachmentRow: Sendable, Hashable {
  package let name: String
  package let key: [UInt8]
  package let type: String
  package let length: Int64
  /// The generation that added it.
  package let generation: Int

  /// The attachments of a revision, in the order of their names.
  package static func find(
    document: Int64, revision: RevisionID, on connection: Connection
  ) throws -> [AttachmentRow] {
    let statement = try connection.statement(
      """
      SELECT name, key, type, length, revpos FROM attachments WHERE document = ?1 AND revision = ?2
      """)
    defer { statement.reset() }
    try statement.bind(document, at: 1)
    try statement.bind(revision.description, at: 2)
    var rows: [AttachmentRow] = []
    while try statement.step() {
      rows.append(AttachmentRow(statement))
    }
    return rows.sorted { $0.name.utf16.lexicographicallyPrecedes($1.name.utf16) }
  }

  package static func insert(
    _ rows: [AttachmentRow], document: Int64, revision: RevisionID, on connection: Connection
  ) throws {
    for row in rows {
      let statement = try connection.statement("INSERT INTO attachments VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")
      try statement.bind(document, at: 1)
      try statement.bind(revision.description, at: 2)
      try statement.bind(row.name, at: 3)
      try statement.bind(blob: row.key, at: 4)
      try statement.bind(row.type, at: 5)
      try statement.bind(row.length, at: 6)
      try statement.bind(Int64(row.generation), at: 7)
      try statement.run()
    }
  }
}

extension AttachmentRow {
  /// More than a file can have. The lengths of all attachments of a document can be added.
  private static let longest: Int64 = 1 << 50

  /// - Parameters:
  ///   - length: As stored. An impossible one becomes one that no file has.
  ///   - generation: As stored.
  package init(name: String, key: [UInt8], type: String, storedLength length: Int64, generation: Int64) {
    self.init(
      name: name, key: key, type: type, length: min(max(0, length), Self.longest),
      generation: Int(clamping: generation))
  }

  /// - Parameter statement: At a row whose columns are `name`, `key`, `type`, `length` and `revpos`.
  package init(_ statement: Statement) {
    self.init(
      name: statement.text(0), key: statement.withBytes(1) { Array($0) }, type: statement.text(2),
      storedLength: statement.int64(3), generation: statement.int64(4))
  }
}

extension Attachments {
  package init(_ rows: [AttachmentRow], in files: AttachmentFiles) {
    self.init(rows.map { DocumentAttachment($0, in: files) })
  }

  /// The saved attachments of a revision.
  package init(document: Int64, revision: RevisionID, on connection: Connection, files: AttachmentFiles)
    throws
  {
    self.init(try AttachmentRow.find(document: document, revision: revision, on: connection), in: files)
  }
}
