import JSON
package import SQLite

/// What an index file says of its indexes.
package struct IndexCatalog: Sendable {
  package final class Entry: Sendable {
    package let number: Int64
    package let definition: IndexDefinition
    /// The sequence up to which every document is in the index, while it is being filled; `nil` when it is complete, up to
    /// ``IndexState/sequence``.
    package let watermark: Int64?
    /// How many reasons there are that the index may have rows of documents above its watermark: see ``IndexBuilder``.
    let strays: Int64
    /// Whether some document has, or had, more than one row.
    package let isMultiple: Bool
    /// Whether documents with too many combinations are kept apart.
    package let hasApart: Bool
    /// What was measured of its rows, once it was complete.
    package let statistics: IndexStatistics?

    init(
      number: Int64, definition: IndexDefinition, watermark: Int64?, strays: Int64 = 0,
      isMultiple: Bool = false, hasApart: Bool = false, statistics: IndexStatistics? = nil
    ) {
      self.number = number
      self.definition = definition
      self.watermark = watermark
      self.strays = strays
      self.isMultiple = isMultiple
      self.hasApart = hasApart
      self.statistics = statistics
    }
  }

  package let entries: [Entry]

  /// The indexes of values.
  package let ordered: [Entry]

  /// The text index, if there is one.
  package let text: Entry?

  package static let empty = IndexCatalog(entries: [])

  package init(entries: [Entry]) {
    self.entries = entries
    ordered = entries.filter { $0.definition.type == .json }
    text = entries.first { $0.definition.type == .text }
  }

  /// Indexes that hold nothing, where there is no file that can be read: they still have names, and the text index gives
  /// searches their meaning.
  init(unfilled definitions: [IndexDefinition]) {
    self.init(
      entries: definitions.enumerated().map { number, definition in
        Entry(number: Int64(number), definition: definition, watermark: 0)
      })
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
  /// - Throws: ``IndexDamage`` for what the engine did not write; ``SQLiteError``.
  package init(reading connection: Connection, schema: String, known: IndexCatalog = .empty) throws {
    let statement = try connection.statement(
      """
      SELECT number, name, type, fields, settings, watermark, strays, multiple, apart, \
      \(StatisticsTable.columns.map { "s.\($0)" }.joined(separator: ", "))
      FROM \(schema).indexes LEFT JOIN \(schema).statistics s ON s.index_number = number ORDER BY name
      """)
    defer { statement.reset() }
    var entries: [Entry] = []
    while try statement.step() {
      let number = statement.int64(0)
      let definition = try Self.definition(statement)
      let measured = known.entries.first { $0.number == number && $0.definition == definition }?.statistics
      entries.append(
        Entry(
          number: number, definition: definition,
          watermark: statement.isNull(5) ? nil : statement.int64(5), strays: statement.int64(6),
          isMultiple: statement.int64(7) != 0, hasApart: statement.int64(8) != 0,
          statistics: measured.map(\.sequence) == statement.int64(9)
            ? measured : StatisticsTable.read(statement, from: 9)))
    }
    self.init(entries: entries)
  }

  private static func definition(_ row: Statement) throws(IndexDamage) -> IndexDefinition {
    do {
      guard case .array(let fields) = try JSONValue(parsing: row.text(3)),
        let type = IndexType(rawValue: row.text(2))
      else { throw IndexDamage.unreadable("a definition") }
      return try IndexDefinition(
        fields: fields, name: row.text(1), type: type, settings: JSONObject(parsing: row.text(4)))
    } catch let damage as IndexDamage {
      throw damage
    } catch {
      throw .unreadable("the definition of an index: \(error)")
    }
  }
}

/// How far an index file is.
package struct IndexState: Sendable, Equatable {
  /// Counts the changes of the catalog.
  package let revision: Int64
  /// The sequence up to which every write has brought the indexes up to date as far as they were filled.
  package let sequence: Int64
  /// The session that wrote the sequence, by which another history of the documents is noticed.
  let session: String?

  /// Reads the state from a connection that has the index file as `schema`.
  ///
  /// - Parameter storeID: The store that the file has to be of, or `nil` where that has been checked.
  init(reading connection: Connection, schema: String, storeID: String? = nil) throws {
    let statement = try connection.statement("SELECT revision, sequence, session, store FROM \(schema).state")
    defer { statement.reset() }
    guard try statement.step() else { throw IndexDamage.unreadable("its state") }
    if let storeID, !statement.text(3).hasSameBytes(as: storeID) { throw IndexDamage.foreignStore }
    revision = statement.int64(0)
    sequence = statement.int64(1)
    session = statement.isNull(2) ? nil : statement.text(2)
  }

  /// Refuses indexes that were made from another history than the documents': of documents that have since been replaced
  /// by a backup, or lost with the last writes before a power failure.
  ///
  /// - Parameters:
  ///   - documents: The schema under which the connection has the documents.
  ///   - lastSequence: The newest sequence of any document.
  func checkHistory(of documents: String, on connection: Connection, lastSequence: Int64) throws {
    guard sequence > 0 else { return }
    guard sequence <= lastSequence,
      try Self.session(of: sequence, in: documents, on: connection) == session
    else { throw IndexDamage.foreignHistory }
  }

  /// The token of the session in which a sequence was written: the one that began last before it. Of several that write at
  /// the same time that may be another one than the writer's own, but it stays the same.
  static func session(
    of sequence: Int64, in documents: String, on connection: Connection
  ) throws(SQLiteError) -> String? {
    let statement = try connection.statement(
      "SELECT token FROM \(documents).sessions WHERE start <= ?1 ORDER BY start DESC LIMIT 1")
    defer { statement.reset() }
    try statement.bind(sequence, at: 1)
    return try statement.step() ? statement.text(0) : nil
  }
}

/// Something in the index file that the engine did not write: the file is discarded and built again.
package enum IndexDamage: Error {
  case unreadable(String)
  case foreignStore
  case foreignHistory

  /// What is told of it, behind "the index file".
  var what: String {
    switch self {
    case .unreadable(let what): "can't be used: \(what)"
    case .foreignStore: "is of another store"
    case .foreignHistory: "was made from another history of the documents"
    }
  }
}
