import CDTQuery
import CDTTestSupport
import Foundation
import Testing

/// The verbs of a store that take models: update, delete, indexes, groups, distinct values, saving many.
@Suite struct ModelVerbTests {
  struct Place: Codable, Equatable {
    var city: String
    var row: Int?
  }

  struct Tool: DocumentModel, Equatable {
    var id = UUID().uuidString
    var revision: RevisionID?
    var name: String
    var weight = 1.0
    var price = Decimal(0)
    var lent = 0
    var small = Int8(0)
    var isLent = false
    var due: Date?
    var shelf = Place(city: "Bern")
    var home: Place?
    var tags: [String] = []
    var labels: Set<String> = []
    var title: String { name.uppercased() }

    enum CodingKeys: String, CodingKey {
      case id, revision, name, weight, price, lent, small
      case isLent = "is_lent"
      case due, shelf, home, tags, labels
    }
  }

  struct Old: DocumentModel, HasDefaults {
    var id = UUID().uuidString
    var revision: RevisionID?
    var name: String
    var edits = 5
    var tags = ["new"]
    static let defaults = Old(name: "")
  }

  private static func withTools(_ body: (Datastore) throws -> Void) throws {
    try withTemporaryDatastore { store in
      try store.save([
        Tool(id: "axe", name: "Axe", weight: 2.5, lent: 2, isLent: true, due: Date(timeIntervalSince1970: 0)),
        Tool(id: "bit", name: "Bit", weight: 0.25, shelf: Place(city: "Zug"), tags: ["steel", "small"]),
        Tool(id: "can", name: "Can", weight: 0.5, lent: 1, isLent: true, tags: ["small"], labels: ["x"]),
      ])
      try body(store)
    }
  }

  @Test func `a transaction finds what it has written`() throws {
    try Self.withTools { store in
      try store.write { transaction in
        try transaction.update(Tool.self, where: { $0.name == "Bit" }, .set(\.isLent, true))
        #expect(try transaction.count(Tool.self) == 3)
        #expect(try transaction.count(Tool.self, where: { $0.isLent }) == 3)
        #expect(try transaction.first(Tool.self, sort: \.name.descending)?.id == "can")
        let light = try transaction.find(
          Tool.self, where: { $0.isLent && $0.weight < 1 }, sort: \.weight.ascending, skip: 1, limit: 5)
        #expect(light.map(\.id) == ["can"])
        try transaction.createDocument(from: DocumentDraft(id: "bad", body: ["name": 5]))
        var errors: [DatastoreError] = []
        let all = try transaction.find(Tool.self, undecodable: { errors.append($0) })
        #expect(all.count == 3 && errors.map(\.documentID) == ["bad"])
      }
    }
  }

  @Test func `update changes the models that meet the condition`() throws {
    try Self.withTools { store in
      let count = try store.update(
        Tool.self, where: { $0.isLent }, .set(\.isLent, false), .increment(\.lent), .append(\.tags, "seen"),
        .set(\.shelf.city, "Rom"), .increment(\.weight, by: 0.5), .set(\.home, Place(city: "Thun")),
        .increment(\.price, by: Decimal(string: "0.1") ?? 0))
      #expect(count == 2)
      let axe = try store.document(withID: "axe", as: Tool.self)
      #expect(!axe.isLent && axe.lent == 3 && axe.tags == ["seen"] && axe.shelf.city == "Rom")
      #expect(axe.weight == 3 && axe.home?.city == "Thun" && axe.revision?.generation == 2)
      try store.update(Tool.self, where: { _ in .all }, .increment(\.price, by: Decimal(string: "0.2") ?? 0))
      #expect(try store.document(withID: "axe", as: Tool.self).price == Decimal(string: "0.3"))
      #expect(try store.document(withID: "bit", as: Tool.self).revision?.generation == 2)
    }
  }

  @Test func `update saves a property that is set to nil as save does`() throws {
    try Self.withTools { store in
      #expect(try store.update(Tool.self, where: { $0.due != nil }, .set(\.due, nil)) == 1)
      #expect(try store.document(withID: "axe").body["due"] == nil)
      var bit = try store.document(withID: "bit", as: Tool.self)
      bit.due = nil
      #expect(try store.save(bit).revision == bit.revision)
    }
  }

  @Test func `update gives no new revision to a document that stays the same`() throws {
    try Self.withTools { store in
      let count = try store.update(
        Tool.self, where: { _ in .all }, .set(\.isLent, true), .remove(\.tags, "x"))
      let none = try store.update(Tool.self, where: { _ in .all })
      #expect(count == 1 && none == 0)
    }
  }

