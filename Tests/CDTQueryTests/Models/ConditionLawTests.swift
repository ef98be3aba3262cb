import CDTDatastore
import CDTJSON
import CDTQuery
import CDTTestSupport
import Foundation
import Testing

/// Each condition holds for the documents for which the same closure holds in Swift.
@Suite struct ConditionLawTests {
  enum Kind: String, Codable, CaseIterable { case chore, work }
  enum State: Codable, Equatable { case open, closed(Int) }
  enum Rank: Int, Codable, CaseIterable { case low = 1, high }

  struct Place: Codable, Equatable {
    var city: String
    var zip: Int?
    var isHome: Bool?
  }

  struct Part: Codable, Equatable {
    var price: Double
    var name: String
  }

  struct Doc: DocumentModel, HasDefaults, Equatable {
    var id = ""
    var revision: RevisionID?
    var title = "a.b"
    var priority = 2
    var share: Double?
    var kind = Kind.work
    var state: State?
    var rank = Rank.low
    var tags = ["x", "y"]
    var words: [String]?
    var labels: Set<String> = ["m", "l"]
    var numbers = [1, 5]
    var due: Date?
    var start = Date(timeIntervalSince1970: 0)
    var isDone = true
    var isNew: Bool?
    var owner: Place?
    var home = Place(city: "Bern", zip: 3)
    var parts = [Part(price: 1, name: "a")]
    var key: UUID?
    var data = Data([1])
    var counts = ["a": 1]
    var boss: Reference<Doc>?
    var friends: [Reference<Doc>] = []
    static let defaults = Doc()
  }

  typealias Condition = (ModelField<Doc, Doc>) -> QueryCondition<Doc>
  struct Law: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let condition: @Sendable (ModelField<Doc, Doc>) -> QueryCondition<Doc>
    let holds: @Sendable (Doc) -> Bool

