import CDTDatastore
import CDTJSON
import CDTQuery
import CDTSQLite
import FoundationEssentials

/// A change of the index file's catalog, `table column`, in the first line, and the value in the others: queries are
/// answered, and the file can be checked and repaired.
enum CatalogTarget {
  private static let image = StoreTarget.madeImage()
  private static let directory = "\(FileManager.default.temporaryDirectory.path)/catalogs"
  private static let columns = [
    "state": ["store", "revision", "sequence", "session"],
    "indexes": ["number", "name", "type", "fields", "settings", "watermark", "stale_rows", "multiple"],
    "statistics": ["index_number", "sequence", "documents", "rows", "distinct_values", "sample"],
  ]

  static func run(_ input: [UInt8]) throws {
    let (line, value) = firstLine(input)
    let words = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
    guard words.count == 2, columns[words[0]]?.contains(words[1]) == true else { return }
    let target = "\(directory)/damaged"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    try image.copy(to: target)
    try write(image.database, to: "\(target)/\(StoreImage.name)")
    guard try change(words[0], words[1], value, in: target) else { return }
    let manager = try DatastoreManager(directory: directory, options: Sample.options)
    defer { try? manager.closeDatastore(named: "damaged") }
    let store = try manager.existingDatastore(named: "damaged")
    let documents = image.documents.values.flatMap(\.self)
    expectEqual(Set(try store.read { try $0.allDocuments() }), Set(documents), "the documents")
    for selector: JSONObject in [["tags": "red"], ["pets.kind": "cat"]] {
      let query = Query(try QuerySelector(selector))
      _ = resultOrError { try store.read { try $0.find(query) }.map(\.id).sorted() }
    }
    _ = resultOrError { try store.listIndexes() }
    _ = try store.checkIndexes(repair: true)
    expectEqual(try store.checkIndexes(), [], "the indexes after a repair")
    for selector: JSONObject in [["tags": "red"], ["pets.kind": "cat"], ["age": ["$gt": 1]]] {
      let query = Query(try QuerySelector(selector))
      expectEqual(
        try store.read { try $0.find(query) }.map(\.id).sorted(),
        try query.find(in: documents).map(\.id).sorted(),
        "the results after a repair")
    }
  }

  /// - Returns: Whether SQLite accepts the value.
  private static func change(_ table: String, _ column: String, _ value: [UInt8], in store: String) throws
    -> Bool
  {
    let path = "\(store)/extensions/\(QueryExtension.extensionName)/\(IndexFile.name)"
    let connection = try Connection(path: path, mode: .readWrite)
    defer { connection.close() }
    do {
      let statement = try connection.statement(
        "UPDATE \(table) SET \(column) = ?1 WHERE rowid = (SELECT min(rowid) FROM \(table))")
      defer { statement.reset() }
      if let number = Int64(String(decoding: value, as: UTF8.self)) {
        try statement.bind(number, at: 1)
      } else {
        try statement.bind(text: value, at: 1)
      }
      try statement.run()
      return true
    } catch {
      return false
    }
  }
}
