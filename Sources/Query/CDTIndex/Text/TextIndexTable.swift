import CDTJSON
import CDTSQLite

/// The FTS5 table of a text index: one row per document, one column per field and one for the id.
///
/// ```sql
/// CREATE VIRTUAL TABLE text_3 USING fts5(c0, c1, id, tokenize = 'ascii')
/// ```
///
/// The rowid is the document's number, which never changes, so a change replaces the row. The elements of an array are
/// separated by line feeds.
package enum TextIndexTable {
  package static func name(_ number: Int64) -> String { "text_\(number)" }

  /// The statement that creates the table. Without FTS5 there is none: a process that has it finds that the table is missing,
  /// and replaces the file.
  static func creation(number: Int64, _ definition: IndexDefinition) -> String {
    guard definition.isUsable else { return "" }
    let columns = definition.fields.indices.map { TextProgram.column($0, of: definition.fields.count) }
    let tokenizer = (definition.options.tokenizer ?? .simple).arguments.joined(separator: " ")
    return """
      CREATE VIRTUAL TABLE \(name(number)) USING fts5(
        \(columns.joined(separator: ", ")), id, tokenize = '\(tokenizer)')
      """
  }

  /// Replaces a document's words.
  static func replace(
    _ number: Int64, _ document: DocumentBytes, _ definition: IndexDefinition, in table: String,
    on connection: Connection
  ) throws {
    let fields = definition.fields
    let columns = fields.indices.map { TextProgram.column($0, of: fields.count) } + ["id", "rowid"]
    let values = (1...columns.count).map { "?\($0)" }.joined(separator: ", ")
    let statement = try connection.statement(
      "INSERT OR REPLACE INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(values))")
    for (position, text) in texts(of: definition, document).enumerated() {
      try statement.bind(text: text, at: position + 1)
    }
    try statement.bind(number, at: columns.count)
    try statement.run()
  }

  /// The stored text of each field of a document and of its id.
  static func texts(of definition: IndexDefinition, _ document: DocumentBytes) -> [[UInt8]] {
    let fields = definition.fields.map { field in
      Array(TextContext.texts(of: field.fieldPath, in: document).joined(separator: [UInt8(ascii: "\n")]))
    }
    return fields + [TextContext.searchable(document.id)]
  }

  /// Removes the words of a document.
  static func remove(_ number: Int64, from entry: IndexCatalog.Entry, on connection: Connection) throws {
    let statement = try connection.statement("DELETE FROM \(name(entry.number)) WHERE rowid = ?1")
    try statement.bind(number, at: 1)
    try statement.run()
  }
}
