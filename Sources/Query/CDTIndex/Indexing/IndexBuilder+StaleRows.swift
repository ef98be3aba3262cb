import CDTJSON
import CDTPlatform
import CDTSQLite

/// Removes the rows of documents above the watermark, left by an interrupted build or by writes that missed the
/// indexes. This must happen before the watermark rises.
extension IndexBuilder {
  /// The number of stale rows searched at once, and removed per transaction.
  private static let strayBatch = 20_000
  private static let removedAtOnce = 500

  func removeStrays(of entry: IndexCatalog.Entry) throws {
    // All rows are above the lowest watermark.
    guard let watermark = entry.watermark, watermark > 0 else { return try file.empty(entry) }
    let isAbove = "IN (SELECT number FROM \(documents) WHERE sequence > \(watermark))"
    while true {
      let keys = try someStrays(of: entry, isAbove, watermark)
      guard !keys.isEmpty else { break }
      for start in stride(from: 0, to: keys.count, by: Self.removedAtOnce) {
        let some = keys[start..<min(start + Self.removedAtOnce, keys.count)]
        // If new stale rows were reported in the meantime, start again.
        guard
          try step(entry, watermark: watermark, staleRows: entry.staleRows, { try remove(some, from: entry) })
            != nil
        else { return }
        Sleep.microseconds(Self.pause)
      }
    }
    _ = try step(entry, watermark: watermark, staleRows: entry.staleRows) {
      try connection.execute(
        "DELETE FROM overflow WHERE index_number = \(entry.number) AND document \(isAbove)")
      try set(watermark: watermark, of: entry)
    }
  }

  private func someStrays(of entry: IndexCatalog.Entry, _ isAbove: String, _ watermark: Int64) throws
    -> [OrderKey]
  {
    try connection.transaction(.deferred) {
      guard try isLeft(entry, watermark: watermark, staleRows: entry.staleRows) else { return [] }
      let select = try connection.statement(
        "SELECT key FROM \(IndexFile.table(entry)) WHERE document \(isAbove) LIMIT \(Self.strayBatch)")
      defer { select.reset() }
      var keys: [OrderKey] = []
      while try select.step() { keys.append(OrderKey(Array(select.unsafeBytes(0)))) }
      return keys
    }
  }

  private func remove(_ keys: ArraySlice<OrderKey>, from entry: IndexCatalog.Entry) throws {
    let delete = try connection.statement("DELETE FROM \(IndexFile.table(entry)) WHERE key = ?1")
    defer { delete.clear() }
    let summary = SummaryTable(entry, on: connection)
    for key in keys {
      try delete.bind(blob: key.bytes, at: 1)
      try delete.run()
      guard let summary, connection.changes > 0 else { continue }
      key.bytes.withUnsafeBytes { summary.take(JSONBytes($0), isRemoved: true) }
    }
    try summary?.write()
  }
}
