import CDTSQLite

/// The rows of documents that expire, on a connection that has the index file attached.
struct ExpiredRows {
  private let view: IndexView
  private let connection: Connection

  /// The number of documents above the floor of an index from which on they are not looked at. There are as many only while an
  /// index is built.
  private static let mostUnindexed = 1_000

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
        let sql = """
          SELECT document, id FROM query.\(IndexFile.table(entry))
           WHERE t0 = 0 AND v0 > ?4 AND v0 <= ?1 AND document NOT IN (SELECT number FROM main.documents WHERE sequence > ?2)
           ORDER BY v0 LIMIT ?3
          """
        try forEach(
          sql, [.time(time), .int(view.floor(of: entry)), .int(Int64(limit)), .time(first)]
        ) { found.append(($0.int64(0), $0.text(1))) }
      }
      var unindexed: [(number: Int64, id: String)] = []
      let areFew = try forEachUnindexed(of: entry) { row, document in
        guard let end = expires(document), end > first, end <= time else { return }
        unindexed.append((row.int64(0), row.text(1)))
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

  /// Calls `body` with documents above the floor of an index.
  ///
  /// - Returns: Whether these were all.
  private func forEachUnindexed(
    of entry: IndexCatalog.Entry, _ body: (Statement, DocumentBytes) -> Void
  ) throws -> Bool {
    let floor = view.floor(of: entry)
    guard floor < view.lastSequence else { return true }
    let sql = """
      SELECT number, id, revision, body FROM main.documents WHERE sequence > ?1 AND NOT deleted
       LIMIT \(Self.mostUnindexed + 1)
      """
    var count = 0
    try forEach(sql, [.int(floor)]) { row in
      count += 1
      body(
        row,
        DocumentBytes(id: row.unsafeBytes(1), revision: row.unsafeBytes(2), body: row.unsafeBytes(3)))
    }
    return count <= Self.mostUnindexed
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

  private enum Parameter {
    case time(Double)
    case int(Int64)
  }

  private func forEach(
    _ sql: String, _ parameters: [Parameter], _ body: (Statement) throws -> Void
  ) throws {
    let statement = try connection.statement(sql)
    defer { statement.clear() }
    for (number, parameter) in parameters.enumerated() {
      switch parameter {
      case .time(let time): try statement.bind(time, at: number + 1)
      case .int(let int): try statement.bind(int, at: number + 1)
      }
    }
    while try statement.step() { try body(statement) }
  }
}
