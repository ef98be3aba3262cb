import CDTDigest
package import CDTJSON
import CDTPlatform
package import CDTSQLite

/// A batch of new documents, saved together.
///
/// They share one byte array, because several small arrays per document would dominate the cost.
package final class NewDocuments {
  private var bytes: [UInt8] = []
  private var rows: [Row] = []
  /// The digests of the revisions.
  private var digests = DigestBatch()
  /// Whether every id is valid.
  private var haveValidIDs = true
  private(set) var haveDesignDocuments = false
  /// The number of bytes of the largest document.
  private var largest = 0

  /// The ends of a document's texts in the shared array, in order.
  private struct Row {
    let start: Int
    let idEnd: Int
    let revisionStart: Int
    let revisionEnd: Int
    let end: Int
    /// Whether the id of the revision is also a column.
    let hasStoredRevision: Bool
  }

  private static let insertion = RowInsertion(
    "INSERT INTO documents (number, sequence, id, stored_revision, leaves, deleted, attachments, head, text)",
    row: "(?, ?, ?, ?, 1, 0, 0, ?, ?)", tail: "ON CONFLICT (id) DO NOTHING")

  package init() {}

  package var count: Int { rows.count }

  /// Adds a document from the texts in the normalizer.
  package func append(id: String, body: JSONNormalizer) {
    if (try? DocumentID.check(id)) == nil { haveValidIDs = false }
    if DocumentID.isDesign(id) { haveDesignDocuments = true }
    let start = bytes.count
    var id = id
    var isSpelled = true
    id.withUTF8 { id in
      bytes.append(contentsOf: id)
      isSpelled = StoredText.appendStart(id: UnsafeRawBufferPointer(id), to: &bytes)
    }
    let idEnd = start + id.utf8.count
    let revisionStart = bytes.count
    RevisionDigest.appendFirstRevision(canonicalBody: body.canonical, to: &digests, &bytes)
    let revisionEnd = bytes.count
    StoredText.appendEnd(body: body.text, to: &bytes)
    largest = max(largest, bytes.count - start)
    rows.append(
      Row(
        start: start, idEnd: idEnd, revisionStart: revisionStart, revisionEnd: revisionEnd, end: bytes.count,
        hasStoredRevision: StoredText.hasStoredRevision(
          isSpelled: isSpelled, length: bytes.count - idEnd)))
  }

  /// Removes all documents but keeps the memory.
  package func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    rows.removeAll(keepingCapacity: true)
    digests.removeAll()
    haveValidIDs = true
    haveDesignDocuments = false
    largest = 0
  }

  package func id(at row: Int) -> String {
    String(decoding: bytes[rows[row].start..<rows[row].idEnd], as: UTF8.self)
  }

  package func body(at row: Int) -> BodyText {
    let text = bytes[rows[row].idEnd..<rows[row].end].withUnsafeBytes {
      StoredBody(StoredText($0).body)?.text
    }
    return text.map { BodyText(stored: $0) } ?? .none
  }

  /// Inserts the documents with consecutive sequences after `lastSequence`.
  ///
  /// - Returns: Whether all were new and can be saved; if not, nothing has changed.
  package func insert(after lastSequence: Int64, on connection: Connection) throws -> Bool {
    guard haveValidIDs, largest <= DocumentSize.limit(on: connection) else { return false }
    writeDigests()
    let inserted = try bytes.withUnsafeBytes { bytes in
      let text = JSONBytes(bytes)
      return try Self.insertion.run(count, on: connection) { row, statement, position throws(SQLiteError) in
        let place = rows[row]
        let sequence = lastSequence + 1 + Int64(row)
        try statement.bind(sequence, at: position)
        try statement.bind(sequence, at: position + 1)
        try statement.bind(textInPlace: text.slice(place.start, place.idEnd), at: position + 2)
        if place.hasStoredRevision {
          let revision = text.slice(place.revisionStart, place.revisionEnd)
          try statement.bind(textInPlace: revision, at: position + 3)
        }
        try statement.bind(Int64(place.revisionEnd + 1 - place.idEnd), at: position + 4)
        try statement.bind(textInPlace: text.slice(place.idEnd, place.end), at: position + 5)
      }
    }
    let isWhole = inserted == count
    if !isWhole {
      // A rollback to a savepoint could lose the whole transaction (docs/reliability.md, Defects of SQLite).
      let deletion = try connection.statement("DELETE FROM documents WHERE sequence > ?1")
      try deletion.bind(lastSequence, at: 1)
      try deletion.run()
    }
    return isWhole
  }

  /// Writes the digests of the revisions into the places that are left for them.
  private func writeDigests() {
    var digits: [UInt8] = []
    digests.all().withUnsafeBytes { Hexadecimal.append($0, to: &digits) }
    let count = RevisionDigest.digitCount
    bytes.withUnsafeMutableBytes { bytes in
      digits.withUnsafeBytes { digits in
        for (row, place) in rows.enumerated() {
          UnsafeMutableRawBufferPointer(rebasing: bytes[place.revisionEnd - count..<place.revisionEnd])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: digits[count * row..<count * (row + 1)]))
        }
      }
    }
  }
}
