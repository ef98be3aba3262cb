import CDTDatastore
import CDTJSON
import CDTQuery

/// Brings the indexes of the datastore `store` up to date, a text index among them, and searches it.
enum Words {
  static func run(in directory: String) throws -> JSONObject {
    let manager = try DatastoreManager(directory: directory)
    let store = try manager.existingDatastore(named: "store")
    try store.ensureIndexed(["a"], name: "by_a")
    try store.ensureIndexed(["text"], .text, name: "words")
    try store.updateIndexes()
    func ids(_ query: Query) throws -> JSONValue {
      .array(try store.read { try $0.find(query) }.map(\.id).sorted().map { .string($0) })
    }
    let report: JSONObject = [
      "words": try ids(Query(["$text": ["$search": "word"]], useIndex: "words")),
      "values": try ids(Query(["a": 1], useIndex: "by_a")),
      "findings": .array(
        try (store.checkIndexes() + store.checkIntegrity()).map { .string($0.description) }),
      "indexes": .array(try store.listIndexes().map { .string($0.name) }),
    ]
    try manager.closeDatastore(named: "store")
    return report
  }
}
