import CDTDatastore
import CDTJSON
import CDTSQLite
import CDTTestSupport
import Testing

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// Queries and indexes with a collation. `LawOneTests` compare them with plain code on random documents.
@Suite struct CollationQueryTests {
  private static let names = ["Zimbabwe", "Åland", "anna", "Anna", "Ånna", "zebra"]

  private func withNames<R>(_ body: (Datastore) throws -> R) throws -> R {
    try withTemporaryDatastore { store in
      for name in Self.names { try put(store, name, ["name": .string(name)]) }
      return try body(store)
    }
  }

  private func put(_ store: Datastore, _ id: String, _ body: JSONObject) throws {
    try store.write { _ = try $0.createDocument(from: DocumentDraft(id: id, body: body)) }
  }

  private func ids(_ store: Datastore, _ query: Query) throws -> [String] {
    try store.read { try $0.find(query) }.map(\.id)
  }

  @Test(arguments: [false, true]) func `strings are found and sorted by the collation`(isIndexed: Bool) throws
  {
    try withNames { store in
      if isIndexed {
        for collation in Collation.allCases { try store.ensureIndexed(["name"], .collation(collation)) }
      }
      #expect(
        try ids(store, Query([:], sort: ["name"], collation: .unicode))
          == ["Åland", "Anna", "anna", "Ånna", "zebra", "Zimbabwe"])
      #expect(
        try ids(store, Query([:], sort: ["name"], collation: .nocase))
          == ["Anna", "anna", "zebra", "Zimbabwe", "Åland", "Ånna"])
      #expect(try Set(ids(store, Query(["name": "ANNA"], collation: .nocase))) == ["anna", "Anna"])
      #expect(try Set(ids(store, Query(["name": "ANNA"], collation: .unicode))) == ["anna", "Anna", "Ånna"])
      #expect(
        try ids(store, Query(["name": ["$gt": "ånna"]], sort: ["name"], collation: .unicode)) == [
          "zebra", "Zimbabwe",
        ])
      #expect(try Set(ids(store, Query(["name": ["$nin": ["ÅLAND", "Z"]]], collation: .unicode))).count == 5)
      #expect(
        try Set(ids(store, Query(["name": ["$beginsWith": "an"]], collation: .unicode))) == [
          "anna", "Anna", "Ånna",
        ])
      // Patterns and ids are compared as without a collation.
      #expect(try ids(store, Query(["name": ["$regex": "^anna"]], collation: .nocase)) == ["anna"])
      #expect(try ids(store, Query(["_id": "ANNA"], collation: .nocase)) == [])
    }
  }

  @Test func `an index serves the strings of queries with its collation, and the numbers of all`() throws {
    try withTemporaryDatastore { store in
      for number in 0..<200 {
        try put(store, "d\(number)", ["name": .string("Name \(number)"), "age": .int(Int64(number))])
      }
      try store.ensureIndexed(["name"], .collation(.unicode))
      try store.ensureIndexed(["age"])
      func explanation(_ query: Query) throws -> String {
        try store.read { try $0.explain(query) }.description
      }
      let folded = try explanation(Query(["name": "NAME 7"], collation: .unicode))
      #expect(folded.contains(#"index "unicode_name": name at one value"#), "\(folded)")
      #expect(folded.contains(#"strings are compared by "unicode""#))
      let other = try explanation(Query(["name": "NAME 7"], collation: .nocase))
      #expect(
        other.contains(
          #"index "unicode_name": not used, it compares strings by "unicode", and the query by "nocase""#),
        "\(other)")
      #expect(other.contains("cdtquery index create --collation nocase"), "\(other)")
      #expect(try explanation(Query(["name": "Name 7"])).contains("and the query by their bytes"))
      let number = try explanation(Query(["age": 7], collation: .unicode))
      #expect(number.contains(#"index "age": age at one value"#), "\(number)")
      #expect(
        try store.read { try $0.explain(Query(["age": 7], collation: .unicode)) }.json["collation"]
          == "unicode")
      let sorted = try explanation(Query([:], limit: 3, sort: ["name"], collation: .unicode))
      #expect(sorted.contains("order: by the index"), "\(sorted)")
      #expect(try !explanation(Query([:], limit: 3, sort: ["name"])).contains("order: by the index"))
    }
  }

  @Test func `definitions with another collation are different indexes`() throws {
    try withTemporaryDatastore { store throws in
      #expect(try store.ensureIndexed(["name"]) == "name")
      #expect(try store.ensureIndexed(["name"], .collation(.nocase)) == "nocase_name")
      #expect(try store.ensureIndexed(["name"], .collation(.nocase)) == "nocase_name")
      #expect(try store.listIndexes().map(\.definition.collation) == [nil, .nocase])
      #expect(try store.listIndexes().last?.json["collation"] == "nocase")
      let conflict = #expect(throws: QueryError.self) {
        try store.ensureIndexed(["name"], .collation(.unicode), name: "name")
      }
      #expect(conflict?.code == .indexConflict)
      let text = #expect(throws: QueryError.self) {
        try store.ensureIndexed(["name"], IndexOptions(text: .simple, collation: .unicode))
      }
      #expect(
        text?.description
          == "collation: a text index can't have a collation; choose a tokenizer, such as unicode61, or use an index of type json"
      )
    }
  }

  @Test func `a unique index with a collation refuses strings that it takes for equal`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["name"], IndexOptions(unique: true, collation: .nocase))
      try put(store, "1", ["name": "Anna"])
      let violation = #expect(throws: UniqueViolation.self) { try put(store, "2", ["name": "anna"]) }
      #expect(violation?.key == ["anna"])
      #expect(violation?.documentIDs == ["2", "1"])
      try put(store, "3", ["name": "Änna"])
      #expect(try store.uniqueViolations() == [])
    }
  }

  @Test func `a filter of a partial index compares bytes`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["name"], IndexOptions(where: ["kind": "A"], collation: .nocase))
      try put(store, "1", ["kind": "A", "name": "x"])
      try put(store, "2", ["kind": "a", "name": "X"])
      // The selector does not imply the filter, as it also finds "a".
      let query = try Query(["kind": "A", "name": "X"], collation: .nocase)
      #expect(try Set(ids(store, query)) == ["1", "2"])
      #expect(
        try store.read { try $0.explain(query) }.description.contains("which the selector does not imply"))
      #expect(try store.listIndexes().first?.entries == 1)
    }
  }

  @Test(arguments: Collation.allCases) func `pages continue after a bookmark`(_ collation: Collation) throws {
    try withNames { store in
      try store.ensureIndexed(["name"], .collation(collation))
      let whole = try ids(store, Query([:], sort: ["name"], collation: collation))
      var (query, found) = (try Query([:], limit: 2, sort: ["name"], collation: collation), [String]())
      for _ in 0..<3 {
        let page = try store.results(for: query)
        found += try page.documents().map(\.id)
        let bookmark = try page.bookmark()
        query.bookmark = try Bookmark(#require(bookmark).text)
      }
      #expect(found == whole)
      query.collation = nil
      let other = query
      let error = #expect(throws: QueryError.self) { try store.read { try $0.find(other) } }
      #expect(error?.path == "bookmark")
    }
  }

  @Test(.timeLimit(.usual)) func `a live query follows by its collation`() async throws {
    try await withTemporaryDatastore { store in
      let query = try Query(["name": "anna"], sort: ["name"], collation: .unicode)
      var live = store.live(query).makeAsyncIterator()
      #expect(try await live.next()?.results.map(\.id) == [])
      try await store.write {
        _ = try $0.createDocument(from: DocumentDraft(id: "1", body: ["name": "ÄNNA"]))
      }
      #expect(try await live.next()?.results.map(\.id) == ["1"])
    }
  }

  @Test func `a request names its collation`() throws {
    let query = try Query(request: ["selector": ["a": "b"], "collation": "unicode"])
    #expect(query.collation == .unicode)
    #expect(query.description == #"{"selector":{"a":{"$eq":"b"}},"collation":"unicode"}"#)
    let error = #expect(throws: QueryError.self) {
      try Query(request: ["selector": [:], "collation": "swedish"])
    }
    #expect(error?.description == #"collation: "swedish" is not a collation; use "nocase" or "unicode""#)
    let groups = #expect(throws: QueryError.self) {
      try GroupQuery(request: ["selector": [:], "collation": "nocase", "group": ["by": ["a"]]])
    }
    #expect(groups?.path == "collation")
  }

  @Test func `an index made with other tables is built again`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      defer { manager.close() }
      var store = try manager.datastore(named: "store")
      try put(store, "1", ["name": "Anna"])
      try store.ensureIndexed(["name"], .collation(.unicode))
      let path = try store.indexManager().path
      try manager.closeDatastore(named: "store")
      let connection = try Connection(path: path, mode: .readWrite)
      try connection.execute(
        "PRAGMA user_version = \(IndexFile.version - 1); UPDATE entries_1 SET key = x'40'")
      connection.close()
      store = try manager.datastore(named: "store")
      try store.updateIndexes()
      #expect(try ids(store, Query(["name": "anna"], collation: .unicode)) == ["1"])
      #expect(try store.checkIndexes() == [])
    }
  }
}
