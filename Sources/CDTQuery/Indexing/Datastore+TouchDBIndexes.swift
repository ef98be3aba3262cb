public import CDTDatastore
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
    /// The tokenizer of a text index, if one was named.
    public let tokenizer: String?
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
  /// there is only read. The fields `_id` and `_rev`, which those indexes all had, are implied here. Text indexes, and
  /// those whose names are taken by others, are left out and reported. Doing it again changes nothing.
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
        if let reason = index.reasonToLeaveOut {
          report.leftOut.append(index.leftOut(reason))
        } else {
          report.indexes.append(try ensureIndexed(index.fields.map { .string($0) }, name: index.name))
        }
      } catch let error as QueryError {
        report.leftOut.append(index.leftOut(error.message))
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

  var reasonToLeaveOut: String? {
    switch type {
    case "json": nil
    case "text": "text indexes are not in this version yet; make it when they are"
    default: "its type \(JSONValue.string(type).text) is unknown; make one of the type json in its place"
    }
  }

  func leftOut(_ reason: String) -> TouchDBIndexReport.LeftOut {
    let tokenizer = (try? JSONObject(parsing: settings))?["tokenize"]?.stringValue
    return .init(name: name, type: type, fields: fields, tokenizer: tokenizer, reason: reason)
  }
}
