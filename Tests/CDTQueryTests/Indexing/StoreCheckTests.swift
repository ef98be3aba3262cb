import CDTDatastore
import CDTSQLite
import CDTTestSupport
import Testing

@testable import CDTIndex
@testable import CDTQuery

/// `Datastore.check` finds what the single checks find.
@Suite struct StoreCheckTests {
  @Test func `a store without problems`() async throws {
    try await withTemporaryDatastore { store in
      try await store.ensureIndexed(["a"])
      try await store.createDocument(from: DocumentDraft(id: "x", body: ["a": 1]))
      #expect(try await store.check() == StoreCheck(problems: [], indexes: [], notes: []))
    }
  }

  @Test func `damage of indexes is repaired, and other findings are notes`() async throws {
    try await withTemporaryDatastore { store in
      for id in ["x", "y"] {
        try await store.createDocument(from: DocumentDraft(id: id, body: ["key": 1, "seen": "no date"]))
      }
      _ = try? await store.ensureIndexed(["key"], .unique, name: "keys")
      try await store.ensureIndexed(["seen"], .expiring(after: .seconds(0)))
      let check = try await store.check()
      #expect(check.problems.isEmpty && check.indexes.isEmpty)
      #expect(check.notes.map(\.kind) == [.expiry, .unique])

      let path = try store.indexManager().path
      let connection = try Connection(path: path, mode: .readWrite)
      try connection.execute("DELETE FROM entries_1")
      #expect(try await !store.check().indexes.isEmpty)
      #expect(try await !store.check(repair: true).indexes.isEmpty)
      #expect(try await store.check().indexes.isEmpty)
    }
  }

  @Test func `the plans of explain are those of the transaction`() async throws {
    try await withTemporaryDatastore { store in
      try await store.ensureIndexed(["a"])
      let query = try Query(["a": 1], sort: ["a"])
      let groups = try GroupQuery(by: ["a"], [.count(as: "n")])
      let (plan, grouped) = try await store.read {
        try ($0.explain(query).description, $0.explain(groups).description)
      }
      #expect(try store.explain(query).description == plan)
      #expect(try store.explain(groups).description == grouped)
    }
  }
}
