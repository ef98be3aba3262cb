import CDTDatastore
import CDTJSON

/// Changes documents `d0` to `d29` of the datastore `store`, as a process that does not use indexes.
enum Changing {
  static func run(in directory: String) throws -> JSONObject {
    let manager = try DatastoreManager(directory: directory)
    let store = try manager.existingDatastore(named: "store")
    for number in 0..<10 {
      try store.updateDocument(withID: "d\(number)") { document in
        document.body["a"] = 3
        document.body["tags"] = ["new", "red"]
      }
      try store.deleteDocument(withID: "d\(number + 10)")
      try store.createDocument(
        from: DocumentDraft(id: "new \(number)", body: ["a": 3, "text": "a new word"]))
      let rival = RevisionID(generation: 1, suffix: "rival")
      try store.write {
        try $0.forceInsert(
          DocumentRevision(id: "d\(number + 20)", revisionID: rival, body: ["a": 3, "tags": ["rival"]]))
      }
    }
    try manager.closeDatastore(named: "store")
    return [:]
  }
}
