import CDTPlatform
import CDTSQLite

/// Builds the text index.
extension IndexBuilder {
  /// Adds documents: each replaces the row of its number, so there are no strays.
  ///
  /// - Returns: Whether to continue, with this index or others.
  func fillText(_ entry: IndexCatalog.Entry) throws -> Bool {
    var watermark = entry.watermark ?? 0
    while true {
      let taken = try step(entry, watermark: watermark) {
        let taken = try takeText(entry, after: watermark)
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
  private func takeText(
    _ entry: IndexCatalog.Entry, after watermark: Int64
  ) throws -> (reached: Int64?, documents: Int) {
    let statement = try connection.statement(
      """
      SELECT number, id, revision, body, deleted, sequence FROM \(documents)
       WHERE sequence > ?1 ORDER BY sequence
      """)
    defer { statement.reset() }
    try statement.bind(watermark, at: 1)
    let start = ContinuousClock.now
    var taken = 0
    while try statement.step() {
      let number = statement.int64(0)
      if statement.int64(4) != 0 {
        try TextIndexTable.remove(number, from: entry, on: connection)
      } else {
        let document = DocumentBytes(
          id: statement.unsafeBytes(1), revision: statement.unsafeBytes(2), body: statement.unsafeBytes(3))
        try TextIndexTable.replace(
          number, document, entry.definition, in: IndexFile.table(entry), on: connection)
      }
      taken += 1
      if ContinuousClock.now - start > Self.longestStep { return (statement.int64(5), taken) }
    }
    return (nil, taken)
  }
}
