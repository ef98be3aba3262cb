import CDTSQLite

/// Decides which documents are hidden: reads leave them out, and changes treat them as deleted.
package protocol DocumentHiding: AnyObject, Sendable {
  /// The numbers of the documents that are hidden from a transaction. Each asks once.
  func hiddenDocuments(in transaction: ReadTransaction) throws -> [Int64]

  /// Whether a document is hidden from a transaction, which may have changed it.
  func hides(_ number: Int64, in transaction: ReadTransaction) throws -> Bool
}

/// The documents that are hidden from a transaction.
package struct HiddenDocuments: Sendable {
  private var numbers: Set<Int64> = []

  package init() {}

  package var isEmpty: Bool { numbers.isEmpty }

  package func contains(_ number: Int64) -> Bool { numbers.contains(number) }

  /// The documents that are not hidden.
  var visible: DocumentTable { isEmpty ? .all : Self.view }

  static let view = DocumentTable("temp.visible_documents")

  /// Creates the view of the documents that are not hidden.
  static func createView(on connection: Connection) throws(SQLiteError) {
    try connection.execute(
      """
      CREATE TEMP TABLE IF NOT EXISTS hidden_documents (number INTEGER PRIMARY KEY);
      CREATE TEMP VIEW IF NOT EXISTS visible_documents AS
        SELECT * FROM main.documents WHERE number NOT IN (SELECT number FROM temp.hidden_documents)
      """)
  }

  /// Hides documents, and no others, from the view that ``createView(on:)`` has created.
  fileprivate init(_ numbers: [Int64], on connection: Connection) throws {
    self.numbers = Set(numbers)
    try connection.statement("DELETE FROM temp.hidden_documents").run()
    let numbers = self.numbers.sorted()
    try RowInsertion("INSERT INTO temp.hidden_documents", row: "(?)")
      .run(numbers.count, on: connection) { row, statement, position throws(SQLiteError) in
        try statement.bind(numbers[row], at: position)
      }
  }

  mutating func show(_ number: Int64, on connection: Connection) throws {
    guard numbers.remove(number) != nil else { return }
    try connection.execute("DELETE FROM temp.hidden_documents WHERE number = \(number)")
  }
}

extension Datastore {
  /// Decides which documents are hidden; `nil` if none can be.
  var hiding: (any DocumentHiding)? { extensionObjects.all.lazy.compactMap(\.hiding).first }
}

extension ReadTransaction {
  /// The documents that were hidden from this transaction when it first asked, without those that it has shown or deleted since.
  package func hiddenDocuments() throws -> HiddenDocuments {
    if let hidden = view.hidden { return hidden }
    let numbers = try store.hiding?.hiddenDocuments(in: self) ?? []
    let found =
      try numbers.isEmpty
      ? HiddenDocuments()
      : use { connection in
        if reader?.canHideDocuments != true { try HiddenDocuments.createView(on: connection) }
        return try HiddenDocuments(numbers, on: connection)
      }
    view.hidden = found
    return found
  }
}
