public import CDTDatastore
import CDTQuery
import FoundationEssentials
import JSON
import SQLite

/// What became of the indexes that CDTDatastore 2.x had on a datastore.
public struct TouchDBIndexReport: Sendable, Hashable {
  /// An index that was not made.
  public struct LeftOut: Sendable, Hashable {
    /// The index's name.
    public let name: String
    /// Its type, `json` or `text`.
    public let type: String
    /// Its fields.
    public let fields: [String]
    /// Why it was left out and what to do about it, for people.
    public let reason: String
  }

  /// The names of the indexes that are there now, sorted.
  public internal(set) var indexes: [String] = []
  /// The indexes that were not made, by name.
  public internal(set) var leftOut: [LeftOut] = []
}

extension Datastore {
  /// Makes the indexes that CDTDatastore 2.x had beside a file.
  ///
  /// ```swift
  /// try store.importTouchDB("Documents/tasks.touchdb")
  /// let report = try store.importTouchDBIndexes("Documents/tasks.touchdb")
  /// for index in report.leftOut { print(index.name, index.reason) }
  /// ```
  ///
  /// They are looked for in `tasks_extensions` beside the file, and made of the documents of this datastore; what lies
  /// there is only read. The fields `_id` and `_rev`, which those indexes all had, are implied here. One that can't be
  /// made, or whose name is taken by another, is left out and reported. Doing it again changes nothing.
  ///
  /// - Parameter path: The path of the `.touchdb` file.
  /// - Throws: ``TouchDBError`` when the indexes' file is encrypted, damaged or another's; ``DatastoreError``.
  /// - Complexity: O(*n* log *n*) in the number of documents, for each index.
  ///
  /// Source: `docs/api-migration.md`, The file.
  @discardableResult
  public func importTouchDBIndexes(_ path: String) throws -> TouchDBIndexReport {
    var report = TouchDBIndexReport()
    for index in try TouchDBIndex.all(beside: path) {
      do {
        report.indexes.append(try index.make(in: self))
      } catch let error as QueryError {
        report.leftOut.append(
          .init(name: index.name, type: index.type, fields: index.fields, reason: error.message))
      }
    }
    return report
  }
}

/// An index as CDTDatastore's catalog has it: a row for each of its fields.
private struct TouchDBIndex {
  let name: String
  let type: String
  let settings: String
  var fields: [String] = []

  private static let catalog = "_t_cloudant_sync_query_metadata"
  /// What is in every index of CDTDatastore's, and of this one's without being named.
  private static let implied: Set<String> = ["_id", "_rev"]

  static func all(beside path: String) throws -> [TouchDBIndex] {
    let catalogPath = TouchDBPaths(path).indexes
    guard FileManager.default.fileExists(atPath: catalogPath) else { return [] }
    let file = try TouchDBFile(catalogPath)
    try file.checkIntegrity()
    try file.checkTables([catalog])
    var indexes: [TouchDBIndex] = []
    let sql = """
      SELECT index_name, index_type, field_name, index_settings FROM \(catalog) ORDER BY index_name, rowid
      """
    try file.forEachRow(sql) { row in
      let name = row.text(0)
      if indexes.last.map({ KeyBytes($0.name) == KeyBytes(name) }) != true {
        indexes.append(TouchDBIndex(name: name, type: row.text(1), settings: row.text(3)))
      }
      let field = row.text(2)
      if !implied.contains(field) { indexes[indexes.count - 1].fields.append(field) }
    }
    try file.checkUnchanged()
    return indexes
  }

  /// Makes the index, or confirms it, and gives its name.
  func make(in datastore: Datastore) throws -> String {
    guard let type = IndexType(rawValue: type) else { throw QueryError.unknownIndexType(type) }
    var settings = JSONObject()
    if type == .text, let tokenizer = (try? JSONObject(parsing: self.settings))?["tokenize"] {
      settings["tokenize"] = tokenizer
    }
    return try datastore.ensureIndexed(
      fields.map { .string($0) }, name: name, type: type, settings: settings)
  }
}
