import JSON
import SQLite

/// Documents about to be saved for the first time, all at once.
///
/// They share one array of bytes, as a few small arrays for each would cost more than the rest.
final class NewDocuments {
  private var bytes: [UInt8] = []
  private var rows: [Row] = []
  /// Whether every id is valid.
  private var haveValidIDs = true

  /// Where the texts of a document end, one behind the other.
  private struct Row {
    let start: Int
    let idEnd: Int
    let revisionEnd: Int
    let end: Int
  }

  private static let insertion = RowInsertion(
    "INSERT INTO documents (number, sequence, id, revision, leaves, deleted, attachments, body)",
    row: "(?, ?, ?, ?, 1, 0, 0, ?)", tail: "ON CONFLICT (id) DO NOTHING")

  var count: Int { rows.count }

  /// Adds a document, whose texts the normalizer has.
  func append(id: String, body: JSONNormalizer) {
    if (try? DocumentID.check(id)) == nil { haveValidIDs = false }
    let start = bytes.count
    var id = id
    id.withUTF8 { bytes.append(contentsOf: $0) }
    let idEnd = bytes.count
    RevisionDigest.appendFirstRevision(canonicalBody: body.canonical, to: &bytes)
    let revisionEnd = bytes.count
    bytes += body.text
    rows.append(Row(start: start, idEnd: idEnd, revisionEnd: revisionEnd, end: bytes.count))
  }

  /// Forgets every document, but keeps the memory that they took.
  func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    rows.removeAll(keepingCapacity: true)
    haveValidIDs = true
  }

  func id(at row: Int) -> String {
    String(decoding: bytes[rows[row].start..<rows[row].idEnd], as: UTF8.self)
  }

  func body(at row: Int) -> BodyText {
    BodyText(stored: Array(bytes[rows[row].revisionEnd..<rows[row].end]))
  }

  /// Inserts the documents, under the sequences that follow one.
  ///
  /// - Returns: Whether all of them were new; if not, nothing has changed.
  func insert(after lastSequence: Int64, on connection: Connection) throws -> Bool {
    guard haveValidIDs else { return false }
    try connection.statement("SAVEPOINT new_documents").run()
    let inserted = try bytes.withUnsafeBytes { bytes in
      let text = JSONBytes(bytes)
      return try Self.insertion.run(count, on: connection) { row, statement, position throws(SQLiteError) in
        let place = rows[row]
        let sequence = lastSequence + 1 + Int64(row)
        try statement.bind(sequence, at: position)
        try statement.bind(sequence, at: position + 1)
        try statement.bind(textInPlace: text.slice(place.start, place.idEnd), at: position + 2)
        try statement.bind(textInPlace: text.slice(place.idEnd, place.revisionEnd), at: position + 3)
        try statement.bind(textInPlace: text.slice(place.revisionEnd, place.end), at: position + 4)
      }
    }
    let isWhole = inserted == count
    if !isWhole { try connection.statement("ROLLBACK TO new_documents").run() }
    try connection.statement("RELEASE new_documents").run()
    return isWhole
  }
}
