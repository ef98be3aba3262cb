import CDTJSON
import CDTTestSupport
import Foundation
import Synchronization
import Testing

@testable import CDTDatastore
@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// `include`: the documents whose ids stand at paths of the results.
@Suite struct IncludeTests {
  private static func fill(_ store: Datastore) throws {
    let documents: [(String, JSONObject)] = [
      ("ann", ["name": "Ann"]), ("p1", ["name": "Pen"]), ("p2", ["name": "Pad"]),
      (
        "o1",
        [
          "n": 1, "owner": "ann",
          "items": [["product": "p1"], ["product": ["p2", 7]], ["product": "p1"], "p2"],
        ]
      ),
      ("o2", ["n": 2, "owner": "bob", "items": ["product": "p2"]]),
      ("o3", ["n": 3, "owner": ["ann", "o1", nil]]), ("o4", ["n": 4, "owner": 5]),
    ]
    try store.write { transaction in
      for (id, body) in documents {
        try transaction.createDocument(from: DocumentDraft(id: id, body: body))
      }
    }
  }

  private static func query(limit: Int? = nil) throws -> Query {
    try Query(
      ["n": ["$gt": 0]], limit: limit, sort: ["n"],
      include: ["owner": "owner", "items": "items[].product"])
  }

  /// The ids under each name.
  private static func ids(_ included: IncludedDocuments) -> [String: [String]] {
    included.mapValues { $0.map(\.id) }
  }

