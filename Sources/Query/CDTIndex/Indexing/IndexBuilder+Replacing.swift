import CDTJSON
import CDTPlatform
import CDTSQLite

/// Builds indexes of words and of vectors: a document replaces the rows of its number, so there are no stale rows.
extension IndexBuilder {
  func fillWords(_ entry: IndexCatalog.Entry) throws -> Bool {
    try fill(entry) { number, document in
      if let document {
        try TextIndexTable.replace(
          number, document, entry.definition, in: IndexFile.table(entry), on: connection)
      } else {
        try TextIndexTable.remove(number, from: entry, on: connection)
      }
    }
  }

  func fillVectors(_ entry: IndexCatalog.Entry) throws -> Bool {
    let (vectors, table) = (VectorTable(entry, on: connection), IndexTable(entry, on: connection))
    return try fill(entry) { number, document in
      let content = document.map { vectors.content(of: $0, number: number) } ?? VectorTable.Content()
      try vectors.replace(number, with: content)
      try table.setOverflow(content.overflows, document: number)
      if content.overflows { _ = try table.note(IndexRows.Shape(overflows: true)) }
    }
  }

  /// Adds documents.
  ///
  /// - Parameter replace: Replaces the rows of a document; `nil` removes them.
  /// - Returns: Whether to continue, with this index or others.
  private func fill(
    _ entry: IndexCatalog.Entry, _ replace: (_ number: Int64, DocumentBytes?) throws -> Void
  ) throws -> Bool {
    var watermark = entry.watermark ?? 0
    while true {
      let taken = try step(entry, watermark: watermark) {
        let taken = try take(after: watermark, replace)
        try set(watermark: taken.reached, of: entry)
        return taken
      }
      guard let taken else { return true }
      done += taken.documents
      guard let reached = taken.reached else { return true }
      guard try reportProgress() else { return false }
      watermark = reached
      Sleep.microseconds(Self.pause)
    }
  }

  /// - Returns: The sequence up to which documents were added, or `nil` if all were.
  private func take(
    after watermark: Int64, _ replace: (_ number: Int64, DocumentBytes?) throws -> Void
  ) throws -> (reached: Int64?, documents: Int) {
    let stored = try stored(after: watermark)
    defer { stored.reset() }
    let start = ContinuousClock.now
    var taken = 0
    while try stored.next() {
      try replace(stored.number, stored.document)
      taken += 1
      if ContinuousClock.now - start > Self.longestStep { return (stored.sequence, taken) }
    }
    return (nil, taken)
  }
}
