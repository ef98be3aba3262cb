import SQLite

/// Documents about to be saved for the first time, as rows that one statement reads.
final class NewDocuments: MemoryRows {
  private(set) var bytes: [UInt8] = []
  private var rows: [Row] = []

  private struct Row {
    let sequence: Int64
    let id: Range<Int>
    let revision: Range<Int>
    let body: Range<Int>
  }

  var count: Int { rows.count }

  func append(id: String, body: BodyText, sequence: Int64) throws {
    let revision = try RevisionDigest.revision(after: nil, isDeleted: false, canonicalBody: body.canonical)
    let start = bytes.count
    bytes += id.utf8
    let idEnd = bytes.count
    bytes += revision.description.utf8
    let revisionEnd = bytes.count
    bytes += body.text
    rows.append(
      Row(
        sequence: sequence, id: start..<idEnd, revision: idEnd..<revisionEnd,
        body: revisionEnd..<bytes.count))
  }

  func read(row: Int, of bytes: UnsafeRawBufferPointer, into values: inout [MemoryValue]) {
    let row = rows[row]
    values.append(.int(row.sequence))
    values.append(.text(row.id))
    values.append(.text(row.revision))
    values.append(.text(row.body))
  }

  /// Inserts the documents.
  ///
  /// - Returns: Whether all of them were new; if not, nothing has changed.
  func insert(on connection: Connection) throws -> Bool {
    try connection.statement("SAVEPOINT new_documents").run()
    try connection.run(
      """
      INSERT INTO documents (sequence, number, id, revision, leaves, deleted, attachments, body)
      SELECT c0, c0, c1, c2, 1, 0, 0, c3 FROM memory_rows WHERE true ON CONFLICT (id) DO NOTHING
      """, reading: self)
    let isWhole = connection.changes == count
    if !isWhole { try connection.statement("ROLLBACK TO new_documents").run() }
    try connection.statement("RELEASE new_documents").run()
    return isWhole
  }
}
