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
  ///   - first: A time; of the documents that the index has, those that expired until then are not looked for.
  ///   - hasExpired: Decides on a document that the index lacks.
  func expired(
    after first: Double = -.infinity, at time: Double, limit: Int = .max,
    _ hasExpired: (DocumentBytes) -> Bool
  ) throws -> [(number: Int64, id: String)] {
    var found: [(number: Int64, id: String)] = []
    for entry in view.catalog.expiring {
      let floor = view.floor(of: entry)
      if view.isReadable {
        let sql = """
          SELECT document, id FROM query.\(IndexFile.table(entry))
           WHERE t0 = 0 AND v0 > ?4 AND v0 <= ?1 AND document NOT IN (SELECT number FROM main.documents WHERE sequence > ?2)
           ORDER BY v0 LIMIT ?3
          """
        try forEach(sql, [.time(time), .int(floor), .int(Int64(limit)), .time(first)]) {
          found.append(($0.int64(0), $0.text(1)))
        }
      }
      guard floor < view.lastSequence else { continue }
      let sql = """
        SELECT number, id, revision, body FROM main.documents WHERE sequence > ?1 AND NOT deleted
         LIMIT \(Self.mostUnindexed + 1)
        """
      var (unindexed, count): ([(number: Int64, id: String)], Int) = ([], 0)
      try forEach(sql, [.int(floor)]) { row in
        let document = DocumentBytes(
          id: row.unsafeBytes(1), revision: row.unsafeBytes(2), body: row.unsafeBytes(3))
        count += 1
        if hasExpired(document) { unindexed.append((row.int64(0), row.text(1))) }
      }
      if count <= Self.mostUnindexed { found += unindexed }
    }
    return found
  }

  /// The next time at which a document expires; with `-.infinity`, the first one.
  func next(after time: Double) throws -> Double? {
    guard view.isReadable else { return nil }
    return try Self.next(after: time, of: view.catalog.expiring, in: IndexFile.schema, on: connection)
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
