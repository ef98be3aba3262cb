import SQLite

/// The layout of `indexes.sqlite`.
///
/// Everything in the file can be made again from the documents, so a file of another version is simply replaced.
package enum IndexFile {
  package static let name = "indexes.sqlite"

  /// The version of the layout; a file with another is discarded and built again.
  package static let version: Int64 = 4

  /// The name under which readers attach the file beside the documents.
  package static let schema = "query"

  package static let creation = """
    CREATE TABLE IF NOT EXISTS state (
      store TEXT NOT NULL,
      revision INTEGER NOT NULL,
      sequence INTEGER NOT NULL,
      session TEXT
    );
    CREATE TABLE IF NOT EXISTS indexes (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL UNIQUE,
      type TEXT NOT NULL,
      fields TEXT NOT NULL,
      settings TEXT NOT NULL,
      watermark INTEGER,
      strays INTEGER NOT NULL,
      multiple INTEGER NOT NULL,
      apart INTEGER NOT NULL
    );
    CREATE TABLE IF NOT EXISTS apart (
      index_number INTEGER NOT NULL,
      document INTEGER NOT NULL,
      PRIMARY KEY (index_number, document)
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
  /// CREATE TABLE entries_3 (t0 NOT NULL, v0 NOT NULL, id NOT NULL, document NOT NULL, absent NOT NULL,
  ///   PRIMARY KEY (t0, v0, id)) WITHOUT ROWID
  /// ```
  static func tableCreation(number: Int64, _ definition: IndexDefinition) -> String {
    definition.type == .text
      ? TextIndexTable.creation(number: number, definition) : creation(ofTable: table(number), definition)
  }

  /// - Parameter table: The table's name.
  static func creation(ofTable table: String, _ definition: IndexDefinition) -> String {
    let columns = definition.fields.indices.map { "t\($0) NOT NULL, v\($0) NOT NULL" }.joined(separator: ", ")
    let keys = definition.fields.enumerated().map { position, field in
      let direction = field.isDescending ? " DESC" : ""
      return "t\(position)\(direction), v\(position)\(direction)"
    }.joined(separator: ", ")
    return """
      CREATE TABLE \(table) (\(columns), id NOT NULL, document NOT NULL, absent NOT NULL,
        PRIMARY KEY (\(keys), id)) WITHOUT ROWID
      """
  }

  package static func table(_ number: Int64) -> String { "entries_\(number)" }

  package static func table(_ entry: IndexCatalog.Entry) -> String {
    entry.definition.type == .text ? TextIndexTable.name(entry.number) : table(entry.number)
  }

  /// The columns of an index's table, the one with the document's number first.
  static func columns(_ entry: IndexCatalog.Entry) -> [String] {
    let fields = entry.definition.fields.indices
    return entry.definition.type == .text
      ? ["rowid"] + fields.map { "c\($0)" } + ["id"]
      : ["document"] + fields.flatMap { ["t\($0)", "v\($0)"] } + ["id", "absent"]
  }
}
