import CDTDatastore
import CDTImport
import CDTJSON
import CDTQuery

/// This package, through its public API.
final class Ours: Contestant {
  private static let name = "bench"

  private let manager: DatastoreManager
  let store: Datastore

  init(directory: String) throws {
    manager = try DatastoreManager(directory: directory)
    store = try manager.datastore(named: Self.name)
  }

  func forAnotherThread() -> Ours { self }

  func close() {
    try? manager.closeDatastore(named: Self.name)
  }

  /// The importer is the public way from JSON text to documents, and it reads files.
  func load(_ documents: JSONLines, file: String) throws {
    let report = try DocumentImporter(into: store).run([file])
    guard report.imported == documents.count else { throw BenchError("\(report.imported) were imported") }
  }

  func createIndexes() throws {
    try store.ensureIndexed(["name", "age"])
    try store.ensureIndexed(["pet.species"])
    try store.ensureIndexed(["tags"])
  }

  func settle() throws {
    try store.updateIndexes()
  }

  func createAgeIndex() throws {
    try store.ensureIndexed(["age"], name: "age")
  }

  func deleteAgeIndex() throws {
    try store.deleteIndex(named: "age")
  }

  func replace(_ positions: Range<Int>, of documents: JSONLines) throws {
    try store.write { transaction in
      for position in positions {
        var body = try documents.withLine(position) { try JSONObject(parsing: Array($0)) }
        guard case .string(let id)? = body.removeValue(forKey: "_id") else { throw BenchError("no _id") }
        var document = try transaction.document(withID: id)
        document.body = body
        try transaction.updateDocument(from: document)
      }
    }
  }
}
