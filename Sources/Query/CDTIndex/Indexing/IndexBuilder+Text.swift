import CDTPlatform
import CDTSQLite

/// Builds the text index.
extension IndexBuilder {
  /// Adds documents: each replaces the row of its number, so there are no stale rows.
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
    let stored = try stored(after: watermark)
    defer { stored.reset() }
    let start = ContinuousClock.now
    var taken = 0
    while try stored.next() {
      if let document = stored.document {
        try TextIndexTable.replace(
          stored.number, document, entry.definition, in: IndexFile.table(entry), on: connection)
      } else {
        try TextIndexTable.remove(stored.number, from: entry, on: connection)
      }
      taken += 1
      if ContinuousClock.now - start > Self.longestStep { return (stored.sequence, taken) }
    }
    return (nil, taken)
  }
}
