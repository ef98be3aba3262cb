import JSON
import SQLite

/// Documents about to be saved for the first time, as rows that one statement reads.
///
/// All of them share one array of bytes, as a few small arrays for each would cost more than the rest.
final class NewDocuments: MemoryRows {
  private var content = Content()
  /// The sequence before the first row's.
  private var lastSequence: Int64 = 0

  fileprivate struct Content {
    var bytes: [UInt8] = []
    var rows: [Row] = []
    var digests = RevisionDigest.Batch()
    /// Whether every id can be one.
    var haveIDs = true
  }

  fileprivate struct Row {
    let start: Int
    let idEnd: Int
    let revisionEnd: Int
    let end: Int
  }

  var count: Int { content.rows.count }

  var bytes: [UInt8] { content.bytes }

  /// Adds a document, whose texts the normalizer has.
  func append(id: String, body: JSONNormalizer) {
    content.append(id, body)
  }

  /// Forgets every document, but keeps the memory that they took.
  func removeAll() {
    content.bytes.removeAll(keepingCapacity: true)
    content.rows.removeAll(keepingCapacity: true)
    content.digests.removeAll()
    content.haveIDs = true
  }

  func id(at row: Int) -> String {
    String(decoding: content.bytes[content.rows[row].start..<content.rows[row].idEnd], as: UTF8.self)
  }

  func body(at row: Int) -> BodyText {
    BodyText(stored: Array(content.bytes[content.rows[row].revisionEnd..<content.rows[row].end]))
  }

  @inline(__always)
  func read(row: Int, of bytes: UnsafeRawBufferPointer, into values: inout [MemoryValue]) {
    let place = content.rows[row]
    values.append(.int(lastSequence + 1 + Int64(row)))
    values.append(.text(place.start..<place.idEnd))
    values.append(.text(place.idEnd..<place.revisionEnd))
    values.append(.text(place.revisionEnd..<place.end))
  }

  /// Inserts the documents, under the sequences that follow one.
  ///
  /// - Returns: Whether all of them were new; if not, nothing has changed.
  func insert(after lastSequence: Int64, on connection: Connection) throws -> Bool {
    guard content.haveIDs else { return false }
    self.lastSequence = lastSequence
    content.digests.write(to: &content.bytes)
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

extension NewDocuments.Content {
  mutating func append(_ id: String, _ body: JSONNormalizer) {
    if (try? DocumentID.check(id)) == nil { haveIDs = false }
    let start = bytes.count
    var id = id
    id.withUTF8 { bytes.append(contentsOf: $0) }
    let idEnd = bytes.count
    bytes += RevisionDigest.blank
    let revisionEnd = bytes.count
    bytes += body.text
    digests.append(canonicalBody: body.canonical, revisionAt: idEnd)
    rows.append(NewDocuments.Row(start: start, idEnd: idEnd, revisionEnd: revisionEnd, end: bytes.count))
  }
}