  @Test func `linked documents come beside the results, each once under a name`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store)
      let page = try store.page(Self.query())
      #expect(page.documents.map(\.id) == ["o1", "o2", "o3", "o4"])
      #expect(Self.ids(page.included) == ["owner": ["ann", "o1"], "items": ["p1", "p2"]])
      #expect(page.included["owner"]?["ann"]?.body["name"] == "Ann")
      #expect(page.included["owner"]?["bob"] == nil)
      #expect(page.included["items"]?.count == 2)
    }
  }

  @Test func `the documents are those of the page, whichever fields it has`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store)
      var query = try Self.query(limit: 1)
      query.fields = ["n"]
      query.skip = 1
      let second = try store.page(query)
      #expect(second.documents.map(\.body) == [["n": 2]])
      #expect(Self.ids(second.included) == ["owner": [], "items": ["p2"]])
      #expect(second.included["items"]?["p2"]?.body == ["name": "Pad"])
      query.bookmark = second.bookmark
      query.skip = 0
      #expect(Self.ids(try store.page(query).included) == ["owner": ["ann", "o1"], "items": []])
      query.isBackward = true
      #expect(Self.ids(try store.page(query).included) == ["owner": ["ann"], "items": ["p1", "p2"]])
    }
  }

  @Test func `a result set includes what the results link that were read`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store)
      let results = try store.results(for: Self.query())
      #expect(Self.ids(try results.included()) == ["owner": [], "items": []])
      _ = try results.next()
      #expect(Self.ids(try results.included()) == ["owner": ["ann"], "items": ["p1", "p2"]])
      // A later write is not visible.
      try store.deleteDocument(withID: "ann")
      var texts: [String] = []
      try results.forEachJSON { texts.append(String(decoding: $0, as: UTF8.self)) }
      #expect(texts.count == 3 && texts[0].hasPrefix(#"{"_id":"o2","_rev":"1-"#))
      #expect(Self.ids(try results.included()) == ["owner": ["ann", "o1"], "items": ["p1", "p2"]])
      #expect(Self.ids(try store.page(Self.query()).included)["owner"] == ["o1"])
    }
  }

  @Test func `the order under a name does not depend on another name`() throws {
    try withTemporaryDatastore { store in
      try store.write { transaction in
        for (id, body) in [
          ("a", ["n": 1, "friends": ["c", "b", "c"], "best": "b"]), ("b", [:]), ("c", [:]),
        ] as [(String, JSONObject)] {
          try transaction.createDocument(from: DocumentDraft(id: id, body: body))
        }
      }
      let included = try store.page(Query(["n": 1], include: ["friends": "friends", "best": "best"])).included
      #expect(Self.ids(included) == ["friends": ["c", "b"], "best": ["b"]])
    }
  }

  @Test func `a write includes what it has written`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store)
      try store.write { transaction in
        try transaction.createDocument(from: DocumentDraft(id: "bob", body: ["name": "Bob"]))
        try transaction.deleteDocument(withID: "ann")
        #expect(Self.ids(try transaction.page(Self.query()).included)["owner"] == ["bob", "o1"])
      }
    }
  }

  @Test func `ids and names differ by their bytes`() throws {
    try withTemporaryDatastore { store in
      try store.write { transaction in
        for id in ["é", "e\u{301}"] {
          try transaction.createDocument(from: DocumentDraft(id: id, body: ["id": .string(id)]))
        }
        let links: JSONValue = [
          "é", "e\u{301}", "", "\u{0}", .string(String(repeating: "x", count: 100_000)),
        ]
        try transaction.createDocument(from: DocumentDraft(id: "r", body: ["to[": links, "to[]": "é"]))
      }
      let page = try store.page(Query(["_id": "r"], include: ["x": "to[[]", "y": "to[][]"]))
      for id in ["é", "e\u{301}"] {
        #expect(page.included["x"]?[id]?.body["id"]?.stringValue?.hasSameBytes(as: id) == true)
      }
      #expect(page.included["x"]?.count == 2 && page.included["y"]?.count == 1)
    }
  }

  @Test func `a result may link any number of documents`() throws {
    try withTemporaryDatastore { store in
      let ids = (0..<5_000).map { "d\($0)" }
      try store.write { transaction in
        for id in ids where id.hasSuffix("0") {
          try transaction.createDocument(from: DocumentDraft(id: id, body: [:]))
        }
        let body: JSONObject = ["to": .array((ids + ids).map { .string($0) })]
        try transaction.createDocument(from: DocumentDraft(id: "hub", body: body))
      }
      let page = try store.page(Query(["to": ["$exists": true]], include: ["to": "to[]"]))
      #expect(page.included["to"]?.map(\.id) == ids.filter { $0.hasSuffix("0") })
    }
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    let testDescription: String, error: String

    init(_ include: String, _ error: String) { (testDescription, self.error) = (include, error) }
  }

  static let refusals = [
    Refusal(
      "5", #"include: "include" must be an object of names and paths, such as {"owner": "ownerId"}, not 5"#),
    Refusal(
      #"["a"]"#,
      #"include: "include" must be an object of names and paths, such as {"owner": "ownerId"}, not ["a"]"#),
    Refusal(
      #"{"a": ["b"]}"#,
      #"include: "include" must be an object of names and paths, such as {"owner": "ownerId"}, not {"a":["b"]}"#
    ),
    Refusal(
      #"{"": "a"}"#, #"include: the name "" of included documents is empty, or given twice; use another one"#),
    Refusal(
      #"{"\u00e9": "a", "e\u0301": "b"}"#,
      "include: the name \"e\u{301}\" of included documents is empty, or given twice; use another one"),
    Refusal(
      #"{"a": ""}"#,
      #"include.a: the path "" has an empty segment; name every segment; write "\." for a dot in a name"#),
    Refusal(
      #"{"a": "_id"}"#,
      #"include.a: the path "_id" is not one of a field with ids; name such a field"#),
    Refusal(
      #"{"a": "b.[]"}"#,
      #"include.a: the path "b." has an empty segment; name every segment; write "\." for a dot in a name"#
    ),
  ]

  @Test(arguments: refusals) func `an include that is not valid is refused`(_ c: Refusal) throws {
    let include = try JSONValue(parsing: c.testDescription)
    let error = #expect(throws: QueryError.self) {
      try Query(request: ["selector": [:], "include": include])
    }
    #expect(error.map { "\($0)".hasSameBytes(as: c.error) } == true, "\(error.map { "\($0)" } ?? "")")
  }

  @Test func `at most 32 names are taken`() throws {
    let include = Dictionary(uniqueKeysWithValues: (0..<33).map { ("n\($0)", "a") })
    let error = #expect(throws: QueryError.self) { try Query([:], include: include) }
    #expect(error?.code == .tooLarge && error?.path == "include")
    try withTemporaryDatastore { store in
      try Self.fill(store)
      var query = try Self.query()
      query.include = Dictionary(uniqueKeysWithValues: (0..<32).map { ("n\($0)", "owner") })
      #expect(try store.page(query).included.values.allSatisfy { $0.map(\.id) == ["ann", "o1"] })
    }
  }

  @Test func `results that have no place for them refuse an include`() async throws {
    try await withTemporaryDatastore { store in
      let query = try Query([:], include: ["owner": "owner"])
      func refused(_ remedy: String, _ body: () async throws -> Void) async {
        let error = await #expect(throws: QueryError.self) { try await body() }
        #expect(
          error.map { "\($0)" }
            == "include: these results have no place for the documents that they include; \(remedy)")
      }
      await refused("call page(_:), or leave out include") { _ = try await store.read { try $0.find(query) } }
      await refused("call page(_:), or leave out include") {
        _ = try await store.read { try $0.firstDocument(query) }
      }
      await refused("query a store, or leave out include") { _ = try query.find(in: []) }
      await refused("read a ResultSet, or leave out include") { for try await _ in store.stream(query) {} }
      let groups = #expect(throws: QueryError.self) { try GroupQuery(query, by: ["a"]) }
      #expect(groups?.path == "include")
      // These ask for no documents.
      #expect(try await store.read { try $0.count(query) } == 0)
      #expect(try await store.read { try $0.documentIDs(query) } == [])
    }
  }

  @Test func `a request has its includes in its description`() throws {
    let text = #"{"selector":{},"include":{"a":"b[].c","o":"owner"}}"#
    #expect(try Query(parsing: text).description == text)
    // Without a selector it is a condition on a field.
    #expect(try Query(parsing: #"{"include": 5}"#).include == [:])
    #expect(try Query(parsing: text).include == ["a": "b[].c", "o": "owner"])
  }

  @Test func `explain names the includes`() throws {
    try withTemporaryDatastore { store in
      let explanation = try store.explain(Self.query())
      #expect(
        explanation.description.contains(
          "├ included, read by their ids after the results: items by items.product, owner by owner\n"))
      #expect(explanation.json["include"] == "items by items.product, owner by owner")
    }
  }

  @Test func `a query that takes too long is ended while it reads linked documents`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store)
      var query = try Self.query()
      query.timeLimit = .milliseconds(20)
      let error = #expect(throws: QueryError.self) {
        let results = try store.results(for: query)
        _ = try results.next()
        while true { _ = try results.included() }
      }
      #expect(error?.code == .timedOut)
    }
  }

  @Test func `results and linked documents are of one state beside a writer`() throws {
    try withTemporaryDatastore { store in
      @Sendable func body(_ number: Int) -> JSONObject { ["n": number.jsonValue, "to": "target"] }
      try store.createDocument(from: DocumentDraft(id: "source", body: body(0)))
      try store.createDocument(from: DocumentDraft(id: "target", body: body(0)))
      let query = try Query(["_id": "source"], include: ["to": "to"])
      let isDone = Atomic(false)
      let failures = Mutex<[String]>([])
      let answers = Atomic(0)
      onThreads(3) { worker in
        do {
          var number = 0
          while worker == 0
            ? number < 200 || answers.load(ordering: .relaxed) < 200 : !isDone.load(ordering: .acquiring)
          {
            number += 1
            if worker == 0 {
              try store.write { transaction in
                for id in ["source", "target"] {
                  try transaction.updateDocument(withID: id) { $0.body = body(number) }
                }
              }
              continue
            }
            let page = try store.page(query)
            let numbers = [page.documents.first, page.included["to"]?["target"]].map { $0?.body["n"] }
            if numbers[0] != numbers[1] || numbers[0] == nil { failures.withLock { $0.append("\(numbers)") } }
            answers.add(1, ordering: .relaxed)
          }
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
        if worker == 0 { isDone.store(true, ordering: .releasing) }
      }
      #expect(failures.withLock { $0 } == [])
    }
  }

  // MARK: Models

  struct Person: DocumentModel {
    var id = ""
    var revision: RevisionID?
    var name: String
  }

  struct Order: DocumentModel {
    struct Item: Codable { var product: String }
    struct Part: Codable { var main: String? }
    var id = ""
    var revision: RevisionID?
    var n: Int
    var owner: String?
    var others: [String] = []
    var items: [Item] = []
    var part = Part()
  }

  @Test func `a typed query gives linked models by their ids`() throws {
    try withTemporaryDatastore { store in
      for (id, name) in [("ann", "Ann"), ("p1", "Pen"), ("p2", "Pad")] {
        try store.createDocument(from: DocumentDraft(id: id, body: ["name": .string(name)]))
      }
      try store.createDocument(from: DocumentDraft(id: "wrong", body: ["nam": 5]))
      let order = Order(
        id: "o1", n: 1, owner: "ann", others: ["p2", "none"], items: [.init(product: "p1")],
        part: .init(main: "p2"))
      _ = try store.save(order)
      let query = try ModelQuery(Order.self, where: { $0.n > 0 }, sort: \.n.ascending)
      let (orders, people) = try store.read {
        try $0.find(query.including(\.owner, as: Person.self))
      }
      #expect(orders.map(\.id) == ["o1"] && people["ann"]?.name == "Ann" && people.count == 1)
      let three = try query.including(\.owner, as: Person.self).including("items[].product", as: Person.self)
        .including(\.others, as: Person.self)
      let all = try three.including(\.part.main, as: Order.self)
      var errors: [String?] = []
      let found = try store.read { try $0.find(all) { errors.append($0.documentID) } }
      #expect(found.1["ann"]?.name == "Ann" && found.2["p1"]?.name == "Pen" && found.3.map(\.id) == ["p2"])
      #expect(found.4.count == 0 && errors == ["p2"])
      #expect(throws: DatastoreError.self) { try store.read { try $0.find(all) } }
    }
  }
}
