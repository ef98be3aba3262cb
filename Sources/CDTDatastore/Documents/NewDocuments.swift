import SQLite

/// Documents about to be saved for the first time, as rows that one statement reads.
///
/// All of them share one array of bytes, as a few small arrays for each would cost more than the rest.
final class NewDocuments: MemoryRows {
  private(set) var bytes: [UInt8] = []
  private var rows: [Row] = []
  private var digests = RevisionDigest.Batch()
  /// Whether every id can be one.
  private var haveIDs = true
  /// The sequence before the first row's.
  private var lastSequence: Int64 = 0

  private struct Row {
    let start: Int
    let idEnd: Int
    let revisionEnd: Int
    let end: Int
  }

  var count: Int { rows.count }

  func append(id: String, body: BodyText) {
    if (try? DocumentID.check(id)) == nil { haveIDs = false }
    let start = bytes.count
    bytes += id.utf8
    let idEnd = bytes.count
    bytes += RevisionDigest.blank
    let revisionEnd = bytes.count
    bytes += body.text
    digests.append(canonicalBody: body.canonical, revisionAt: idEnd)
    rows.append(Row(start: start, idEnd: idEnd, revisionEnd: revisionEnd, end: bytes.count))
  }

  func id(at row: Int) -> String {
    String(decoding: bytes[rows[row].start..<rows[row].idEnd], as: UTF8.self)
  }

  func body(at row: Int) -> BodyText {
    BodyText(stored: Array(bytes[rows[row].revisionEnd..<rows[row].end]))
  }

  @inline(__always)
  func read(row: Int, of bytes: UnsafeRawBufferPointer, into values: inout [MemoryValue]) {
    let place = rows[row]
    values.append(.int(lastSequence + 1 + Int64(row)))
    values.append(.text(place.start..<place.idEnd))
    values.append(.text(place.idEnd..<place.revisionEnd))
    values.append(.text(place.revisionEnd..<place.end))
  }

  /// Inserts the documents, under the sequences that follow one.
  ///
  /// - Returns: Whether all of them were new; if not, nothing has changed.
  func insert(after lastSequence: Int64, on connection: Connection) throws -> Bool {
    guard haveIDs else { return false }
    self.lastSequence = lastSequence
    digests.write(to: &bytes)
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
