import JSON
import SQLite

/// The FTS5 table of a text index: a row for each document, a column for each field and one for the id.
///
/// ```sql
/// CREATE VIRTUAL TABLE text_3 USING fts5(c0, c1, id, sequence UNINDEXED, tokenize = 'ascii')
/// ```
///
/// The row's number is the document's, which never changes, so a change replaces the row. The elements of an array stand
/// one after the other, a line feed between them.
enum TextIndexTable {
  static func name(_ number: Int64) -> String { "text_\(number)" }

  static func creation(number: Int64, _ definition: IndexDefinition) -> String {
    let columns = definition.fields.indices.map { TextProgram.column($0, of: definition.fields.count) }
    let tokenizer = definition.tokenizer.arguments.joined(separator: " ")
    return """
      CREATE VIRTUAL TABLE \(name(number)) USING fts5(
        \(columns.joined(separator: ", ")), id, sequence UNINDEXED, tokenize = '\(tokenizer)')
      """
  }

  /// Puts a document's words in place of those it had.
  ///
  /// - Returns: How many bytes of text they are.
  static func replace(
    _ entry: IndexCatalog.Entry, document: Int64, id: UnsafeRawBufferPointer, sequence: Int64,
    body: JSONBytes,
    on connection: Connection
  ) throws -> Int {
    let fields = entry.definition.fields
    let values = (1...fields.count + 3).map { "?\($0)" }.joined(separator: ", ")
    let columns =
      fields.indices.map { TextProgram.column($0, of: fields.count) } + ["id", "sequence", "rowid"]
    let statement = try connection.statement(
      "INSERT OR REPLACE INTO \(name(entry.number)) (\(columns.joined(separator: ", "))) VALUES (\(values))")
    let texts = texts(of: entry.definition, id: id, body: body)
    for (number, text) in texts.enumerated() { try statement.bind(text: text, at: number + 1) }
    try statement.bind(sequence, at: fields.count + 2)
    try statement.bind(document, at: fields.count + 3)
    try statement.run()
    return texts.reduce(0) { $0 + $1.count }
  }

  /// What is kept of a document: the text of each field, and that of its id.
  static func texts(
    of definition: IndexDefinition, id: UnsafeRawBufferPointer, body: JSONBytes
  ) -> [[UInt8]] {
    let fields = definition.fields.map { field in
      Array(TextContext.texts(of: field.fieldPath, in: body).joined(separator: [UInt8(ascii: "\n")]))
    }
    return fields + [TextContext.searchable(id)]
  }

  /// Removes the words of a document.
  static func remove(_ entry: IndexCatalog.Entry, document: Int64, on connection: Connection) throws {
    let statement = try connection.statement("DELETE FROM \(name(entry.number)) WHERE rowid = ?1")
    try statement.bind(document, at: 1)
    try statement.run()
  }
}
