import CDTSQLite

/// The rows of documents that expire, on a connection that has the index file attached.
struct ExpiredRows {
  private let view: IndexView
  private let connection: Connection

  /// The maximum number of documents missing from an index that are read. There are more only while an index is built.
  private static let maximumUnindexed = 1_000

  init(_ view: IndexView, on connection: Connection) {
    self.view = view
    self.connection = connection
  }

  /// The documents that have expired, with a limit for each index.
  ///
  /// - Parameters:
  ///   - first: A time; documents that have expired until then are left out.
  ///   - expires: The time at which a document that the index lacks expires.
  /// - Returns: Also whether every document was looked at.
  func expired(
    after first: Double = -.infinity, at time: Double, limit: Int = .max,
    _ expires: (DocumentBytes) -> Double?
  ) throws -> (documents: [(number: Int64, id: String)], isComplete: Bool) {
    var found: [(number: Int64, id: String)] = []
    var isComplete = true
    for entry in view.catalog.expiring {
      if view.isReadable {
        let rows = try connection.statement(
          """
          SELECT document, id FROM query.\(IndexFile.table(entry))
           WHERE t0 = 0 AND v0 > ?4 AND v0 <= ?1 AND document NOT IN (SELECT number FROM main.documents WHERE sequence > ?2)
           ORDER BY v0 LIMIT ?3
          """)
        defer { rows.reset() }
        try rows.bind(time, at: 1)
        try rows.bind(view.completeUpTo(of: entry), at: 2)
        try rows.bind(Int64(limit), at: 3)
        try rows.bind(first, at: 4)
        while try rows.step() { found.append((rows.int64(0), rows.text(1))) }
      }
      var unindexed: [(number: Int64, id: String)] = []
      let areFew = try forEachUnindexed(of: entry) { number, document in
        guard let end = expires(document), end > first, end <= time else { return }
        unindexed.append((number, String(decoding: document.id, as: UTF8.self)))
      }
      if areFew { found += unindexed } else { isComplete = false }
    }
    return (found, isComplete)
  }

  /// The next time at which a document expires.
  ///
  /// - Parameter expires: The time at which a document that the index lacks expires.
  func next(after time: Double, _ expires: (DocumentBytes) -> Double?) throws -> Double? {
    let entries = view.catalog.expiring
    var next =
      view.isReadable
      ? try Self.next(after: time, of: entries, in: IndexFile.schema, on: connection) : nil
    for entry in entries {
      _ = try forEachUnindexed(of: entry) { _, document in
        if let end = expires(document), end > time { next = min(next ?? .infinity, end) }
      }
    }
    return next
  }

  /// Calls `body` with documents that an index lacks.
  ///
  /// - Returns: Whether these were all.
  private func forEachUnindexed(
    of entry: IndexCatalog.Entry, _ body: (Int64, DocumentBytes) -> Void
  ) throws -> Bool {
    let completeUpTo = view.completeUpTo(of: entry)
    guard completeUpTo < view.lastSequence else { return true }
    let stored = try StoredDocuments(
      "WHERE sequence > ?1 AND NOT deleted LIMIT \(Self.maximumUnindexed + 1)", completeUpTo, on: connection)
    defer { stored.reset() }
    var count = 0
    while try stored.next() {
      count += 1
      if let document = stored.document { body(stored.number, document) }
    }
    return count <= Self.maximumUnindexed
  }

  /// - Parameter schema: The name under which the connection has the index file.
  static func next(
    after time: Double, of entries: [IndexCatalog.Entry], in schema: String, on connection: Connection
  ) throws(SQLiteError) -> Double? {
    var next: Double?
    for entry in entries {
      let statement = try connection.statement(
        """
        SELECT v0 FROM \(schema).\(IndexFile.table(entry)) WHERE t0 = 0 AND v0 > ?1 ORDER BY v0 LIMIT 1
        """)
      defer { statement.reset() }
      try statement.bind(time, at: 1)
      if try statement.step() { next = min(next ?? .infinity, statement.double(0)) }
    }
    return next
  }
}
