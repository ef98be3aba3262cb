import CDTDatastore
import CDTJSON
import CDTSQLite

/// Reads stored documents, one after another.
///
/// ```sql
/// SELECT number, id, text, deleted, stored_revision, sequence FROM documents WHERE sequence > ?1 ORDER BY sequence
/// ```
///
/// Call ``reset()`` when done. The values are valid until the next call.
struct StoredDocuments {
  private let statement: Statement

  /// - Parameters:
  ///   - condition: The part of the statement after `FROM`.
  ///   - parameters: The values of `?1`, `?2` and so on.
  ///   - schema: The name under which the connection has the documents.
  init(
    _ condition: String, _ parameters: Int64..., in schema: String = "main", on connection: Connection
  ) throws(SQLiteError) {
    statement = try connection.statement(
      "SELECT number, id, text, deleted, stored_revision, sequence FROM \(schema).documents \(condition)")
    for (index, parameter) in parameters.enumerated() { try statement.bind(parameter, at: index + 1) }
  }

  /// Begins again with another value of `?1`.
  func restart(_ parameter: Int64) throws(SQLiteError) {
    reset()
    try statement.bind(parameter, at: 1)
  }

  /// - Returns: Whether there is another document.
  func next() throws(SQLiteError) -> Bool { try statement.step() }

  func reset() { statement.reset() }

  /// The number of the document, which never changes.
  var number: Int64 { statement.int64(0) }
  /// The document; `nil` if it is deleted.
  var document: DocumentBytes? {
    guard statement.int64(3) == 0 else { return nil }
    let parts = StoredText(statement.unsafeBytes(2))
    return DocumentBytes(
      id: statement.unsafeBytes(1), revision: parts.revision ?? statement.unsafeBytes(4), body: parts.body)
  }
  var sequence: Int64 { statement.int64(5) }
}
