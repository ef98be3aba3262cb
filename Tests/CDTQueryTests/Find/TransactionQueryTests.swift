import CDTQuery
import CDTTestSupport
import Testing

/// Reads that belong together see one state; those of a write see what it has done.
@Suite struct TransactionQueryTests {
  private static func fill(_ store: Datastore, _ count: Int) throws {
    try store.write { transaction in
      for number in 0..<count {
        try transaction.createDocument(
          from: DocumentDraft(id: "d\(number)", body: ["n": number, "tags": ["t\(number % 3)", "all"]]))
      }
    }
  }

  @Test(arguments: [false, true]) func `several reads see one state, with any writes in between`(
    isIndexed: Bool
  ) throws {
    try withTemporaryDatastore { store in
      try Self.fill(store, 30)
      if isIndexed { try store.ensureIndexed(["tags"]) }
      let query = try Query(["tags": "t1"], sort: ["_id"])
      try store.read { state in
        let before = try (
          state.find(query), state.count(query), state.documentCount(), state.changes(),
          state.allDocumentIDs()
        )
        try store.createDocument(from: DocumentDraft(id: "new", body: ["tags": ["t1"]]))
        try store.updateDocument(withID: "d1") { $0.body["tags"] = ["none"] }
        try store.deleteDocument(withID: "d4")
        try store.ensureIndexed(["n"])
        #expect(try state.find(query) == before.0)
        #expect(try state.count(query) == before.1)
        #expect(try state.documentCount() == before.2)
        #expect(try state.changes() == before.3)
        #expect(try state.allDocumentIDs() == before.4)
        #expect(try state.document(withID: "d4").id == "d4")
        #expect(try store.read { try $0.count(query) } == 9)
      }
      #expect(
        try store.read { try $0.find(query) }.map(\.id) == [
          "d10", "d13", "d16", "d19", "d22", "d25", "d28", "d7", "new",
        ])
    }
  }

  @Test(arguments: [false, true]) func `a query within a write sees what the write has done`(isIndexed: Bool)
    throws
  {
    try withTemporaryDatastore { store in
      try Self.fill(store, 300)
      if isIndexed {
        try store.ensureIndexed(["tags"])
        try store.ensureIndexed(["n"])
      }
      for isKept in [false, true] {
        let before = try store.find(["tags": "t1"], sort: ["n"])
        struct TakenBack: Error {}
        do {
          try store.write { transaction in
            #expect(try transaction.count(Query(["tags": "t1"])) == 100)
            try transaction.createDocument(from: DocumentDraft(id: "new", body: ["n": -5, "tags": ["t1"]]))
            try transaction.updateDocument(withID: "d1") { $0.body["tags"] = ["t2"] }
            try transaction.deleteDocument(withID: "d4")
            #expect(try transaction.count(Query(["tags": "t1"])) == 99)
            #expect(
              try transaction.find(Query(["tags": "t1"], limit: 3, sort: ["n"])).map(\.id) == [
                "new", "d7", "d10",
              ])
            #expect(
              try transaction.documentIDs(Query(["n": ["$lt": 2]], sort: [.descending("n")]))
                == ["d1", "d0", "new"])
            #expect(try transaction.contains(Query(["n": -5])))
            #expect(try transaction.firstDocument(Query(["tags": "t2"], sort: ["n"]))?.id == "d1")
            #expect(try !transaction.contains(Query(["n": 4])))
            #expect(try transaction.documentCount() == 300)
            #expect(try transaction.changes(since: 300).documents.map(\.id) == ["new", "d1", "d4"])
            // Nobody else does.
            #expect(try store.count(["tags": "t1"]) == 100)
            if !isKept { throw TakenBack() }
          }
        } catch is TakenBack {
          #expect(try store.find(["tags": "t1"], sort: ["n"]) == before)
        }
      }
      #expect(try store.count(["tags": "t1"]) == 99)
      #expect(try store.checkIndexes() == [])
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test func `a query within a write uses the index`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store, 300)
      try store.ensureIndexed(["n"], name: "by_n")
      try store.write { transaction in
        let plan = try transaction.explain(Query(["n": 7]))
        #expect(plan.description.contains("index \"by_n\""))
        try transaction.createDocument(from: DocumentDraft(body: ["n": 7]))
        #expect(try transaction.find(Query(["n": 7], useIndex: "by_n")).count == 2)
      }
      // The next writes are not in the way of the index, nor it in theirs.
      try store.createDocument(from: DocumentDraft(body: ["n": 7]))
      #expect(try store.count(["n": 7]) == 3)
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `a query that fails within a write does not let it be kept`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store, 300)
      var query = try Query(["n": ["$gte": 0]])
      query.timeLimit = .zero
      #expect(throws: QueryError.self) {
        try store.write { transaction in
          try transaction.createDocument(from: DocumentDraft(id: "new", body: [:]))
          _ = try transaction.find(query)
        }
      }
      #expect(try store.read { try $0.documentCount() } == 300)
    }
  }

  @Test func `a transaction that is over reads nothing`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store, 3)
      var kept: ReadTransaction?
      try store.read { kept = $0 }
      let state = try #require(kept)
      for use in [
        { _ = try state.document(withID: "d1") }, { _ = try state.find(Query([:])) },
        { _ = try state.count(Query([:])) },
      ] as [() throws -> Void] {
        #expect(#expect(throws: DatastoreError.self, performing: use)?.code == .closed)
      }
    }
  }

  @Test func `a transaction uses an index that was made elsewhere since the datastore was opened`() throws {
    try withTemporaryDirectory { directory in
      let managers = try (0..<3).map { _ in try DatastoreManager(directory: directory) }
      let store = try managers[0].datastore(named: "store")
      try Self.fill(store, 2_000)
      let other = try managers[1].datastore(named: "store")
      try other.ensureIndexed(["n"], name: "by_n")
      let query = try Query(["n": 7])
      try store.read { snapshot throws in
        #expect(try snapshot.documentCount() == 2_000)
        #expect(try snapshot.explain(query).json["indexes"]?[0]?["used"] == true)
        #expect(try snapshot.documentIDs(query) == ["d7"])
      }
      let fresh = try managers[2].datastore(named: "store")
      for each in [store, fresh] {
        #expect(try each.read { try $0.explain(query) }.json["indexes"]?[0]?["used"] == true)
        #expect(try each.read { try $0.documentIDs(query) } == ["d7"])
      }
    }
  }
}
