import CDTDatastore
import CDTJSON
import CDTQuery
import CDTQueryTesting
import CDTTestSupport
import Foundation
import Testing

/// `docs/query.md` is true: its golden files pass, its code runs, its table is what the matcher says.
@Suite struct QueryGuideTests {
  private static func page() throws -> String { try Repository.page("query.md") }

  /// The fenced blocks of a language.
  private static func blocks(_ language: String) throws -> [String] {
    try page().components(separatedBy: "\n```\(language)\n").dropFirst().map {
      $0.components(separatedBy: "\n```")[0]
    }
  }

  @Test func `the golden files pass`() throws {
    let blocks = try Self.blocks("fixture")
    #expect(blocks.count == 6)
    for (number, text) in blocks.enumerated() {
      let fixture = try QueryFixture(parsing: text, name: "block \(number)")
      for outcome in try withTemporaryDirectory({ try fixture.run(in: $0) }) {
        #expect(outcome.findings == [], "\(outcome.place)")
      }
    }
  }

  @Test func `the code stands in a test`() throws {
    let source = try String(contentsOfFile: #filePath, encoding: .utf8)
    // White space aside, which the formatter settles.
    let code = source.filter { !$0.isWhitespace }
    let blocks = try Self.blocks("swift")
    #expect(blocks.count == 24)
    for block in blocks {
      #expect(code.contains(block.filter { !$0.isWhitespace }), "\(block)")
    }
  }

  @Test func `the code of changes runs`() throws {
    try withTemporaryDatastore { store in
      for (id, species) in [("a", "cat"), ("b", "fish"), ("c", "cat")] {
        let body: JSONObject = ["species": .string(species), "age": id == "c" ? 3 : 10]
        try store.createDocument(from: DocumentDraft(id: id, body: body))
      }
      try store.write { transaction in
        try transaction.update(
          matching: ["species": "cat", "age": ["$gte": 10]],
          .set("status", "senior"), .increment("visits"), .append("tags", "checked"))
        try transaction.delete(matching: ["species": "fish"])
      }
      #expect(try store.find([:]).map(\.id).sorted() == ["a", "c"])
      let text = try store.document(withID: "a").body.text
      #expect(text == #"{"species":"cat","age":10,"status":"senior","visits":1,"tags":["checked"]}"#)
    }
  }

  @Test func `the code of collations runs`() throws {
    try withTemporaryDatastore { store in
      for name in ["Anna", "Ånja", "Bob"] {
        try store.createDocument(from: DocumentDraft(id: name, body: ["name": .string(name)]))
      }
      try store.ensureIndexed(["name"], .collation(.unicode))
      let people = try Query(["name": ["$beginsWith": "an"]], sort: ["name"], collation: .unicode)
      let found = try store.read { try $0.find(people) }
      #expect(found.map(\.id) == ["Ånja", "Anna"])
    }
  }

  @Test func `the code of linked documents runs`() throws {
    try withTemporaryDatastore { store in
      try store.createDocument(from: DocumentDraft(id: "ann", body: ["name": "Ann"]))
      let body: JSONObject = ["type": "order", "ownerId": "ann", "items": [["product": "ann"]]]
      try store.createDocument(from: DocumentDraft(id: "o", body: body))
      var orders = try Query(["type": "order"], limit: 50, sort: [.descending("placed")])
      orders.include = ["owner": "ownerId", "products": "items[].product"]
      let page = try store.page(orders)
      for order in page.documents {
        let owner = page.included["owner"]?[order.body["ownerId"]?.stringValue ?? ""]
        print(order.id, owner?.body["name"]?.stringValue ?? "nobody")
      }
      #expect(page.included.mapValues(\.count) == ["owner": 1, "products": 1])
    }
  }

  @Test func `the code of snippets runs`() throws {
    try withTemporaryDatastore { store in
      try store.createDocument(from: DocumentDraft(id: "hat", body: ["title": "The Cat in the Hat"]))
      try store.ensureIndexed(["title"], .text)
      var search = try Query(["$text": ["$search": "cat"]], sort: [.score])
      search.snippets = SnippetOptions(words: 2, before: "<b>", after: "</b>")
      for hat in try store.read({ try $0.find(search) }) {
        print(hat.id, hat.snippets.map(\.text))  // hat ["The <b>Cat</b> in the…"]
      }
      #expect(try store.read { try $0.find(search) }.first?.snippets.first?.text == "The <b>Cat</b> in the…")
    }
  }

  @Test func `the code of pages runs`() throws {
    try withTemporaryDatastore { store in
      for number in 0..<25 {
        let name = JSONValue.string("cat \(100 + number)")
        try store.createDocument(
          from: DocumentDraft(id: "c\(100 + number)", body: ["name": name, "species": "cat"]))
      }
      var page = try Query(["species": "cat"], limit: 10, sort: ["name"])
      var names: [String] = []
      while true {
        let cats = try store.page(page)
        guard let bookmark = cats.bookmark else { break }
        names += cats.documents.map(\.id)
        page.bookmark = bookmark
      }
      #expect(names == (0..<25).map { "c\(100 + $0)" })

      page.bookmark = nil
      page.isBackward = true
      let last = try store.results(for: page)
      names = try last.documents().map(\.id)
      page.bookmark = try last.firstBookmark()
      names = try store.read { try $0.find(page) }.map(\.id) + names
      #expect(names == (5..<25).map { "c\(100 + $0)" })
    }
  }

  @Test func `the code runs`() throws {
    try withTemporaryDatastore { store in
      for (name, age) in [("zoe", 40), ("anna", 20), ("mike", 18), ("kim", 3)] {
        try store.createDocument(
          from: DocumentDraft(id: name, body: ["name": name, "age": age, "species": "cat"]))
      }
      let adults = try store.find(["age": ["$gte": 18]], limit: 2, sort: ["name"])
      for person in adults {
        print(person.id, person.body["name"]?.stringValue ?? "")
      }
      #expect(adults.map(\.id) == ["anna", "mike"])

      let minimum = 18, city = "Bern"
      let count = try store.count(["$or": [["age": ["$gte": minimum]], ["city": city]]])
      #expect(count == 3)

      let page = try store.find(
        ["species": "cat"], skip: 20, limit: 10, fields: ["name", "owner.city"],
        sort: ["name", .descending("age")])
      #expect(page.isEmpty)

      var query = try Query(["species": "cat"], sort: ["name"])
      query.limit = 10
      query.timeLimit = .seconds(2)
      let cats = try store.read { try $0.find(query) }
      #expect(cats.map(\.id) == ["anna", "kim", "mike", "zoe"])

      let results = try store.results(for: Query(["species": "cat"], sort: ["name"]))
      while let cat = try results.next() {
        print(cat.id)
      }
      #expect(try results.documentIDs() == cats.map(\.id))

      do {
        _ = try store.find(["$or": [["age": ["$gtt": 18]]]])
      } catch let error as QueryError {
        print(error.path)  // $or[0].age.$gtt
        print(error.message)  // unknown operator "$gtt" (did you mean "$gt"?)
      }
      let error = #expect(throws: QueryError.self) { try store.find(["$or": [["age": ["$gtt": 18]]]]) }
      #expect(error?.description == #"$or[0].age.$gtt: unknown operator "$gtt" (did you mean "$gt"?)"#)

      try store.ensureIndexed(["name", .descending("age")], name: "by_name")
      let indexes = try store.listIndexes()
      try store.deleteIndex(named: "by_name")
      #expect(indexes.map(\.name) == ["by_name"])

      print(try store.explain(try Query(["age": ["$gte": 18]], sort: ["name"])))

      let book: JSONObject = ["title": "The Cat in the Hat", "lines": ["The sun did not shine."]]
      try store.createDocument(from: DocumentDraft(id: "hat", body: book))
      try store.ensureIndexed(["title", "lines"], .text(.porter))
      let best = try store.find(["$text": ["$search": "cat hat"]], limit: 10, sort: [.score])
      #expect(best.map(\.id) == ["hat"])
    }
  }

  @Test func `the code of groups runs`() throws {
    try withTemporaryDatastore { store in
      for (id, city, amount) in [("a", "Bern", 7.0), ("b", "Bern", 5.5), ("c", "Zug", 1.0)] {
        let items: JSONValue = [["name": "tea", "count": 2], ["name": .string("cup \(id)"), "count": 1]]
        let body: JSONObject = [
          "type": "order", "city": .string(city), "amount": .double(amount), "items": items,
        ]
        try store.createDocument(from: DocumentDraft(id: id, body: body))
      }
      let rows = try store.group(
        by: ["city"], .count(as: "orders"), .sum("amount", as: "total"),
        where: ["type": "order"], having: ["total": ["$gt": 10]], sort: [.descending("total")], limit: 10)
      for row in rows {
        print(row["city"]?.stringValue ?? "", row["total"]?.doubleValue ?? 0)
      }
      let cities = try store.distinct("city")
      #expect(rows == [["city": "Bern", "orders": 2, "total": 12.5]])
      struct CityTotal: Decodable {
        var city: String?
        var orders: Int
      }
      let totals = try store.read {
        try $0.group(CityTotal.self, GroupQuery(by: ["city"], [.count(as: "orders")]))
      }
      #expect(totals.map(\.city) == ["Bern", "Zug"] && totals[0].orders == 2)
      #expect(cities == ["Bern", "Zug"])
      do {
        let query = try GroupQuery(
          Query(["type": "order"], sort: [.descending("sold")]),
          by: ["items.name"], [.sum("items.count", as: "sold")], unwind: "items")
        let items = try store.read { try $0.group(query) }
        #expect(items.count == 4)
        #expect(items.first == ["items": ["name": "tea"], "sold": 6])
      }
    }
  }

  @Test func `the code of summaries runs`() throws {
    try withTemporaryDatastore { store in
      for (id, state, amount) in [("a", "open", 7.0), ("b", "paid", 5.5), ("c", "open", 2.0)] {
        let body: JSONObject = ["city": "Bern", "state": .string(state), "amount": .double(amount)]
        try store.createDocument(from: DocumentDraft(id: id, body: body))
      }
      try store.ensureIndexed(["city", "state"], .summary(of: "amount"))
      let totals = try store.group(
        by: ["city"], .count(as: "orders"), .sum("amount", as: "total"), .maximum("amount", as: "most"))
      let open = try store.group(by: ["city"], .average("amount", as: "mean"), where: ["state": "open"])
      #expect(totals == [["city": "Bern", "orders": 3, "total": 14.5, "most": 7]])
      #expect(open == [["city": "Bern", "mean": 4.5]])
    }
  }

  @Test func `the code of documents that expire runs`() throws {
    try withTemporaryDatastore { store in
      for (id, kind) in [("a", "message"), ("b", "note")] {
        let body: JSONObject = ["kind": .string(kind), "seen": "2020-01-01T12:00:00+01:00"]
        try store.createDocument(from: DocumentDraft(id: id, body: body))
      }
      try store.ensureIndexed(
        ["seen"], IndexOptions(where: ["kind": "message"], expireAfter: .seconds(86_400)))
      #expect(try store.read { try $0.allDocumentIDs() } == ["b"])
    }
  }

  @Test func `the code of partial and unique indexes runs`() throws {
    try withTemporaryDatastore { store in
      try store.createDocument(
        from: DocumentDraft(id: "call", body: ["state": "open", "due": "2026-11-01"]))
      try store.ensureIndexed(["due"], .where(["state": ["$in": ["new", "open"]]]), name: "open")
      let urgent = try store.find(["state": "open", "due": ["$lt": "2026-12-01"]], sort: ["due"])
      #expect(urgent.map(\.id) == ["call"])

      try store.ensureIndexed(["email"], .unique)
      try store.createDocument(from: DocumentDraft(id: "ann", body: ["email": "ann@example.com"]))
      do {
        try store.createDocument(from: DocumentDraft(id: "bob", body: ["email": "ann@example.com"]))
      } catch let violation as UniqueViolation {
        print(violation)  // the documents "bob", "ann" have the same key ["ann@example.com"] in …
      }
      let shared = try store.uniqueViolations()
      #expect(try shared == [] && store.read { try $0.documentCount() } == 2)
    }
  }

  @Test func `the code that builds an index runs`() async throws {
    let path = try temporaryDirectory()
    defer { removeDirectory(path) }
    let manager = try DatastoreManager(directory: path)
    let store = try await manager.datastore(named: "store")
    try await store.createDocument(from: DocumentDraft(id: "kim", body: ["species": "cat", "age": 3]))
    try await store.ensureIndexed(["species", "age"], name: "by_species") { progress in
      print("\(progress.done) of \(progress.total)")
    }
    #expect(try store.listIndexes().map(\.indexedSequence) == [1])
  }

  @Test func `the JSON is a request`() throws {
    for block in try Self.blocks("json") {
      let request = try JSONObject(parsing: block)
      if request["group"] == nil {
        _ = try Query(request: request)
      } else {
        _ = try GroupQuery(request: request)
      }
    }
  }

  // MARK: The truth table

  private static let values: [(name: String, body: String)] = [
    ("missing", "{}"), ("null", "null"), ("false", "false"), ("true", "true"), ("0", "0"), ("1", "1"),
    ("1.0", "1.0"),
    ("\"1\"", "\"1\""), ("\"\"", "\"\""), ("[]", "[]"), ("[1]", "[1]"), ("[[1]]", "[[1]]"),
    ("[null]", "[null]"),
    ("{}", "{}"), ("{\"a\":1}", "{\"a\":1}"),
  ]

  private static let operators = [
    #"{"$eq":1}"#, #"{"$eq":null}"#, #"{"$eq":true}"#, #"{"$eq":"1"}"#, #"{"$eq":[]}"#, #"{"$eq":[1]}"#,
    #"{"$eq":{}}"#, #"{"$eq":{"a":1}}"#, #"{"$ne":1}"#, #"{"$ne":null}"#, #"{"$lt":1}"#, #"{"$lte":1}"#,
    #"{"$gt":0}"#, #"{"$gte":1}"#, #"{"$lt":"1"}"#, #"{"$gt":""}"#, #"{"$gte":false}"#, #"{"$lt":true}"#,
    #"{"$lt":null}"#, #"{"$lte":null}"#, #"{"$gt":null}"#, #"{"$gte":null}"#, #"{"$in":[0,null]}"#,
    #"{"$in":[]}"#,
    #"{"$nin":[0,null]}"#, #"{"$nin":[]}"#, #"{"$exists":true}"#, #"{"$exists":false}"#,
    #"{"$type":"number"}"#,
    #"{"$type":"array"}"#, #"{"$type":"null"}"#, #"{"$mod":[2,1]}"#, #"{"$size":1}"#, #"{"$size":0}"#,
    #"{"$all":[1]}"#, #"{"$all":[]}"#, #"{"$elemMatch":{"$eq":1}}"#, #"{"$elemMatch":{"$exists":true}}"#,
    #"{"$allMatch":{"$eq":1}}"#, #"{"$keyMapMatch":{"$eq":"a"}}"#, #"{"$beginsWith":""}"#, #"{"$regex":"1"}"#,
    #"{"$not":{"$eq":1}}"#, #"{"$not":{"$gt":0}}"#, #"{"$not":{"$exists":true}}"#, #"{"a":1}"#,
    #"{"$not":{"a":1}}"#,
  ]

  private static func table() throws -> String {
    var lines = ["| | " + values.map { "`\($0.name)`" }.joined(separator: " | ") + " |"]
    lines.append("|---" + String(repeating: "|:-:", count: values.count) + "|")
    for text in operators {
      let selector = try QuerySelector(parsing: "{\"x\":\(text)}")
      let cells = try values.map { value in
        let body = try JSONObject(parsing: value.name == "missing" ? "{}" : "{\"x\":\(value.body)}")
        return try selector.matches(body) ? "●" : " "
      }
      lines.append("| `\(text)` | " + cells.joined(separator: " | ") + " |")
    }
    return lines.joined(separator: "\n")
  }

  @Test func `the truth table is what the matcher says`() throws {
    let (start, end) = ("<!-- truth table -->\n", "<!-- end of the truth table -->")
    let page = try Self.page()
    let parts = page.components(separatedBy: start)
    try #require(parts.count == 2)
    let rest = parts[1].components(separatedBy: end)
    try #require(rest.count == 2)
    let table = "\n\(try Self.table())\n\n"
    if rest[0] == table { return }
    if ProcessInfo.processInfo.environment["RECORD_GOLDENS"] == "1" {
      try (parts[0] + start + table + end + rest[1]).write(
        to: Repository.root.appending(path: "docs/query.md"), atomically: true, encoding: .utf8)
    }
    Issue.record("the table of docs/query.md is not what the matcher says; RECORD_GOLDENS=1 writes it")
  }
}
