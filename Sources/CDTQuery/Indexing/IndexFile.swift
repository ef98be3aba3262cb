import SQLite

/// The layout of `indexes.sqlite`, and the statements on it.
///
/// Everything in the file can be made anew from the documents, so its version is simply replaced when it changes.
package enum IndexFile {
  package static let name = "indexes.sqlite"

  /// The version of the layout; a file with another is discarded and built again.
  package static let version: Int64 = 3

  /// The name under which readers attach the file beside the documents. ``QuerySQL`` has it in its literals.
  package static let schema = "query"

  package static let creation = """
    CREATE TABLE IF NOT EXISTS state (
      store TEXT NOT NULL,
      revision INTEGER NOT NULL
    );
    CREATE TABLE IF NOT EXISTS indexes (
      number INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      type TEXT NOT NULL,
      fields TEXT NOT NULL,
      settings TEXT NOT NULL,
      watermark INTEGER NOT NULL,
      session TEXT,
      multiple INTEGER NOT NULL,
      apart INTEGER NOT NULL
    );
    CREATE TABLE IF NOT EXISTS apart (
      index_number INTEGER NOT NULL,
      id TEXT NOT NULL,
      sequence INTEGER NOT NULL,
      PRIMARY KEY (index_number, id)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS statistics (
      index_number INTEGER PRIMARY KEY,
      sequence INTEGER NOT NULL,
      documents INTEGER NOT NULL,
      rows INTEGER NOT NULL,
      distinct_values TEXT NOT NULL,
      sample TEXT NOT NULL
    );
    """

  /// The table of an index. Rows are keyed by the values and then the id, the order in which sorts break ties.
  ///
  /// ```sql
  /// CREATE TABLE entries_3 (t0 NOT NULL, v0 NOT NULL, id NOT NULL, sequence NOT NULL, absent NOT NULL,
  ///   PRIMARY KEY (t0, v0, id)) WITHOUT ROWID
  /// ```
  package static func tableCreation(number: Int64, _ definition: IndexDefinition) -> String {
    switch definition.type {
    case .json: rowsCreation(definition.fields, table: table(number))
    case .text: TextIndexTable.creation(number: number, definition)
    }
  }

  /// The statement that makes a table of rows under a name.
  static func rowsCreation(_ fields: [IndexDefinition.Field], table: String) -> String {
    let columns = fields.indices.map { "t\($0) NOT NULL, v\($0) NOT NULL" }.joined(separator: ", ")
    let keys = fields.enumerated().map { position, field in
      let direction = field.isDescending ? " DESC" : ""
      return "t\(position)\(direction), v\(position)\(direction)"
    }.joined(separator: ", ")
    return """
      CREATE TABLE \(table) (\(columns), id NOT NULL, sequence NOT NULL, absent NOT NULL,
        PRIMARY KEY (\(keys), id)) WITHOUT ROWID
      """
  }

  package static func table(_ number: Int64) -> String { "entries_\(number)" }

  package static func table(_ entry: IndexCatalog.Entry) -> String {
    entry.definition.type == .text ? TextIndexTable.name(entry.number) : table(entry.number)
  }
}
