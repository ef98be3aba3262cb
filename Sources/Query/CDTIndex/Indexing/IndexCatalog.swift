import CDTJSON
package import CDTSQLite

/// The catalog of an index file. It does not change, and each request passes it on.
package final class IndexCatalog: Sendable {
  package final class Entry: Sendable {
    package let number: Int64
    package let definition: IndexDefinition
    /// The sequence up to which every document is in the index, while it is being built; `nil` if it is complete up to
    /// ``IndexState/sequence``.
    package let watermark: Int64?
    /// The number of causes for rows of documents above the watermark: see ``IndexBuilder``.
    let staleRows: Int64
    /// Whether any document has, or had, more than one row.
    package let isMultiple: Bool
    /// Whether documents with too many combinations are in the overflow.
    package let hasOverflow: Bool
    /// The statistics measured after the index was complete.
    package let statistics: IndexStatistics?
    /// The order of the documents if each has one row.
    package let order: SortOrder
    /// The order of the rows; `nil` if the id is among the fields.
    package let terms: [OrderTerm]?

    init(
      number: Int64, definition: IndexDefinition, watermark: Int64?, staleRows: Int64 = 0,
      isMultiple: Bool = false, hasOverflow: Bool = false, statistics: IndexStatistics? = nil
    ) {
      self.number = number
      self.definition = definition
      self.watermark = watermark
      self.staleRows = staleRows
      self.isMultiple = isMultiple
      self.hasOverflow = hasOverflow
      self.statistics = statistics
      order = SortOrder(of: definition)
      let fields = order.fields.enumerated().map {
        OrderTerm(field: $0, isDescending: $1.isDescending)
      }
      let hasID = order.fields.contains { $0.documentField == .id }
      terms = hasID ? nil : fields + [OrderTerm(field: nil, isDescending: false)]
    }
  }

  package let entries: [Entry]

  /// The value indexes.
  package let ordered: [Entry]

  /// The text indexes.
  package let texts: [Entry]

  /// The indexes of vectors.
  package let vectors: [Entry]

  /// The indexes by which documents expire.
  package let expiring: [Entry]

  package static let empty = IndexCatalog(entries: [])

  package init(entries: [Entry]) {
    self.entries = entries
    ordered = entries.filter { $0.definition.type.isOrdered }
    texts = entries.filter { $0.definition.type == .text }
    vectors = entries.filter { $0.definition.type == .vector }
    expiring = entries.filter { $0.definition.options.expireAfter != nil }
  }

  /// The text index in which the search of a clause has its meaning: the one that the query names, or the only one that has
  /// the fields that the search names. `nil` if there is no search, or no text index.
  ///
  /// - Throws: ``QueryError`` if there are several.
  package func textIndex(for clause: Clause, named name: String?) throws(QueryError) -> Entry? {
    guard let search = clause.textSearch else { return nil }
    if let name, let named = texts.first(where: { $0.definition.name.hasSameBytes(as: name) }) {
      return named
    }
    guard texts.count > 1 else { return texts.first }
    // A name that is not a field of any index is a word.
    let requested = search.fields.filter { field in texts.contains { $0.definition.searches(field) } }
    let fitting = texts.filter { entry in requested.allSatisfy(entry.definition.searches) }
    guard let first = fitting.first else { throw .noTextIndexWithFields(requested.map(\.text).sorted()) }
    if fitting.count == 1 { return first }
    // A design document, which a replication may bring, does not change what the searches of an app mean.
    let own = fitting.filter { $0.definition.designDocument == nil }
    guard own.count == 1 else { throw .severalTextIndexes(fitting.map(\.definition.name)) }
    return own[0]
  }

  /// Empty indexes, for when there is no readable file: they still have names, and `$text` needs the definition of a
  /// text index.
  convenience init(unfilled definitions: [IndexDefinition]) {
    self.init(
      entries: definitions.enumerated().map { number, definition in
        Entry(number: Int64(number), definition: definition, watermark: 0)
      })
  }

  package func entry(named name: String) -> Entry? {
    entries.first { $0.definition.name.utf8.elementsEqual(name.utf8) }
  }

  /// The index with a name given by the user.
  ///
  /// - Parameter place: The place of the name in the request.
  /// - Throws: ``QueryError`` with the code `.unknownIndex`.
  package func entry(wanted name: String, at place: String) throws(QueryError) -> Entry {
    guard let entry = entry(named: name) else {
      throw .unknownIndex(name, known: entries.map(\.definition.name), at: place)
    }
    return entry
  }

  /// Reads the catalog from a connection that has the index file as `schema`.
  ///
  /// - Parameter known: A catalog read before, whose statistics are reused if they have not changed.
  /// - Throws: ``IndexDamage`` for invalid content; ``SQLiteError``.
  package convenience init(
    reading connection: Connection, schema: String, known: IndexCatalog = .empty
  ) throws {
    let statement = try connection.statement(
      """
      SELECT number, name, type, fields, settings, options, watermark, stale_rows, multiple, overflow, \
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
          watermark: statement.isNull(6) ? nil : statement.int64(6), staleRows: statement.int64(7),
          isMultiple: statement.int64(8) != 0, hasOverflow: statement.int64(9) != 0,
          statistics: measured.map(\.sequence) == statement.int64(10)
            ? measured : StatisticsTable.read(statement, from: 10)))
    }
    self.init(entries: entries)
  }

  private static func definition(_ row: Statement) throws(IndexDamage) -> IndexDefinition {
    do {
      var json = try JSONObject(parsing: row.text(5))
      (json["name"], json["type"]) = (.string(row.text(1)), .string(row.text(2)))
      (json["fields"], json["settings"]) = (
        try JSONValue(parsing: row.text(3)), try JSONValue(parsing: row.text(4))
      )
      guard json["fields"]?.arrayValue != nil else { throw IndexDamage.unreadable("a definition is invalid") }
      return try IndexDefinition(json: json)
    } catch let damage as IndexDamage {
      throw damage
    } catch {
      throw .unreadable("the definition of an index: \(error)")
    }
  }
}

/// The state of an index file.
package struct IndexState: Sendable, Equatable {
  /// The number of changes of the catalog.
  package let revision: Int64
  /// The sequence up to which every write has updated the indexes as far as they were built.
  package let sequence: Int64
  /// The session that wrote the sequence, which identifies the history of the documents.
  let session: String?

  /// Reads the state from a connection that has the index file as `schema`.
  ///
  /// - Parameter storeID: The store for which this version must have written the file, or `nil` if that has been checked.
  init(reading connection: Connection, schema: String, storeID: String? = nil) throws {
    if storeID != nil {
      guard try connection.scalar("PRAGMA \(schema).user_version") == IndexFile.version else {
        throw IndexDamage.unreadable("it has another version")
      }
      guard try connection.hasPageChecksums(in: schema) else { throw IndexDamage.withoutChecksums }
    }
    let statement = try connection.statement(Self.selection(in: schema))
    defer { statement.reset() }
    guard try statement.step() else { throw IndexDamage.withoutState }
    if let storeID, !statement.text(3).hasSameBytes(as: storeID) { throw IndexDamage.foreignStore }
    self.init(statement)
  }

  static func selection(in schema: String) -> String {
    "SELECT revision, sequence, session, store FROM \(schema).state"
  }

  /// Reads the state from a row of ``selection(in:)``.
  init(_ statement: Statement) {
    revision = statement.int64(0)
    sequence = statement.int64(1)
    session = statement.isNull(2) ? nil : statement.text(2)
  }

  /// Throws if the indexes were built from another history of the documents, which were since restored from a backup,
  /// or lost their last writes in a power failure.
  ///
  /// - Parameters:
  ///   - documents: The schema name of the documents on the connection.
  ///   - lastSequence: The newest sequence of any document.
  func checkHistory(of documents: String, on connection: Connection, lastSequence: Int64) throws {
    guard sequence > 0 else { return }
    guard sequence <= lastSequence,
      try WriterSession.token(of: sequence, in: documents, on: connection) == session
    else { throw IndexDamage.foreignHistory }
  }
}

/// Invalid content of the index file: the file is discarded and rebuilt.
package enum IndexDamage: Error {
  case unreadable(String)
  case foreignStore
  case foreignHistory

  static let withoutState = unreadable("its state is missing")
  static let withoutChecksums = unreadable("its header has lost the reserved bytes of its pages")

  /// The text of a message after "the index file".
  var what: String {
    switch self {
    case .unreadable(let what): "can't be used: \(what)"
    case .foreignStore: "belongs to another store"
    case .foreignHistory: "was built from another history of the documents"
    }
  }
}
