import JSON
package import SQLite

/// What an index file says of its indexes, read within the snapshot in which it is used.
package struct IndexCatalog: Sendable {
  package final class Entry: Sendable {
    package let number: Int64
    package let definition: IndexDefinition
    /// The sequence up to which every document is in the index.
    package let watermark: Int64
    /// The session that wrote the document at the watermark, by which another history is noticed.
    package let session: String?
    /// Whether some document has, or had, more than one row.
    package let isMultiple: Bool
    /// Whether documents with too many combinations are kept apart.
    package let hasApart: Bool
    /// What was measured of its rows, once it was complete.
    package let statistics: IndexStatistics?
    /// Whether the file may have rows above the watermark: this is how the index was, and it has caught up since.
    package let mayBeAhead: Bool

    init(
      number: Int64, definition: IndexDefinition, watermark: Int64, session: String?, isMultiple: Bool,
      hasApart: Bool, statistics: IndexStatistics?, mayBeAhead: Bool = false
    ) {
      self.number = number
      self.definition = definition
      self.watermark = watermark
      self.session = session
      self.isMultiple = isMultiple
      self.hasApart = hasApart
      self.statistics = statistics
      self.mayBeAhead = mayBeAhead
    }

    /// The same where the file has gone on.
    func beforeCatchingUp() -> Entry {
      Entry(
        number: number, definition: definition, watermark: watermark, session: session,
        isMultiple: isMultiple,
        hasApart: hasApart, statistics: statistics, mayBeAhead: true)
    }
  }

  package let entries: [Entry]

  /// The indexes of values.
  package let ordered: [Entry]

  /// The text index, if there is one.
  package let text: Entry?

  /// How far the index is that is furthest behind.
  let lowestWatermark: Int64?

  package static let empty = IndexCatalog(entries: [])

  package init(entries: [Entry]) {
    self.entries = entries
    ordered = entries.filter { $0.definition.type == .json }
    text = entries.first { $0.definition.type == .text }
    lowestWatermark = entries.lazy.map(\.watermark).min()
  }

  package func entry(named name: String) -> Entry? {
    entries.first { $0.definition.name.utf8.elementsEqual(name.utf8) }
  }

  /// The index of a name that a user gave.
  ///
  /// - Parameter place: Where in the request it was given.
  /// - Throws: ``QueryError`` with the code `.unknownIndex`.
  func entry(wanted name: String, at place: String) throws(QueryError) -> Entry {
    guard let entry = entry(named: name) else {
      throw .unknownIndex(name, known: entries.map(\.definition.name), at: place)
    }
    return entry
  }

  /// Reads the catalog from a connection that has the index file as `schema`.
  ///
  /// - Parameter known: A catalog read before, whose figures are taken where they have not been measured anew.
  package init(reading connection: Connection, schema: String, known: IndexCatalog = .empty) throws {
    let statement = try connection.statement(
      """
      SELECT number, name, type, fields, watermark, multiple, apart, session, settings, \
      \(StatisticsTable.columns.map { "s.\($0)" }.joined(separator: ", "))
      FROM \(schema).indexes LEFT JOIN \(schema).statistics s ON s.index_number = number ORDER BY name
      """)
    defer { statement.reset() }
    var entries: [Entry] = []
    while try statement.step() {
      let number = statement.int64(0)
      guard case .array(let fields) = try JSONValue(parsing: statement.text(3)),
        let type = IndexType(rawValue: statement.text(2))
      else { throw IndexDamage.unreadable("a definition") }
      let definition = try IndexDefinition(
        fields: fields, name: statement.text(1), type: type,
        settings: JSONObject(parsing: statement.text(8)))
      let measured = known.entries.first { $0.number == number && $0.definition == definition }?.statistics
      entries.append(
        Entry(
          number: number, definition: definition, watermark: statement.int64(4),
          session: statement.isNull(7) ? nil : statement.text(7), isMultiple: statement.int64(5) != 0,
          hasApart: statement.int64(6) != 0,
          statistics: measured.map(\.sequence) == statement.int64(9)
            ? measured : StatisticsTable.read(statement, from: 9)))
    }
    self.init(entries: entries)
  }
}

extension IndexCatalog {
  /// Refuses indexes that were made from another history than the documents': of documents that have since been replaced
  /// by a backup, or lost with the last writes before a power failure.
  ///
  /// - Parameter documents: The schema under which the connection has the documents.
  package func check(against documents: String, on connection: Connection, lastSequence: Int64) throws {
    for entry in entries where entry.watermark > 0 {
      guard entry.watermark <= lastSequence,
        try Self.session(of: entry.watermark, in: documents, on: connection)?.token == entry.session
      else { throw IndexDamage.foreignHistory }
    }
  }

  /// Whether there are documents that some index does not have yet.
  func hasTail(upTo lastSequence: Int64) -> Bool {
    lowestWatermark.map { $0 < lastSequence } ?? false
  }

  /// The session that wrote a sequence: its token, and the sequence that it began with.
  static func session(
    of sequence: Int64, in documents: String, on connection: Connection
  ) throws(SQLiteError) -> (token: String, start: Int64)? {
    let statement = try connection.statement(
      "SELECT token, start FROM \(documents).sessions WHERE start <= ?1 ORDER BY start DESC LIMIT 1")
    // Left stepped, it would hold the connection's snapshots beyond the transaction.
    defer { statement.reset() }
    try statement.bind(sequence, at: 1)
    return try statement.step() ? (statement.text(0), statement.int64(1)) : nil
  }
}

/// Something in the index file that the engine did not write: the file is discarded and built again.
package enum IndexDamage: Error {
  case unreadable(String)
  case foreignStore
  case foreignHistory
}