    init(
      _ name: String, _ condition: @escaping @Sendable (ModelField<Doc, Doc>) -> QueryCondition<Doc>,
      _ holds: @escaping @Sendable (Doc) -> Bool
    ) {
      (testDescription, self.condition, self.holds) = (name, condition, holds)
    }
  }

  private static let day = Date(timeIntervalSince1970: 86_400)
  private static let keys = (1...2).compactMap {
    UUID(uuidString: "00000000-0000-0000-0000-00000000000\($0)")
  }

  static let laws = strings + elements + values + ids

  private static let strings = [
    Law("isEmpty", { $0.title.isEmpty }, { $0.title.isEmpty }),
    Law("hasPrefix", { $0.title.hasPrefix("a.") }, { $0.title.hasPrefix("a.") }),
    Law("hasSuffix", { $0.title.hasSuffix(".b") }, { $0.title.hasSuffix(".b") }),
    Law("hasSuffix of a line", { $0.title.hasSuffix("c") }, { $0.title.hasSuffix("c") }),
    Law("contains", { $0.title.contains(".") }, { $0.title.contains(".") }),
    Law("contains \\E", { $0.title.contains("\\E.") }, { $0.title.contains("\\E.") }),
    Law("contains nothing", { $0.title.contains("") }, { _ in true }),
    Law("city contains", { $0.owner.city.contains("o") }, { $0.owner?.city.contains("o") ?? false }),
    Law("one of", { ["a", "a.b"].contains($0.title) }, { ["a", "a.b"].contains($0.title) }),
    Law("one of a set", { Set(["", "b"]).contains($0.title) }, { Set(["", "b"]).contains($0.title) }),
    Law("none", { [].contains($0.title) }, { _ in false }),
    Law("?? of a string", { ($0.owner.city ?? "none") == "none" }, { ($0.owner?.city ?? "none") == "none" }),
    Law(
      "?? hasPrefix", { ($0.owner.city ?? "Be").hasPrefix("Be") },
      { ($0.owner?.city ?? "Be").hasPrefix("Be") }),
    Law("is not", { ($0.title == "a") == false }, { $0.title != "a" }),
  ]

  private static let elements = [
    Law("tags.isEmpty", { $0.tags.isEmpty }, { $0.tags.isEmpty }),
    Law("words.isEmpty", { $0.words.isEmpty }, { $0.words?.isEmpty ?? false }),
    Law("?? isEmpty", { ($0.words ?? []).isEmpty }, { ($0.words ?? []).isEmpty }),
    Law("labels.isEmpty", { $0.labels.isEmpty }, { $0.labels.isEmpty }),
    Law("counts.isEmpty", { $0.counts.isEmpty }, { $0.counts.isEmpty }),
    Law("data.isEmpty", { $0.data.isEmpty }, { $0.data.isEmpty }),
    Law("count == 2", { $0.tags.count == 2 }, { $0.tags.count == 2 }),
    Law("count != 2", { $0.words.count != 2 }, { $0.words?.count != 2 }),
    Law("count > 1", { $0.tags.count > 1 }, { $0.tags.count > 1 }),
    Law("count >= 2", { $0.words.count >= 2 }, { ($0.words?.count).map { $0 >= 2 } ?? false }),
    Law("count < 2", { $0.words.count < 2 }, { ($0.words?.count).map { $0 < 2 } ?? false }),
    Law("count <= 0", { $0.tags.count <= 0 }, { $0.tags.count <= 0 }),
    Law("count < 0", { $0.tags.count < 0 }, { _ in false }),
    Law("count >= 0", { $0.words.count >= 0 }, { $0.words != nil }),
    Law("count > -1", { $0.words.count > -1 }, { $0.words != nil }),
    Law("count > .max", { $0.tags.count > .max }, { _ in false }),
    Law("count <= .max", { $0.tags.count <= .max }, { _ in true }),
    Law("count is nil", { $0.words.count == nil }, { $0.words == nil }),
    Law("?? count", { ($0.words ?? ["a"]).count == 1 }, { ($0.words ?? ["a"]).count == 1 }),
    Law("labels.count", { $0.labels.count > 1 }, { $0.labels.count > 1 }),
    Law("a range of counts", { (1...2).contains($0.tags.count) }, { (1...2).contains($0.tags.count) }),
    Law("one of some counts", { [0, 2].contains($0.tags.count) }, { [0, 2].contains($0.tags.count) }),
    Law("parts.count", { $0.parts.count == 0 }, { $0.parts.count == 0 }),
    Law("first", { $0.tags.first == "x" }, { $0.tags.first == "x" }),
    Law("first is nil", { $0.tags.first == nil }, { $0.tags.first == nil }),
    Law("[1]", { $0.numbers[1] > 3 }, { $0.numbers.count > 1 && $0.numbers[1] > 3 }),
    Law("first of parts", { $0.parts.first.name == "a" }, { $0.parts.first?.name == "a" }),
    Law("contains", { $0.tags.contains("x") }, { $0.tags.contains("x") }),
    Law("contains of a set", { $0.labels.contains("l") }, { $0.labels.contains("l") }),
    Law("a set", { $0.labels == ["l", "m"] }, { $0.labels == ["l", "m"] }),
    Law("not a set", { $0.labels != ["m", "l"] }, { $0.labels != ["l", "m"] }),
    Law("the empty set", { $0.labels == [] }, { $0.labels == [] }),
    Law(
      "one of some sets", { $0.labels.in([["l"], ["m", "l"]]) }, { [["l"], ["m", "l"]].contains($0.labels) }),
    Law("an array", { $0.tags == ["x", "y"] }, { $0.tags == ["x", "y"] }),
    Law("contains { }", { $0.parts.contains { $0.price > 1 } }, { $0.parts.contains { $0.price > 1 } }),
    Law("contains of all", { $0.tags.contains { _ in .all } }, { !$0.tags.isEmpty }),
    Law("allSatisfy", { $0.parts.allSatisfy { $0.price > 1 } }, { $0.parts.allSatisfy { $0.price > 1 } }),
    Law(
      "allSatisfy of an optional", { $0.words.allSatisfy { $0 == "x" } },
      { $0.words?.allSatisfy { $0 == "x" } ?? false }),
    Law("allSatisfy of all", { $0.tags.allSatisfy { _ in .all } }, { _ in true }),
    Law("contains > 3", { $0.numbers.contains { $0 > 3 } }, { $0.numbers.contains { $0 > 3 } }),
    Law(
      "contains between", { $0.numbers.contains { $0 > 1 && $0 < 5 } },
      { $0.numbers.contains { $0 > 1 && $0 < 5 } }),
    Law("contains !", { $0.numbers.contains { !($0 > 3) } }, { $0.numbers.contains { !($0 > 3) } }),
    Law("allSatisfy > 0", { $0.numbers.allSatisfy { $0 > 0 } }, { $0.numbers.allSatisfy { $0 > 0 } }),
    Law(
      "contains hasPrefix", { $0.tags.contains { $0.hasPrefix("y") } },
      { $0.tags.contains { $0.hasPrefix("y") } }),
    Law(
      "contains a range", { $0.numbers.contains { (2...4).contains($0) } },
      { $0.numbers.contains { (2...4).contains($0) } }),
    Law("key", { $0.counts["a"] > 0 }, { $0.counts["a"].map { $0 > 0 } ?? false }),
    Law("key is nil", { $0.counts["a"] == nil }, { $0.counts["a"] == nil }),
  ]

  private static let values = [
    Law("1...2", { (1...2).contains($0.priority) }, { (1...2).contains($0.priority) }),
    Law("1..<2", { (1..<2).contains($0.priority) }, { (1..<2).contains($0.priority) }),
    Law("2...", { (2...).contains($0.priority) }, { (2...).contains($0.priority) }),
    Law("...2", { (...2).contains($0.priority) }, { (...2).contains($0.priority) }),
    Law("..<0.5", { (..<0.5).contains($0.share) }, { $0.share.map { (..<0.5).contains($0) } ?? false }),
    Law("dates", { (day...).contains($0.due) }, { $0.due.map { $0 >= day } ?? false }),
    Law("?? of a date", { ($0.due ?? day) <= day }, { ($0.due ?? day) <= day }),
    Law("?? of a number", { ($0.share ?? 1) < 1 }, { ($0.share ?? 1) < 1 }),
    Law("?? in an optional", { ($0.owner.zip ?? 0) == 0 }, { ($0.owner?.zip ?? 0) == 0 }),
    Law("?? false", { $0.isNew ?? false }, { $0.isNew ?? false }),
    Law("?? true", { $0.isNew ?? true }, { $0.isNew ?? true }),
    Law("!(?? true)", { !($0.owner.isHome ?? true) }, { !($0.owner?.isHome ?? true) }),
    Law(
      "?? of an object", { ($0.owner ?? Place(city: "Rom")).city == "Rom" },
      { ($0.owner?.city ?? "Rom") == "Rom" }),
    Law("isDone", { $0.isDone }, { $0.isDone }),
    Law("isDone == false", { $0.isDone == false }, { $0.isDone == false }),
    Law("!isNew", { !$0.isNew }, { $0.isNew != true }),
    Law("owner == nil", { $0.owner == nil }, { $0.owner == nil }),
    Law("home", { $0.home.city == "Bern" }, { $0.home.city == "Bern" }),
    Law("home.zip", { $0.home.zip == 3 }, { $0.home.zip == 3 }),
    Law("home.zip != nil", { $0.home.zip != nil }, { $0.home.zip != nil }),
    Law("home.zip > 1", { $0.home.zip > 1 }, { $0.home.zip.map { $0 > 1 } ?? false }),
    Law("kind", { $0.kind == .chore }, { $0.kind == .chore }),
    Law("one of some kinds", { [.work].contains($0.kind) }, { [.work].contains($0.kind) }),
    Law("kind.rawValue", { $0.kind.rawValue == "work" }, { $0.kind.rawValue == "work" }),
    Law("rank.rawValue", { $0.rank.rawValue > 1 }, { $0.rank.rawValue > 1 }),
    Law("state", { $0.state == .open }, { $0.state == .open }),
    Law("state with a value", { $0.state == .closed(1) }, { $0.state == .closed(1) }),
    Law("nil or 1", { $0.share.in([nil, 1]) }, { [nil, 1].contains($0.share) }),
    Law("start", { $0.start < day }, { $0.start < day }),
  ]

  private static let ids = [
    Law(
      "id", { $0.id == "d1" || ["d2"].contains($0.id) || $0.id > "d8" },
      { $0.id == "d1" || $0.id == "d2" || $0.id > "d8" }),
    Law("key", { keys.contains($0.key) }, { $0.key.map(keys.contains) ?? false }),
    Law("key <", { $0.key < keys[1] }, { $0.key.map { $0 < keys[1] } ?? false }),
    Law("reference", { $0.boss == Reference(id: "d1") }, { $0.boss == Reference(id: "d1") }),
    Law("reference.id", { $0.boss.id == "d1" }, { $0.boss?.id == "d1" }),
    Law("no reference", { $0.boss == nil }, { $0.boss == nil }),
    Law(
      "references", { $0.friends.contains(Reference(id: "d1")) }, { $0.friends.contains(Reference(id: "d1")) }
    ),
    Law("one of some references", { [Reference(id: "d2")].contains($0.boss) }, { $0.boss?.id == "d2" }),
  ]

  private static func randomBody(_ generator: inout SeededGenerator) throws -> JSONObject {
    var body: JSONObject = [:]
    func add(_ name: String, isOptional: Bool = false, _ values: [JSONValue]) {
      switch Int.random(in: 0..<8, using: &generator) {
      case 0, 1: return
      case 2 where isOptional: body[name] = .null
      default: body[name] = values.randomElement(using: &generator)
      }
    }
    let times: [JSONValue] = [
      "1970-01-01T00:00:00.000Z", "1970-01-02T00:00:00.000Z", "2000-01-01T00:00:00.000Z",
    ]
    add("title", ["", "a", "a.b", "axb", "b", "c\n", "\\E."])
    add("priority", [0, 1, 2, 2.0, 3])
    add("share", isOptional: true, [0, 0.5, 1])
    add("kind", ["chore", "work", "party"])
    add("state", isOptional: true, [["open": [:]], ["closed": ["_0": 1]], ["closed": ["_0": 2]]])
    add("rank", [1, 2])
    add("tags", [[], ["x"], ["x", "y"], ["yy", "x", "z"]])
    add("words", isOptional: true, [[], ["x"], ["x", "x"], ["y", "x"]])
    add("labels", [[], ["l"], ["l", "m"], ["m", "l"], ["l", "m", "n"]])
    add("numbers", [[], [0], [3, 4], [5, 1], [9]])
    add("due", isOptional: true, times)
    add("start", times)
    add("isDone", [true, false])
    add("isNew", isOptional: true, [true, false])
    add(
      "owner", isOptional: true,
      [["city": "Rom", "zip": 0], ["city": "Bern", "zip": nil], ["city": "Bern", "isHome": false], 5])
    add("home", [["city": "Bern"], ["city": "Rom", "zip": 3], ["city": "Rom", "zip": nil]])
    add(
      "parts",
      [[], [["price": 1, "name": "a"]], [["price": 2, "name": "b"], ["price": 1.5, "name": "a"]]])
    add("key", isOptional: true, keys.map { .string($0.uuidString) })
    add("data", ["", "AQ=="])
    add("counts", [[:], ["a": 0], ["a": 2, "b": 1], ["b": 1]])
    add("boss", isOptional: true, ["d1", "d2"])
    add("friends", [[], ["d1"], ["d2", "d1"]])
    return body
  }

  private static func withDocuments(
    _ seed: UInt64, _ body: (Datastore, [Doc], inout SeededGenerator) throws -> Void
  ) throws {
    var generator = SeededGenerator(seed: seed)
    try withTemporaryDatastore { store in
      try store.write { transaction in
        for number in 0..<150 {
          try transaction.createDocument(from: DocumentDraft(id: "d\(number)", body: randomBody(&generator)))
        }
      }
      if seed.isMultiple(of: 2) {
        for path in ["title", "tags", "priority", "home.zip", "words", "counts.a"] {
          try store.ensureIndexed([.ascending(path)])
        }
      }
      let docs = try store.find(Doc.self, undecodable: { _ in })
      #expect(docs.count > 50 && docs.count < 150)
      try body(store, docs, &generator)
    }
  }

  private static func found(_ query: ModelQuery<Doc>, _ store: Datastore) throws -> [String] {
    try store.read { try $0.find(query) { _ in } }.map(\.id).sorted()
  }

  @Test(arguments: 0..<2) func `a condition holds as its closure does in Swift`(seed: UInt64) throws {
    try Self.withDocuments(seed) { store, docs, _ in
      for law in Self.laws {
        for isNegated in [false, true] {
          let query = try ModelQuery(where: { isNegated ? !law.condition($0) : law.condition($0) })
          let expected = docs.filter { law.holds($0) != isNegated }.map(\.id).sorted()
          #expect(
            try Self.found(query, store) == expected,
            "\(isNegated ? "!" : "")\(law.testDescription): \(query)")
        }
      }
    }
  }

  @Test(arguments: 2..<6) func `combined conditions hold as their closures do`(seed: UInt64) throws {
    try Self.withDocuments(seed) { store, docs, generator in
      for _ in 0..<60 {
        let some = (0..<3).compactMap { _ in Self.laws.randomElement(using: &generator) }
        guard some.count == 3 else { continue }
        let query = try ModelQuery(where: {
          (some[0].condition($0) && !some[1].condition($0)) || some[2].condition($0)
        })
        let expected = docs.filter { (some[0].holds($0) && !some[1].holds($0)) || some[2].holds($0) }
        #expect(try Self.found(query, store) == expected.map(\.id).sorted(), "\(query)")
        #expect(try Query(parsing: "\(query)").selector == query.query.selector)
      }
    }
  }

  // MARK: What is refused

  struct Tool: DocumentModel {
    var id: Int
    var revision: RevisionID?
    var data = Data()
    var words: [String]?
    var counts: [String: Int] = [:]
    var grid: [[Int]] = []
  }

  @Test func `a condition that no selector expresses is refused with the way`() throws {
    func message(
      _ condition: (ModelField<Tool, Tool>) -> QueryCondition<Tool>,
      _ sort: KeyPath<ModelField<Tool, Tool>, SortField>...
    ) -> String? {
      let error = #expect(throws: QueryError.self) {
        let field = try #require(Self.root(Tool.self))
        _ = try ModelQuery(where: condition)
        _ = try Query([:], sort: sort.map { field[keyPath: $0] })
      }
      return error?.description
    }
    #expect(
      message { $0.id < 5 }
        == "_id: ids are compared as text, which is not the order of Int; compare another property")
    #expect(message({ _ in .all }, \.id.ascending)?.hasPrefix("_id: ids are compared as text") == true)
    #expect(
      message({ _ in .all }, \.words.count.descending)
        == "words: a number of elements is not stored, and can't be sorted, grouped or indexed by; store it as a property"
    )
    #expect(
      message { $0.data.contains(1) }
        == "data: Data is not stored as an array, so its elements can't be compared or counted; use isEmpty, or store the number"
    )
    #expect(message { $0.data.count > 1 }?.contains("Data is not stored as an array") == true)
    #expect(message { $0.counts.count > 1 }?.contains("is not stored as an array") == true)
    #expect(
      message { ($0.words.count ?? 0) > 1 }
        == "words: the value has a default already, or is a count, so ?? can't replace it; write (tags ?? []).count, or leave ?? out"
    )
    #expect(
      message { $0.words.contains { $0 == "a" || $0 == "b" } }
        == "words: these conditions on one element can't be combined; write contains { } for each alternative, or use elements with "
        + "properties")
    #expect(message { $0.words.contains { $0 != "a" && $0 != "b" } }?.contains("can't be combined") == true)
  }

  static func root<Model: Decodable>(_ type: Model.Type) -> ModelField<Model, Model>? {
    var root: ModelField<Model, Model>?
    _ = try? ModelQuery(
      type,
      where: { field in
        root = field; return .all
      })
    return root
  }
}
