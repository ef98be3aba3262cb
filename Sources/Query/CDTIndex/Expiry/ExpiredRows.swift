import CDTJSON
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
        let layout = KeyLayout(entry.definition)
        let rows = try connection.statement(
          """
          SELECT document, key FROM query.\(IndexFile.table(entry)) WHERE key >= ?1 AND key < ?2
             AND document NOT IN (SELECT number FROM main.documents WHERE sequence > ?3) ORDER BY key LIMIT ?4
          """)
        defer { rows.reset() }
        let times = KeyRange(lower: Self.key(first).successor, upper: Self.key(time).successor)
        try times.bind(to: rows, at: 1)
        try rows.bind(view.completeUpTo(of: entry), at: 3)
        try rows.bind(Int64(limit), at: 4)
        while try rows.step() {
          found.append((rows.int64(0), layout.id(in: JSONBytes(rows.unsafeBytes(1)))))
        }
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
  /// - Returns: Whether `body` was called with every such document.
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
        "SELECT key FROM \(schema).\(IndexFile.table(entry)) WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT 1"
      )
      defer { statement.reset() }
      try KeyRange(lower: key(time).successor, upper: .firstString).bind(to: statement, at: 1)
      guard try statement.step() else { continue }
      switch OrderKey.number(in: JSONBytes(statement.unsafeBytes(0)), at: 0) {
      case .double(let double)?: next = min(next ?? .infinity, double)
      case .int(let int)?: next = min(next ?? .infinity, Double(int))
      case nil: break
      }
    }
    return next
  }

  private static func key(_ time: Double) -> OrderKey {
    var key = OrderKey()
    OrderKey.append(.double(time), to: &key.bytes)
    return key
  }
}
