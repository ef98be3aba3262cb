// swift-format-ignore-file: NeverForceUnwrap
// Apps of CDTDatastore cast the values of a body so.

import CloudantSync
import Foundation
import Testing

/// Written for CDTDatastore 2.x in the spelling of Swift 2.
@available(*, deprecated) final class Swift2App {
  struct NewestWins: CDTConflictResolver {
    func resolve(docId: String, conflicts: [CDTDocumentRevision]) -> CDTDocumentRevision? {
      conflicts.max { ($0.body["time"] as! Int) < ($1.body["time"] as! Int) }
    }

    func resolve(_ docId: String, conflicts: [CDTDocumentRevision]) -> CDTDocumentRevision? {
      resolve(docId: docId, conflicts: conflicts)
    }
  }

  let manager: CDTDatastoreManager
  let datastore: Datastore

  init(path: String) throws {
    manager = try CDTDatastoreManager(directory: path)
    datastore = try manager.datastoreNamed("pets")
  }

  func add(_ name: String, age: Int, species: String) throws {
    var rev = CDTDocumentRevision(docId: name)
    rev.body = ["name": name, "age": age, "pet": ["species": species]]
    try datastore.createDocumentFromRevision(rev)
  }

  func run() throws {
    for (name, age, species) in [("mike", 36, "cat"), ("john", 12, "dog"), ("fred", 72, "cat")] {
      try add(name, age: age, species: species)
    }
    let name = try datastore.ensureIndexed(
      ["name", ["age": "desc"], "pet.species"], withName: "basic", ofType: CDTQIndexType.JSON)
    #expect(name == "basic")
    try datastore.ensureIndexed(
      ["name"], withName: "words", ofType: .text, settings: ["tokenize": "simple"])
    try datastore.updateAllIndexes()

    let query: [String: Any] = ["age": ["$gt": 20], "pet.species": ["$eq": "cat"]]
    let result = try datastore.find(query)
    #expect(result.documentIds.sorted() == ["fred", "mike"])
    let page = try datastore.find(query, skip: 1, limit: 1, fields: ["name", "age"], sort: [["age": "asc"]])
    #expect(page.count == 1 && page[0].body["name"] as! String == "fred")

    var names: [String] = []
    let all = try datastore.find(
      [:] as [String: Any], skip: 0, limit: 0, fields: nil, sort: [["name": "asc"]])
    all.enumerateObjectsUsingBlock { (rev, idx, stop) in
      names.append(rev.body["name"] as! String)
      if idx == 1 { stop.memory = true }
    }
    #expect(names == ["fred", "john"])
    let literal = try datastore.find(["name": "mike"])
    literal.enumerateObjectsUsingBlock { rev, _, _ in #expect(rev.body["age"] as! Int == 36) }
    let text = try datastore.find(["$text": ["$search": "john"]] as NSDictionary)
    #expect(text.documentIds == ["john"])

    for (rev, time) in [("1-a", 5), ("1-b", 3)] {
      try datastore.write {
        try $0.forceInsert(
          DocumentRevision(id: "meeting", revisionID: RevisionID(rev)!, body: ["time": .int(Int64(time))]))
      }
    }
    for id in datastore.getConflictedDocumentIds() {
      try datastore.resolveConflictsForDocument(id, resolver: NewestWins())
    }
    #expect(try datastore.getDocumentWithId("meeting").body["time"] as! Int == 5)

    try datastore.deleteIndexNamed("words")
    #expect(try datastore.listIndexes().count == 1)
    let missing = CDTDocumentRevision("empty")
    #expect(throws: DatastoreError.self) { try datastore.createDocumentFromRevision(missing) }
    missing.body["now"] = true
    #expect(try datastore.createDocumentFromRevision(missing).body["now"] as! Bool)
    #expect(datastore.getAllDocumentsOffset(0, limit: 2, descending: false).count == 2)
    try manager.deleteDatastoreNamed("pets")
  }
}
