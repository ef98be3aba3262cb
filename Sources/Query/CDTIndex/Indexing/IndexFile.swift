import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTSQLite

/// The schema of `indexes.sqlite`.
///
/// Everything in the file can be rebuilt from the documents, so a file of another version is replaced.
package enum IndexFile {
  package static let name = "indexes.sqlite"

  /// The version of the schema, and of the tables of the collations; a file with another version is discarded and rebuilt.
  package static let version = 11 * 100_000 + Collation.tables

  /// The schema name under which readers attach the file.
  package static let schema = "query"

  /// Throws if something else is in place of the file or its logs, such as a directory. What a symbolic link leads to is
  /// neither written nor removed.
  static func checkKind(_ database: String) throws {
    for path in ([""] + LogFile.suffixes).map({ database + $0 }) {
      do {
        switch try Files.kind(of: path, followsLinks: false) {
        case .file, nil: continue
        case .link: throw DatastoreError(.link(path))
        case .directory
        where path == database + LogFile.suffix && (try? DatabaseCipher.isUsed(in: database)) == true:
          continue
        case .directory, .other: throw IndexDamage.unreadable("\(path) is not a regular file")
        }
      } catch let error as SystemError {
        throw DatastoreError(error, "read", path)
      }
    }
  }

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
      options TEXT NOT NULL,
      watermark INTEGER,
      stale_rows INTEGER NOT NULL,
      multiple INTEGER NOT NULL,
      overflow INTEGER NOT NULL
    );
    CREATE TABLE IF NOT EXISTS overflow (
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

  /// The table of an index. The keys are those of ``KeyLayout``.
  static func tableCreation(number: Int64, _ definition: IndexDefinition) -> String {
    switch definition.type {
    case .text: return TextIndexTable.creation(number: number, definition)
    case .vector: return VectorTable.creation(of: VectorTable.name(number))
    case .json, .place: break
    }
    let summary = definition.groupedFields.map { _ in SummaryTable.creation(of: groups(number)) }
    return [creation(ofTable: table(number)), summary].compactMap(\.self).joined(separator: ";\n")
  }

  static func tableRemoval(_ entry: IndexCatalog.Entry) -> String {
    let summary = entry.definition.groupedFields.map { _ in "; DROP TABLE \(groups(entry.number))" }
    return "DROP TABLE \(table(entry))\(summary ?? "")"
  }

  /// - Parameter table: The table's name.
  static func creation(ofTable table: String) -> String {
    "CREATE TABLE \(table) (key NOT NULL PRIMARY KEY, document NOT NULL) WITHOUT ROWID"
  }

  package static let tablePrefix: StaticString = "entries_"
  package static let groupsPrefix: StaticString = "groups_"

  /// The table of the groups of a summary.
  package static func groups(_ number: Int64) -> String { "\(groupsPrefix)\(number)" }

  package static func table(_ number: Int64) -> String { "\(tablePrefix)\(number)" }

  package static func table(_ entry: IndexCatalog.Entry) -> String {
    switch entry.definition.type {
    case .text: TextIndexTable.name(entry.number)
    case .vector: VectorTable.name(entry.number)
    case .json, .place: table(entry.number)
    }
  }

  /// The columns of an index's table, the document's number first.
  static func columns(_ entry: IndexCatalog.Entry) -> [String] {
    switch entry.definition.type {
    case .text: ["rowid"] + entry.definition.fields.indices.map { "c\($0)" } + ["id"]
    case .vector: []
    case .json, .place: ["document", "key"]
    }
  }
}
