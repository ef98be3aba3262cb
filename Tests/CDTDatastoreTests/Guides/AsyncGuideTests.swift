import CDTQuery
import CDTTestSupport
import Testing

/// The examples of `docs/async.md`, each as it stands there.
@Suite struct AsyncGuideTests {
  func importedCount(_ store: Datastore) throws -> Int {
    try store.count(["imported": true])
  }

  @Test func `both forms`() async throws {
    try await withTemporaryDirectory { path in
      let manager = try DatastoreManager(directory: path)
      let store = try await manager.datastore(named: "contacts")
      try await store.createDocument(from: DocumentDraft(id: "mike", body: ["name": "Mike", "age": 36]))
      let adults = try await store.find(["age": ["$gte": 18]], sort: ["name"])
      #expect(adults.map(\.id) == ["mike"])
      #expect(try importedCount(store) == 0)

      let indexes = try await store.run { try $0.listIndexes() }
      #expect(indexes.isEmpty)

      let names = try await store.read { snapshot in
        try snapshot.find(Query(["age": ["$gte": 18]], sort: ["name"])).map {
          $0.body["name"]?.stringValue ?? ""
        }
      }
      try await store.write { transaction in
        var mike = try transaction.document(withID: "mike")
        mike.body["adults"] = names
        try transaction.updateDocument(from: mike)
      }
      #expect(try await store.document(withID: "mike").body["adults"] == ["Mike"])
      try await manager.closeDatastore(named: "contacts")
    }
  }

  @Test func `results, cancellation and deadlines`() async throws {
    try await withTemporaryDirectory { path in
      let manager = try DatastoreManager(directory: path)
      let store = try await manager.datastore(named: "contacts")
      for (id, age) in [("mike", 36), ("zoe", 41)] {
        try await store.createDocument(from: DocumentDraft(id: id, body: ["name": id, "age": age]))
      }

      for try await person in store.stream(try Query(["age": ["$gte": 18]], sort: ["name"])) {
        print(person.id)
        if person.id == "mike" { break }
      }

      let search = Task { try await store.find(["name": ["$regex": "(Mike|Zoe)$"]]) }
      search.cancel()
      do {
        print(try await search.value.count)
      } catch is CancellationError {
        print("cancelled")
      }

      let insertion = Task {
        try await store.write { transaction in
          for number in 0..<100_000 {
            try transaction.createDocument(from: DocumentDraft(body: ["number": number]))
          }
        }
      }
      insertion.cancel()
      do {
        try await insertion.value
      } catch is CancellationError {
        #expect(try await store.read { try $0.documentCount() } == 2)  // as before
      }

      do {
        let found = try await Datastore.withDeadline(.now + .seconds(2)) {
          try await store.find(["age": ["$gte": 18]])
        }
        print(found.count)
      } catch let error as DatastoreError where error.code == .timedOut {
        print("try again later")
      }
      try await manager.closeDatastore(named: "contacts")
    }
  }

  @Test func `every example of the page is code of this file`() throws {
    try expectExamples(of: "async.md", in: #filePath, atLeast: 7)
  }
}
