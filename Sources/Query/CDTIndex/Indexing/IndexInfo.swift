import CDTDatastore
public import CDTJSON
import CDTSQLite

/// An index as `Datastore.listIndexes()` describes it.
public struct IndexInfo: Sendable, Hashable {
  /// The definition of the index.
  public let definition: IndexDefinition

  /// The index's name.
  public var name: String { definition.name }
  /// Values in order, words, values and a place, or vectors.
  public var type: IndexType { definition.type }
  /// The fields, most significant first.
  public var fields: [IndexDefinition.Field] { definition.fields }

  /// The number of rows: one per document that the index holds, more if fields are arrays; of an index of vectors, their number. 0 for a
  /// user who does not see every document.
  public private(set) var entries: Int
  /// The size of the rows in bytes. 0 for a user who does not see every document, and if SQLite can't tell it.
  public private(set) var bytes: Int
  /// The sequence up to which every document is in the index; later documents are checked by the matcher.
  public let indexedSequence: Int64
  /// The measured distribution of the values; `nil` for an index of words or vectors, and before the measurement.
  package private(set) var statistics: IndexStatistics?

  /// The index without what tells of documents.
  var withoutSize: IndexInfo {
    var info = self
    (info.entries, info.bytes, info.statistics) = (0, 0, nil)
    return info
  }

  /// The index as `cdtquery index list` prints it.
  public var json: JSONObject {
    var json = definition.json
    // An index has a page at least, if pages can be counted.
    if bytes > 0 || entries > 0 { json["entries"] = .int(Int64(entries)) }
    if bytes > 0 { json["bytes"] = .int(Int64(bytes)) }
    json["sequence"] = .int(indexedSequence)
    return json
  }

  /// The statistics of each field's values for the planner: the approximate number of distinct values, and a sorted sample in which a
  /// frequent value occurs in proportion to its share. Arrays and objects are empty.
  package var distributionJSON: JSONValue {
    guard let statistics else { return [] }
    return .array(
      zip(fields, statistics.fields).map { field, values in
        [
          "field": .string(field.path), "distinct": .double(values.distinct),
          // With a collation, the strings are those that are compared, not those of the documents.
          "sample": .array(
            // Cells tell people nothing.
            field.fieldPath.isCell
              ? [] : values.keys.map(\.json).filter { definition.collation == nil || $0.stringValue == nil }),
        ]
      })
  }

  /// All indexes of a file, sorted by name.
  ///
  /// - Parameter stop: Ends the count of their rows and bytes, which takes as long as it takes to read them.
  static func all(in file: IndexConnection, stop: StopSignal?) throws -> [IndexInfo] {
    let connection = file.connection
    if let stop { connection.setProgressCheck { !stop.isSet } }
    // Use one snapshot, as another process may delete an index.
    return try connection.transaction(.deferred) {
      let state = try file.state()
      return try file.catalog().entries.map { entry in
        try stop?.check()
        let isUsable = entry.definition.isUsable
        let definition = entry.definition
        let number =
          definition.type == .vector
          ? "coalesce(sum(length(entries)), 0) / \(definition.vectorLayout.entrySize)" : "count(*)"
        let count = "SELECT \(number) FROM \(IndexFile.table(entry))"
        return IndexInfo(
          definition: entry.definition, entries: isUsable ? Int(try connection.scalar(count)) : 0,
          bytes: isUsable && SQLiteLibrary.hasSizes ? try size(of: entry, on: connection) : 0,
          indexedSequence: entry.watermark ?? state.sequence, statistics: entry.statistics)
      }
    }
  }

  private static func size(of entry: IndexCatalog.Entry, on connection: Connection) throws -> Int {
    let table = IndexFile.table(entry)
    return Int(
      try connection.scalar(
        """
        SELECT sum(pgsize) FROM dbstat
         WHERE name IN ('\(table)', '\(IndexFile.groups(entry.number))') OR name GLOB '\(table)_*'
        """))
  }
}

extension OrderKey {
  /// The value; arrays and objects are empty.
  fileprivate var json: JSONValue {
    if self >= .firstArray { return self < .firstObject ? [] : [:] }
    return bytes.withUnsafeBytes { bytes in
      var offset = 0
      return OrderKey.value(in: JSONBytes(bytes), at: &offset)
    }
  }
}