  @Test func `update keeps members that the model does not know, and attachments`() throws {
    try Self.withTools { store in
      try store.updateDocument(withID: "axe") { document in
        document.body["color"] = "red"
        document.body["shelf"]["level"] = 3
        document.attachments["note"] = DocumentAttachment(
          data: Data("x".utf8), name: "note", contentType: "text/plain")
      }
      try store.update(Tool.self, where: { $0.id == "axe" }, .apply { $0.shelf.row = 7 })
      let axe = try store.document(withID: "axe")
      #expect(axe.body["color"] == "red" && axe.body["shelf"] == ["city": "Bern", "level": 3, "row": 7])
      #expect(try axe.attachments["note"]?.data() == Data("x".utf8))
    }
  }

  @Test func `update begins with the defaults of missing members`() throws {
    try withTemporaryDatastore { store in
      try store.createDocument(from: DocumentDraft(id: "a", body: ["name": "a"]))
      try store.update(
        Old.self, where: { $0.edits == 5 }, .increment(\.edits), .append(\.tags, "x"), .remove(\.tags, "new"))
      #expect(try store.document(withID: "a").body == ["name": "a", "edits": 6, "tags": ["x"]])
    }
  }

  @Test func `update renames before it decodes`() throws {
    try withTemporaryDatastore { store in
      try store.createDocument(from: DocumentDraft(id: "a", body: ["title": "Axe", "edits": 1, "tags": []]))
      let count = try store.update(
        Old.self, where: { $0.edits == 1 }, .increment(\.edits), .rename(from: "title", to: \.name))
      #expect(count == 1)
      #expect(try store.document(withID: "a").body == ["name": "Axe", "edits": 2, "tags": []])
      #expect(throws: QueryError.self) {
        try store.update(Old.self, where: { _ in .all }, .rename(from: "_id", to: \.name))
      }
    }
  }

  @Test func `update uses the name that a property has in documents`() throws {
    try Self.withTools { store in
      try store.updateDocument(withID: "axe") { document in
        document.body["lentNow"] = document.body.removeValue(forKey: "is_lent")
      }
      let error = #expect(throws: DatastoreError.self) {
        try store.update(Tool.self, where: { $0.id == "axe" }, .increment(\.lent))
      }
      #expect(error?.code == .undecodable && error?.documentID == "axe")
      try store.update(Tool.self, where: { $0.id == "axe" }, .rename(from: "lentNow", to: \.isLent))
      #expect(try store.document(withID: "axe", as: Tool.self).isLent)
    }
  }

  @Test func `an update that fails for one document changes none`() throws {
    try Self.withTools { store in
      try store.update(Tool.self, where: { $0.id == "can" }, .set(\.small, 127))
      let error = #expect(throws: QueryError.self) {
        try store.update(Tool.self, where: { _ in .all }, .increment(\.small))
      }
      #expect(error?.code == .invalidChange)
      #expect(error?.message == #"document "can": the sum exceeds Int8; set the property"#)
      #expect(try store.find(Tool.self, sort: \.id.ascending).map(\.small) == [0, 0, 127])
      let other = #expect(throws: DatastoreError.self) {
        try store.update(Tool.self, where: { _ in .all }, .set(\.id, "other"))
      }
      #expect(other?.code == .invalidRevision)
      try store.createDocument(from: DocumentDraft(id: "person", body: ["name": "Ann"]))
      let foreign = #expect(throws: DatastoreError.self) {
        try store.update(Tool.self, where: { _ in .all }, .set(\.isLent, false))
      }
      #expect(foreign?.documentID == "person")
      #expect(try store.count(Tool.self) { $0.isLent } == 2)
    }
  }

  @Test func `design documents are neither updated nor deleted`() throws {
    try Self.withTools { store in
      try store.createDocument(from: DocumentDraft(id: "_design/rules", body: ["language": "query"]))
      #expect(try store.update(Tool.self, where: { _ in .all }, .increment(\.lent)) == 3)
      #expect(try store.delete(Tool.self, where: { _ in .all }) == 3)
      #expect(try store.read { try $0.allDocumentIDs() } == ["_design/rules"])
    }
  }

  @Test func `update and delete work in a transaction and asynchronously`() async throws {
    try await withTemporaryDatastore { store in
      let saved = try await store.save([Tool(id: "a", name: "A"), Tool(id: "b", name: "B", isLent: true)])
      #expect(saved.map(\.revision?.generation) == [1, 1])
      #expect(try await store.update(Tool.self, where: { $0.isLent }, .apply { $0.labels.insert("x") }) == 1)
      let name = "A"
      #expect(try await store.delete(Tool.self, where: { $0.name == name }) == 1)
      let left = try await store.write { transaction in
        try transaction.update(Tool.self, where: { $0.isLent }, .set(\.isLent, false))
        let tool = try transaction.document(withID: "b", as: Tool.self)
        try transaction.delete(Tool.self, where: { $0.isLent == false })
        return tool
      }
      #expect(left.labels == ["x"] && !left.isLent)
      #expect(try await store.count(Tool.self) == 0)
      await #expect(throws: DatastoreError.self) { try await store.document(withID: "b", as: Tool.self) }
    }
  }

  @Test func `a rule refuses an update as any write`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      defer { manager.close() }
      let store = try manager.datastore(named: "tools")
      try store.save(Tool(id: "axe", name: "Axe"))
      try store.setRules(["validate_doc_update": ["newDoc": ["weight": ["$lt": 10]]]])
      manager.close()
      let options = DatastoreOptions(rules: .enforced(as: UserContext(name: "ann")))
      let other = try DatastoreManager(directory: directory, options: options)
      defer { other.close() }
      let mine = try other.datastore(named: "tools")
      #expect(throws: RuleViolation.self) {
        try mine.update(Tool.self, where: { _ in .all }, .set(\.weight, 20))
      }
      #expect(try mine.update(Tool.self, where: { _ in .all }, .set(\.weight, 5)) == 1)
    }
  }

  @Test func `several models are saved together or not at all`() throws {
    try Self.withTools { store in
      #expect(throws: DatastoreError.self) {
        try store.save([Tool(id: "dip", name: "Dip"), Tool(id: "axe", name: "Again")])
      }
      #expect(try store.count(Tool.self) == 3)
      var all = try store.find(Tool.self, sort: \.name.ascending)
      for index in all.indices { all[index].lent = index }
      let saved = try store.save(all)
      #expect(saved == (try store.find(Tool.self, sort: \.name.ascending)) && saved.map(\.lent) == [0, 1, 2])
      #expect(try store.save([Tool]()) == [])
    }
  }

  @Test func `a document is read as a model by its id`() throws {
    try Self.withTools { store in
      #expect(try store.document(withID: "axe", as: Tool.self).name == "Axe")
      let missing = #expect(throws: DatastoreError.self) { try store.document(withID: "no", as: Tool.self) }
      #expect(missing?.code == .notFound)
      try store.createDocument(from: DocumentDraft(id: "odd", body: ["name": 5]))
      let odd = #expect(throws: DatastoreError.self) { try store.document(withID: "odd", as: Tool.self) }
      #expect(odd?.code == .undecodable && odd?.documentID == "odd")
    }
  }

  // MARK: Indexes

  @Test func `an index on properties has their names in documents`() throws {
    try Self.withTools { store in
      #expect(try store.ensureIndexed(Tool.self, \.isLent, \.weight.descending) == "is_lent_weight-desc")
      #expect(
        try store.ensureIndexed(Tool.self, \.shelf.city, \.home.row, \.due) == "shelf.city_home.row_due")
      #expect(try store.ensureIndexed(Tool.self, \.name, options: .unique, name: "names") == "names")
      #expect(try store.ensureIndexed(Tool.self, \.name, options: .text) == "text_name")
      #expect(
        try store.ensureIndexed(Tool.self, \.shelf.city, summing: \.weight) == "summary_shelf.city_of_weight")
      #expect(
        try store.ensureIndexed(Tool.self, \.due, options: .expiring(after: .seconds(1e10))) == "expire_due")
      var query = try ModelQuery(Tool.self, where: { $0.isLent }, sort: \.weight.descending).query
      query.useIndex = "is_lent_weight-desc"
      #expect(try store.explain(query).description.hasPrefix("index \"is_lent_weight-desc\""))
      #expect(throws: UniqueViolation.self) { try store.save(Tool(name: "Axe")) }
      #expect(try store.find(Tool.self, where: { $0.search(for: "axe") }).map(\.id) == ["axe"])
    }
  }

  @Test func `an index on properties holds the documents of a condition`() throws {
    try Self.withTools { store in
      let name = try store.ensureIndexed(Tool.self, \.name, where: { !$0.isLent })
      let index = try #require(try store.listIndexes().first { $0.definition.name == name })
      #expect(index.definition.options.filter?.text == #"{"is_lent":{"$not":{"$eq":true}}}"#)
      let both = try store.ensureIndexed(
        Tool.self, \.name, options: .where(["lent": 1]), where: { !$0.isLent }, name: "both")
      try store.ensureIndexed(Tool.self, \.lent, options: .where([:]), where: { $0.isLent }, name: "lent")
      let other = try #require(try store.listIndexes().first { $0.definition.name == both })
      #expect(other.definition.options.filter?.text.contains(#""lent""#) == true)
    }
  }

  @Test func `an index on a computed property is refused`() throws {
    try withTemporaryDatastore { store in
      let error = #expect(throws: QueryError.self) {
        try store.ensureIndexed(Tool.self, \.name, \.title)
      }
      #expect(error?.code == .invalidPath)
      let sum = #expect(throws: QueryError.self) {
        try store.ensureIndexed(Tool.self, \.name, summing: \.tags.count)
      }
      #expect(sum?.code == .invalidPath)
      let indexes = try store.listIndexes()
      #expect(indexes.isEmpty)
    }
  }

  @Test func `an index on properties is built asynchronously`() async throws {
    try await withTemporaryDatastore { store in
      try await store.save([Tool(name: "A"), Tool(name: "B")])
      let name = try await store.ensureIndexed(Tool.self, \.isLent, \.name, where: { $0.lent == 0 })
      #expect(name.hasPrefix("is_lent_name_where_"))
      let summary = try await store.ensureIndexed(Tool.self, \.isLent, summing: \.weight, \.lent)
      #expect(summary == "summary_is_lent_of_weight_lent")
    }
  }

  // MARK: Groups and distinct values

  struct CityRow: Decodable, Equatable {
    var city: String?
    var lent: Bool?
    var tools = 0
    var weight: Double?
    var mean: Double?
    var first: String?
    var due: Date?

    enum CodingKeys: String, CodingKey {
      case city
      case lent = "is_lent"
      case tools, weight, mean, first, due
    }
  }

  struct Count: Decodable, Equatable {
    var city: String?
    var tools: Int
  }

  @Test func `groups have typed rows`() async throws {
    try Self.withTools { store in
      let rows = try store.group(
        Tool.self, by: \.shelf.city, .count(as: \.tools), .sum(\.weight, as: \.weight),
        .average(\.weight, as: \.mean), .minimum(\.name, as: \.first), .maximum(\.due, as: \.due),
        as: CityRow.self)
      #expect(
        rows == [
          CityRow(
            city: "Bern", tools: 2, weight: 3, mean: 1.5, first: "Axe", due: Date(timeIntervalSince1970: 0)),
          CityRow(city: "Zug", tools: 1, weight: 0.25, mean: 0.25, first: "Bit"),
        ])
    }
    try await withTemporaryDatastore { store in
      try await store.save([Tool(name: "A"), Tool(name: "B", shelf: Place(city: "Zug"))])
      let rows = try await store.group(
        Tool.self, by: \.shelf.city, .count(as: \.tools), as: Count.self, sort: \.city.descending)
      #expect(rows == [Count(city: "Zug", tools: 1), Count(city: "Bern", tools: 1)])
    }
  }

  @Test func `rows are selected, sorted and counted as they are named`() throws {
    try Self.withTools { store in
      let rows: [CityRow] = try store.group(
        Tool.self, by: \.shelf.city, .and(\.isLent), .count(as: \.tools), .sum(\.weight, as: \.weight),
        where: { $0.weight < 3 }, having: { $0.weight > 0.3 || $0.city == "Zug" },
        sort: \.city.descending, limit: 5)
      #expect(rows.map(\.city) == ["Zug", "Bern"] && rows.map(\.lent) == [false, true])
      #expect(rows.map(\.tools) == [1, 2])
      let second: [CityRow] = try store.group(
        Tool.self, by: \.shelf.city, .count(as: \.tools), sort: \.tools.descending, skip: 1, limit: 1)
      #expect(second.map(\.city) == ["Zug"])
    }
  }

  @Test func `documents without the property are a group without it`() throws {
    try Self.withTools { store in
      try store.update(Tool.self, where: { $0.id == "axe" }, .set(\.home, Place(city: "Thun")))
      let rows = try store.group(Tool.self, by: \.home.city, .count(as: \.tools), as: Count.self)
      #expect(Set(rows.map { "\($0.city ?? "-") \($0.tools)" }) == ["- 2", "Thun 1"])
    }
  }

  @Test func `two properties with the same last name are refused`() throws {
    try Self.withTools { store in
      let error = #expect(throws: QueryError.self) {
        let _: [CityRow] = try store.group(
          Tool.self, by: \.shelf.city, .and(\.home.city), .count(as: \.tools))
      }
      #expect(error?.message == #"the rows already have a member "city"; use another name"#)
    }
  }

  @Test func `typed groups use an index as the others do`() throws {
    try Self.withTools { store in
      try store.ensureIndexed(Tool.self, \.shelf.city, summing: \.weight)
      let rows: [CityRow] = try store.group(
        Tool.self, by: \.shelf.city, .count(as: \.tools), .sum(\.weight, as: \.weight))
      #expect(rows.map(\.weight) == [3, 0.25] && rows.map(\.tools) == [2, 1])
    }
  }

  @Test func `distinct values have the type of the property`() async throws {
    try Self.withTools { store in
      #expect(try store.distinct(Tool.self, \.shelf.city) == ["Bern", "Zug"])
      #expect(try store.distinct(Tool.self, \.tags) == ["small", "steel"])
      #expect(try store.distinct(Tool.self, \.labels) == ["x"])
      #expect(try store.distinct(Tool.self, \.isLent, where: { $0.weight > 2 }) == [true])
      #expect(try store.distinct(Tool.self, \.due) == [Date(timeIntervalSince1970: 0)])
      #expect(try store.distinct(Tool.self, \.shelf) == [Place(city: "Bern"), Place(city: "Zug")])
      #expect(try store.distinct(Tool.self, \.id) == ["axe", "bit", "can"])
      try store.createDocument(from: DocumentDraft(id: "odd", body: ["name": 5]))
      let error = #expect(throws: QueryError.self) { try store.distinct(Tool.self, \.name) }
      #expect(
        error?.message
          == "the value 5 can't be decoded as String: expected a string, found a number; leave out its documents by the condition"
      )
    }
    try await withTemporaryDatastore { store in
      try await store.save([Tool(name: "A", tags: ["x"]), Tool(name: "B", tags: ["x", "y"])])
      #expect(try await store.distinct(Tool.self, \.name) == ["A", "B"])
      #expect(try await store.distinct(Tool.self, \.tags, where: { $0.name == "B" }) == ["x", "y"])
    }
  }

  // MARK: Laws

  /// Every change of random models does what the closure does to the models that were read.
  @Test(arguments: 0..<4) func `update does what a loop over the models does`(seed: UInt64) throws {
    try withTemporaryDatastore { store in
      var random = SeededGenerator(seed: seed)
      let changes: [(ModelChange<Tool>, (inout Tool) -> Void)] = [
        (.set(\.isLent, true), { $0.isLent = true }), (.set(\.due, nil), { $0.due = nil }),
        (.set(\.home, Place(city: "Rom")), { $0.home = Place(city: "Rom") }),
        (.set(\.home, nil), { $0.home = nil }),
        (.increment(\.lent, by: 2), { $0.lent += 2 }), (.increment(\.weight, by: 0.5), { $0.weight += 0.5 }),
        (.append(\.tags, "a"), { $0.tags.append("a") }),
        (.remove(\.tags, "a"), { $0.tags.removeAll { $0 == "a" } }),
        (.apply { $0.shelf.row = $0.lent }, { $0.shelf.row = $0.lent }),
      ]
      try store.save(
        (0..<30).map { number in
          Tool(
            id: "\(number)", name: "t\(number)", weight: Double(Int.random(in: 0..<8, using: &random)),
            lent: Int.random(in: 0..<3, using: &random), isLent: .random(using: &random),
            due: .random(using: &random) ? Date(timeIntervalSince1970: Double(number)) : nil,
            tags: Array(["a", "b", "a"].prefix(Int.random(in: 0...3, using: &random))))
        })
      var expected = try store.find(Tool.self, sort: \.id.ascending)
      for _ in 0..<20 {
        let limit = Int.random(in: 0..<8, using: &random)
        let chosen = (0..<2).compactMap { _ in changes.randomElement(using: &random) }
        try store.update(
          Tool.self, where: { $0.weight < Double(limit) || $0.isLent }, chosen[0].0, chosen[1].0)
        for index in expected.indices where expected[index].weight < Double(limit) || expected[index].isLent {
          for change in chosen { change.1(&expected[index]) }
        }
        let found = try store.find(Tool.self, sort: \.id.ascending)
        for index in expected.indices { expected[index].revision = found[index].revision }
        #expect(found == expected)
      }
    }
  }
}
