import CDTDatastore
import CDTJSON
import CDTSQLite
import CDTTestSupport
import Testing

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

@Suite struct SummaryTests {
  private static func put(_ id: String, _ body: JSONObject, in store: Datastore) throws {
    try store.createDocument(from: DocumentDraft(id: id, body: body))
  }

  private static func withOrders<R>(_ body: (Datastore) throws -> R) throws -> R {
    try withTemporaryDatastore { store in
      for (id, order) in [
        ("a", ["city": "Bern", "state": "open", "total": 7]), ("b", ["city": "Bern", "total": 5.5]),
        ("c", ["city": "Zug", "total": 1]), ("d", ["city": nil, "total": "none"]), ("e", ["total": 2]),
        ("f", ["city": "Zug"]),
      ] as [(String, JSONObject)] {
        try put(id, order, in: store)
      }
      return try body(store)
    }
  }

  private static func rows(_ store: Datastore) throws -> [String] {
    try store.group(by: ["city"], .count(as: "n"), .sum("total", as: "sum")).map(\.text)
  }

  private static func way(_ query: GroupQuery, _ store: Datastore) throws -> JSONValue? {
    try store.read { try $0.explain(query) }.json["groups"]
  }

  private static let summary: JSONValue = "from the groups of the summary"

  @Test func `groups are read from a summary`() throws {
    try Self.withOrders { store in
      let expected = try Self.rows(store)
      #expect(try store.ensureIndexed(["city"], .summary(of: "total")) == "summary_city_of_total")
      let query = try GroupQuery(by: ["city"], [.count(as: "n"), .sum("total", as: "sum")])
      #expect(try Self.way(query, store) == Self.summary)
      #expect(
        expected == [
          #"{"n":1,"sum":2}"#, #"{"city":null,"n":1,"sum":0}"#, #"{"city":"Bern","n":2,"sum":12.5}"#,
          #"{"city":"Zug","n":2,"sum":1}"#,
        ])
      #expect(try Self.rows(store) == expected)
      let all = try GroupQuery(by: [], [.count(), .average("total", as: "mean")])
      #expect(try Self.way(all, store) == Self.summary)
      #expect(try store.read { try $0.group(all) }.map(\.text) == [#"{"count":6,"mean":3.875}"#])
      let ends = try GroupQuery(by: [], [.minimum("total", as: "least"), .maximum("total", as: "most")])
      #expect(try store.read { try $0.group(ends) }.map(\.text) == [#"{"least":1,"most":"none"}"#])
    }
  }

  @Test func `the least and greatest values of large groups are those of the summary`() throws {
    try withTemporaryDatastore { store in
      try store.write { transaction in
        for number in 0..<2_000 {
          let body: JSONObject = ["city": .int(Int64(number % 3)), "total": .int(Int64(number))]
          try transaction.createDocument(from: DocumentDraft(id: "d\(number)", body: body))
        }
      }
      try store.ensureIndexed(["city"], .summary(of: "total"))
      let ends = try GroupQuery(
        by: ["city"], [.minimum("total", as: "least"), .maximum("total", as: "most")])
      #expect(try Self.way(ends, store) == Self.summary)
      #expect(
        try store.read { try $0.group(ends) }.map(\.text) == [
          #"{"city":0,"least":0,"most":1998}"#, #"{"city":1,"least":1,"most":1999}"#,
          #"{"city":2,"least":2,"most":1997}"#,
        ])
    }
  }

  @Test func `conditions on the fields select groups`() throws {
    try Self.withOrders { store in
      try store.ensureIndexed(["city", "state"], .summary(of: "total"))
      let one = try GroupQuery(Query(["city": "Bern"]), by: ["state"], [.sum("total", as: "sum")])
      #expect(try Self.way(one, store) == Self.summary)
      #expect(
        try store.read { try $0.group(one) }.map(\.text) == [#"{"sum":5.5}"#, #"{"state":"open","sum":7}"#])
      let range = try GroupQuery(Query(["city": ["$gt": "Bern"]]), by: ["city"], [.count()])
      #expect(try Self.way(range, store) == Self.summary)
      #expect(try store.read { try $0.group(range) }.map(\.text) == [#"{"city":"Zug","count":2}"#])
      let other = try GroupQuery(Query(["total": 1]), by: ["city"], [.count()])
      #expect(try Self.way(other, store) != Self.summary)
      #expect(try store.read { try $0.group(other) }.map(\.text) == [#"{"city":"Zug","count":1}"#])
    }
  }

  @Test func `a summary with a filter answers for what implies it`() throws {
    try Self.withOrders { store in
      try store.ensureIndexed(["city"], IndexOptions(where: ["state": "open"], sums: ["total"]))
      let open = try GroupQuery(Query(["state": "open"]), by: ["city"], [.sum("total", as: "sum")])
      #expect(try Self.way(open, store) == Self.summary)
      #expect(try store.read { try $0.group(open) }.map(\.text) == [#"{"city":"Bern","sum":7}"#])
      #expect(try Self.way(GroupQuery(by: ["city"], [.count()]), store) == "from the documents")
    }
  }

  @Test func `writes update the groups`() throws {
    try Self.withOrders { store in
      let name = try store.ensureIndexed(["city"], .summary(of: "total"))
      var document = try store.document(withID: "a")
      document.body = ["city": "Zug", "total": 0.25]
      try store.updateDocument(from: document)
      try store.deleteDocument(from: store.document(withID: "f"))
      try Self.put("g", ["city": ["Bern", "Zug"], "total": [1, 2]], in: store)
      // A conflict whose revision wins, and one that does not.
      let parent = try store.document(withID: "c").revisionID
      let (better, worse) = (RevisionID("9-a"), RevisionID("1-0"))
      try store.write { transaction in
        for (revision, total) in [(better, 40), (worse, 1_000)] as [(RevisionID?, JSONValue)] {
          let revision = try #require(revision)
          try transaction.forceInsert(
            DocumentRevision(id: "c", revisionID: revision, body: ["city": "Zug", "total": total]))
        }
      }
      #expect(parent.generation == 1)
      #expect(
        try Self.rows(store) == [
          #"{"n":1,"sum":2}"#, #"{"city":null,"n":1,"sum":0}"#, #"{"city":"Bern","n":1,"sum":5.5}"#,
          #"{"city":"Zug","n":2,"sum":40.25}"#, #"{"city":["Bern","Zug"],"n":1,"sum":0}"#,
        ])
      #expect(try store.checkIndexes() == [])
      // A condition holds for an element of an array, of which the summary knows nothing.
      let bern = try store.group(by: ["city"], .count(as: "n"), where: ["city": "Bern"])
      #expect(bern.map(\.text) == [#"{"city":"Bern","n":1}"#, #"{"city":["Bern","Zug"],"n":1}"#])
      #expect(try store.find(["city": "Bern"]).map(\.id) == ["b", "g"])
      #expect(
        try store.read { try $0.find(Query(["city": "Bern"], useIndex: name)) }.map(\.id) == ["b", "g"])
      #expect(try store.distinct("city").count == 3)
    }
  }

  @Test func `a document that moves to another group with another fraction changes every level`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["city"], .summary(of: "n"))
      try store.write { transaction in
        for (id, city, n) in [("a", "a", 0.3), ("b", "b", 0.2), ("z", "q", 1)]
          as [(String, JSONValue, Double)]
        {
          try transaction.createDocument(from: DocumentDraft(id: id, body: ["city": city, "n": .double(n)]))
        }
      }
      // Two documents change places.
      try store.write { transaction in
        for (id, city, n) in [("a", "b", 0.1), ("b", "a", -0.3)] as [(String, JSONValue, Double)] {
          var document = try transaction.document(withID: id)
          document.body = ["city": city, "n": .double(n)]
          try transaction.updateDocument(from: document)
        }
      }
      let total = try GroupQuery(by: [], [.sum("n", as: "sum"), .average("n", as: "mean")])
      #expect(try Self.way(total, store) == Self.summary)
      #expect(
        try store.read { try $0.group(total) }.map(\.text) == [#"{"sum":0.8,"mean":0.26666666666666666}"#])
      #expect(
        try store.group(by: ["city"], .sum("n", as: "sum")).map(\.text) == [
          #"{"city":"a","sum":-0.3}"#, #"{"city":"b","sum":0.1}"#, #"{"city":"q","sum":1}"#,
        ])
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `a summary without fields has the total`() throws {
    try Self.withOrders { store in
      #expect(try store.ensureIndexed([], .summary(of: "total")) == "summary_of_total")
      let query = try GroupQuery(by: [], [.count(), .sum("total", as: "sum")])
      #expect(try Self.way(query, store) == Self.summary)
      try store.deleteDocument(from: store.document(withID: "b"))
      #expect(
        try store.read { try $0.group(query) }.map(\.text) == [#"{"count":5,"sum":10}"#])
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `a file whose sums may be wrong is rebuilt`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let before = try manager.datastore(named: "store")
      try Self.put("a", ["n": 0.3], in: before)
      try before.ensureIndexed([], .summary(of: "n"))
      let path = try before.indexManager().path
      try manager.closeDatastore(named: "store")
      let file = try Connection(path: path, mode: .readWrite)
      try file.execute("UPDATE groups_1 SET documents = 7; PRAGMA user_version = 813001")
      file.close()
      let store = try manager.datastore(named: "store")
      let query = try GroupQuery(by: [], [.count(as: "n")])
      #expect(try store.read { try $0.group(query) }.map(\.text) == [#"{"n":1}"#])
      try store.indexManager().worker.waitUntilIdle()
      #expect(try Self.way(query, store) == Self.summary)
      #expect(try store.read { try $0.group(query) }.map(\.text) == [#"{"n":1}"#])
      #expect(try store.checkIndexes() == [])
      manager.close()
    }
  }

  @Test func `writes that a summary has missed are made up for`() throws {
    try Self.withOrders { store in
      try store.ensureIndexed(["city"], .summary(of: "total"))
      try writeMissingIndexes(of: store) { transaction in
        var document = try transaction.document(withID: "a")
        document.body = ["city": "Zug", "total": 8]
        try transaction.updateDocument(from: document)
        try transaction.deleteDocument(from: transaction.document(withID: "b"))
      }
      let expected = [
        #"{"n":1,"sum":2}"#, #"{"city":null,"n":1,"sum":0}"#, #"{"city":"Zug","n":3,"sum":9}"#,
      ]
      #expect(try Self.rows(store) == expected)
      try store.updateIndexes()
      let query = try GroupQuery(by: ["city"], [.count(as: "n"), .sum("total", as: "sum")])
      #expect(try Self.way(query, store) == Self.summary)
      #expect(try Self.rows(store) == expected)
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `the check finds a wrong group, and repairs it`() throws {
    try Self.withOrders { store in
      try store.ensureIndexed(["city"], .summary(of: "total"))
      let expected = try Self.rows(store)
      let file = try Connection(path: store.indexManager().path, mode: .readWrite)
      defer { file.close() }
      try file.execute(
        "UPDATE groups_1 SET documents = documents + 1 WHERE substr(key, 1, 1) = x'01' AND instr(key, CAST('Bern' AS BLOB))"
      )
      let findings = try store.checkIndexes(repair: true)
      #expect(
        findings.map(\.message) == [
          #"the index "summary_city_of_total" has 1 wrong group"#,
          #"the index "summary_city_of_total" has 1 wrong group"#,
        ])
      #expect(try Self.rows(store) == expected)
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test(arguments: ["sums = x'00'", "documents = -1", "sums = randomblob(80)", "sums = randomblob(5000)"])
  func `a damaged group is rebuilt, and the answer is right`(damage: String) throws {
    try Self.withOrders { store in
      try store.ensureIndexed(["city"], .summary(of: "total"))
      let expected = try Self.rows(store)
      let file = try Connection(path: store.indexManager().path, mode: .readWrite)
      defer { file.close() }
      try file.execute("UPDATE groups_1 SET \(damage) WHERE instr(key, CAST('Bern' AS BLOB))")
      #expect(try Self.rows(store) == expected)
      try store.rebuildIndexes()
      #expect(try Self.rows(store) == expected)
    }
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var fields: [SortField] = ["city"]
    var type = IndexType.json
    var isUnique = false
    var sums = ["total"]
    let error: String
  }

  static let refusals = [
    Refusal(
      testDescription: "words", type: .text,
      error: "sum: the words of a text index can't be summed; use an index of type json"),
    Refusal(
      testDescription: "unique", isUnique: true,
      error: "unique: a summary can't be unique; create a unique index beside it"),
    Refusal(
      testDescription: "descending", fields: [.descending("city")],
      error:
        #"fields[0]: the fields of a summary are always ascending; name "city" without a direction, and sort the groups"#
    ),
    Refusal(
      testDescription: "nothing", fields: [], sums: [],
      error: "fields: an index needs at least one field; name the fields that queries use"),
    Refusal(
      testDescription: "the same field twice", sums: ["city"],
      error: #"fields[1]: the field "city" is named twice; name it once"#),
  ]

  @Test(arguments: refusals) func refuses(_ c: Refusal) {
    let error = #expect(throws: QueryError.self) {
      try IndexDefinition(
        fields: c.fields,
        IndexOptions(text: c.type == .text ? .simple : nil, unique: c.isUnique, sums: c.sums))
    }
    #expect(error?.description == c.error)
  }

  @Test func `a summary is another index than one of its fields`() throws {
    try Self.withOrders { store in
      let summary = try store.ensureIndexed(["city", "total"], .summary())
      #expect(try store.ensureIndexed(["city", "total"]) == "city_total")
      #expect(try store.ensureIndexed(["city"], .summary(of: "total"), name: "sums") == "sums")
      #expect(try store.listIndexes().map(\.name) == ["city_total", "summary_city_total", "sums"])
      #expect(try store.listIndexes().last?.json["sum"] == ["total"])
      #expect(throws: QueryError.self) { try store.ensureIndexed(["city"], .summary(), name: summary) }
      try store.deleteIndex(named: "sums")
      #expect(try store.listIndexes().map(\.name) == ["city_total", "summary_city_total"])
    }
  }

  @Test func `design documents have groups of their own`() throws {
    try Self.withOrders { store in
      try Self.put("_design/x", ["city": "Bern", "total": 100], in: store)
      try store.ensureIndexed(["city"], .summary(of: "total"))
      var query = try GroupQuery(Query(["city": "Bern"]), by: ["city"], [.count(), .sum("total", as: "sum")])
      func row() throws -> String? { try store.read { try $0.group(query) }.first?.text }
      #expect(try Self.way(query, store) == Self.summary)
      #expect(try row() == #"{"city":"Bern","count":2,"sum":12.5}"#)
      query.query.includesDesignDocuments = true
      #expect(try row() == #"{"city":"Bern","count":3,"sum":112.5}"#)
    }
  }
}
