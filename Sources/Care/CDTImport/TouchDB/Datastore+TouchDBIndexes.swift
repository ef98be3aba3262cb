public import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTQuery
import CDTSQLite

/// The result of importing the indexes of a CDTDatastore 2.x datastore.
public struct TouchDBIndexReport: Sendable, Hashable {
  /// An index that was not imported.
  public struct SkippedIndex: Sendable, Hashable {
    /// The index's name.
    public let name: String
    /// Its type, `json` or `text`.
    public let type: String
    /// Its fields.
    public let fields: [String]
    /// The reason why it was not imported, then the remedy.
    public let reason: String
  }

  /// The names of the imported indexes, sorted.
  public internal(set) var indexes: [String] = []
  /// The indexes that were not imported, sorted by name.
  public internal(set) var skippedIndexes: [SkippedIndex] = []
}

extension Datastore {
  /// Imports the indexes of a CDTDatastore 2.x datastore.
  ///
  /// ```swift
  /// try store.importTouchDB("Documents/tasks.touchdb")
  /// let report = try store.importTouchDBIndexes("Documents/tasks.touchdb")
  /// for index in report.skippedIndexes { print(index.name, index.reason) }
  /// ```
  ///
  /// The definitions are read from `tasks_extensions` beside the file, which is not changed, and the indexes are built
  /// from the documents of this datastore. The fields `_id` and `_rev`, which all those indexes had, are implicit
  /// here. An index that can't be created, or whose name is taken by another, is skipped and reported. Importing again
  /// changes nothing.
  ///
  /// - Parameter path: The path of the `.touchdb` file.
  /// - Throws: `TouchDBError` if the index file is encrypted, damaged or not CDTDatastore's; `DatastoreError`.
  /// - Complexity: O(*n* log *n*) in the number of documents, for each index.
  ///
  /// See <doc:MovingFromEarlierVersions#The-file>.
  @discardableResult
  public func importTouchDBIndexes(_ path: String) throws -> TouchDBIndexReport {
    var report = TouchDBIndexReport()
    for index in try TouchDBIndex.all(beside: path) {
      do {
        report.indexes.append(try index.make(in: self))
      } catch let error as QueryError {
        report.skippedIndexes.append(
          .init(name: index.name, type: index.type, fields: index.fields, reason: error.message))
      }
    }
    return report
  }
}

/// An index in CDTDatastore's catalog, which has a row for each field.
private struct TouchDBIndex {
  let name: String
  let type: String
  let settings: String
  var fields: [String] = []

  private static let catalog = "_t_cloudant_sync_query_metadata"
  /// The fields of every CDTDatastore index, which are implicit in this package.
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

  /// Creates the index unless it exists, and returns its name.
  func make(in datastore: Datastore) throws -> String {
    guard let type = IndexType(rawValue: type) else { throw QueryError.unknownIndexType(type) }
    var options: JSONObject = ["type": .string(type.rawValue)]
    if type == .text { options["tokenize"] = (try? JSONObject(parsing: settings))?["tokenize"] }
    return try datastore.ensureIndexed(
      fields.map { SortField($0) }, IndexOptions(json: options), name: name)
  }
}
