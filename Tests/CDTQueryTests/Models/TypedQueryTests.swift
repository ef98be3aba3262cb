import CDTDatastore
import CDTJSON
import CDTQuery
import CDTTestSupport
import Foundation
import Testing

/// Conditions on the properties of models, and the names that these have in documents.
@Suite struct TypedQueryTests {
  enum Kind: String, Codable, CaseIterable { case chore, work }
  enum Level: String, Codable { case low, high }

  struct Place: Codable, Equatable {
    var city: String
    var zip: Int?
  }

  struct Part: Codable, Equatable {
    var price: Decimal
    var name: String
  }

  struct Job: DocumentModel, Equatable {
    var id = UUID().uuidString
    var revision: RevisionID?
    var title = ""
    var priority = 0
    var share: Double?
    var kind = Kind.chore
    var level: Level?
    var tags: [String] = []
    var due: Date?
    var isDone = false
    var isNew: Bool?
    var owner: Place?
    var parts: [Part] = []
    var link: URL?
    var key: UUID?
    var data: Data?
    var counts: [String: Int] = [:]
    var observed = 0 { didSet {} }
    var computed: Int { priority + 1 }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String { selector }
    let condition: @Sendable (ModelField<Job, Job>) -> QueryCondition<Job>
    let selector: String

    init(_ selector: String, _ condition: @escaping @Sendable (ModelField<Job, Job>) -> QueryCondition<Job>) {
      (self.selector, self.condition) = (selector, condition)
    }
  }

  static let cases = [
    Case(#"{"priority":{"$gt":3}}"#) { $0.priority > 3 },
    Case(#"{"$and":[{"priority":{"$gte":1}},{"priority":{"$lte":2}},{"title":{"$lt":"x"}}]}"#) {
      $0.priority >= 1 && $0.priority <= 2 && $0.title < "x"
    },
    Case(#"{"$or":[{"priority":{"$in":[1,2]}},{"share":{"$ne":0.5}},{"isDone":{"$eq":true}}]}"#) {
      $0.priority.in([1, 2]) || $0.share != 0.5 || $0.isDone
    },
    Case(#"{"$not":{"isNew":{"$eq":true}}}"#) { !$0.isNew },
    Case(#"{"$and":[{"isDone":{"$ne":true}},{"isDone":{"$eq":true}}]}"#) {
      $0.isDone == false && $0.isDone != false
    },
    Case(#"{"$and":[{"isNew":{"$eq":false}},{"isNew":{"$ne":false}}]}"#) {
      $0.isNew == false && $0.isNew != false
    },
    Case(#"{"$and":[{"counts.a b":{"$gt":1}},{"counts.c\\.d":{"$eq":2}}]}"#) {
      $0.counts["a b"] > 1 && $0.counts["c.d"] == 2
    },
    Case(#"{"$not":{"due":{"$gt":null}}}"#) { $0.due == nil },
    Case(#"{"due":{"$gt":null}}"#) { $0.due != nil },
    Case(#"{"due":{"$lt":"1970-01-01T00:00:00.500Z"}}"#) { $0.due < Date(timeIntervalSince1970: 0.5) },
    Case(#"{"$and":[{"kind":{"$eq":"work"}},{"level":{"$eq":"high"}}]}"#) {
      $0.kind == .work && $0.level == .high
    },
    Case(#"{"tags":{"$elemMatch":{"$eq":"x"}}}"#) { $0.tags.contains("x") },
    Case(#"{"owner.city":{"$beginsWith":"B"}}"#) { $0.owner.city.hasPrefix("B") },
    Case(#"{"owner":{"$eq":{"city":"Bern","zip":1}}}"#) { $0.owner == Place(city: "Bern", zip: 1) },
    Case(#"{"parts":{"$elemMatch":{"$and":[{"price":{"$gt":1.5}},{"name":{"$regex":"^a"}}]}}}"#) {
      $0.parts.contains { $0.price > Decimal(string: "1.5") ?? 0 && $0.name.matches("^a") }
    },
    Case(#"{"$and":[{"_id":{"$eq":"a"}},{"_rev":{"$gt":null}}]}"#) { $0.id == "a" && $0.revision != nil },
    Case(#"{"$text":{"$search":"milk"}}"#) { $0.search(for: "milk") },
    Case(#"{"$or":[]}"#) { _ in !.all },
    Case("{}") { _ in .all && .all || .all },
  ]

  @Test(arguments: cases) func `a condition is a selector`(_ example: Case) throws {
    let query = try ModelQuery(where: example.condition)
    #expect(example.condition(Self.root).description == example.selector)
    #expect(query.query.selector == (try QuerySelector(parsing: example.selector)))
    #expect(try Query(parsing: query.description).selector == query.query.selector)
  }

  private static var root: ModelField<Job, Job> {
    var root: ModelField<Job, Job>?
    _ = try? ModelQuery(
      Job.self,
      where: { field in
        root = field; return .all
      })
    return root ?? { fatalError() }()
  }

  @Test func `a query prints as JSON`() throws {
    let query = try ModelQuery(
      Job.self, where: { $0.priority > 3 }, sort: \.due.descending, \.owner.city.ascending, skip: 2, limit: 10
    )
    #expect(
      "\(query)"
        == #"{"selector":{"priority":{"$gt":3}},"sort":[{"due":"desc"},"owner.city"],"skip":2,"limit":10}"#)
    #expect(try Query(parsing: "\(query)") == query.query)
  }

  @Test func `a long chain is one array`() throws {
    let query = try ModelQuery(Job.self) { job in
      (0..<500).reduce(QueryCondition.all) { $0 && job.priority != $1 }
    }
    #expect(query.description.count { $0 == "[" } == 1)
  }

  // MARK: Names

  struct Renamed: Codable {
    var first: Int
    var second: Int
    var size: Double?
    var parts: [Part]
    var place: Place
    var isOpen: Bool
    var day: Date
    var sum: Int { first + second }

    enum CodingKeys: String, CodingKey {
      case first = "second", second = "first"  // exchanged
      case size = "the.size", parts = "$parts", place = "at", isOpen = "open", day
    }
  }

  struct WithUnknownCases: Codable {
    var level: Level
    var title: String
    var name: String
    enum CodingKeys: String, CodingKey { case level, title, name = "label" }
  }

  struct Flat: Codable {
    var city: String
    var ignored = 0

    enum CodingKeys: String, CodingKey { case address }
    enum AddressKeys: String, CodingKey { case city }

    init(from decoder: any Decoder) throws {
      let address = try decoder.container(keyedBy: CodingKeys.self).nestedContainer(
        keyedBy: AddressKeys.self, forKey: .address)
      city = try address.decode(String.self, forKey: .city)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      var address = container.nestedContainer(keyedBy: AddressKeys.self, forKey: .address)
      try address.encode(city, forKey: .city)
    }
  }

  final class Chain: Codable, Sendable {
    let name: String
    let next: Chain?
    let others: [Chain]
    enum CodingKeys: String, CodingKey { case name = "n", next = "then", others }
  }

  struct Box<Content: Codable & Sendable>: Codable { var content: Content }

  @Test func `names are those of coding keys`() throws {
    func expect<T: Decodable>(
      _ type: T.Type, _ condition: (ModelField<T, T>) -> QueryCondition<T>, _ selector: String
    ) throws {
      let query = try ModelQuery(type, where: condition)
      #expect("\(query)" == #"{"selector":\#(selector)}"#)
    }
    try expect(Renamed.self, { $0.first == 1 }, #"{"second":{"$eq":1}}"#)
    try expect(Renamed.self, { $0.second == 1 }, #"{"first":{"$eq":1}}"#)
    try expect(Renamed.self, { $0.size > 1 }, #"{"the\\.size":{"$gt":1.0}}"#)
    try expect(
      Renamed.self, { $0.parts.contains { $0.name == "a" } },
      #"{"\\$parts":{"$elemMatch":{"name":{"$eq":"a"}}}}"#)
    try expect(Renamed.self, { $0.place.city == "a" }, #"{"at.city":{"$eq":"a"}}"#)
    try expect(Renamed.self, { $0.isOpen }, #"{"open":{"$eq":true}}"#)
    try expect(Renamed.self, { $0.day != nil }, #"{"day":{"$gt":null}}"#)
    try expect(Chain.self, { $0.name == "a" }, #"{"n":{"$eq":"a"}}"#)
    try expect(Chain.self, { $0.next.next.name == "a" }, #"{"then.then.n":{"$eq":"a"}}"#)
    try expect(Box<Place>.self, { $0.content.zip == 1 }, #"{"content.zip":{"$eq":1}}"#)
    struct Local: Codable { var name: String }
    try expect(Local.self, { $0.name == "a" }, #"{"name":{"$eq":"a"}}"#)
    #expect(try ModelQuery(Renamed.self, sort: \.size.descending).query.sort == [.descending(#"the\.size"#)])
  }

  @Test func `a property without a member is refused`() throws {
    func error<T: Decodable>(_ condition: (ModelField<T, T>) -> QueryCondition<T>) -> QueryError? {
      #expect(throws: QueryError.self) { try ModelQuery(T.self, where: condition) }
    }
    let computed = error { (job: ModelField<Job, Job>) in job.computed > 3 && job.priority > 1 }
    #expect(computed?.code == .invalidPath)
    #expect(
      computed?.message
        == "a property of Job of the type Int is computed, or observed, so documents don't have it; use a stored property "
        + "without observers, or a selector")
    #expect(error { (job: ModelField<Job, Job>) in !(job.observed == 3) }?.code == .invalidPath)
    #expect(
      error { (job: ModelField<Job, Job>) in job.due.timeIntervalSince1970 == 3 || job.isDone }?.code
        == .invalidPath)
    let unknown = error { (item: ModelField<WithUnknownCases, WithUnknownCases>) in item.name == "a" }
    #expect(
      unknown?.description
        == "name: the property \"name\" of WithUnknownCases is not stored under a known name: it is not a coding key, and "
        + "no value of Level can be made to find its key; make Level CaseIterable, or use a selector")
    #expect(throws: Never.self) { try ModelQuery(WithUnknownCases.self, where: { $0.title == "a" }) }
    #expect(error { (item: ModelField<Flat, Flat>) in item.ignored == 1 }?.code == .invalidPath)
    #expect(throws: QueryError.self) { try ModelQuery(Job.self, sort: \.computed.ascending) }
    #expect(throws: QueryError.self) { try Query([:], sort: [Self.root.computed.descending]) }
  }

  @Test func `a value without JSON is refused`() {
    let error = #expect(throws: QueryError.self) { try ModelQuery(Job.self) { $0.share == .nan } }
    #expect(error?.code == .invalidArgument && error?.path == "share")
    #expect(throws: QueryError.self) {
      try ModelQuery(Job.self) { $0.due < Date(timeIntervalSince1970: .infinity) }
    }
  }

  // MARK: Answers

  /// Every condition finds what Swift finds in the models, with an index and without, and what its JSON finds.
  @Test(arguments: 0..<8) func `random conditions find what Swift finds`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: 4_000 + seed)
    try withTemporaryDatastore { store in
      var jobs: [Job] = []
      for number in 0..<60 {
        let job = Self.randomJob("job\(number)", &generator)
        jobs.append(try store.save(job))
      }
      if seed.isMultiple(of: 2) {
        try store.ensureIndexed(["priority"])
        try store.ensureIndexed(["due", "title"])
        try store.ensureIndexed(["tags"])
      }
      for _ in 0..<60 {
        let (condition, holds) = Self.randomCondition(&generator, depth: 3)
        let query = try ModelQuery(where: condition)
        let expected = jobs.filter(holds).map(\.id).sorted()
        let found = try store.find(Job.self, where: condition)
        #expect(found.map(\.id).sorted() == expected, "\(query)")
        #expect(
          found.allSatisfy { model in jobs.contains { $0.id == model.id && $0.revision == model.revision } })
        #expect(try store.count(Job.self, where: condition) == expected.count, "\(query)")
        let json = try Query(parsing: "\(query)")
        #expect(try store.read { try $0.documentIDs(json) }.sorted() == expected, "\(query)")
        let matching = try jobs.filter {
          try query.query.selector.matches(DocumentDraft(encoding: $0).body, id: $0.id)
        }
        #expect(matching.map(\.id).sorted() == expected, "\(query)")
      }
    }
  }

  private static let day = Date(timeIntervalSince1970: 86_400)

  private static func randomJob(_ id: String, _ generator: inout SeededGenerator) -> Job {
    func some<T>(_ values: [T]) -> T { values.randomElement(using: &generator) ?? values[0] }
    var job = Job(id: id)
    job.title = some(["", "a", "ab", "b", "é"])
    job.priority = some([-1, 0, 1, 2, 3])
    job.share = some([nil, 0, 0.5, 1, 1e300])
    job.kind = some(Kind.allCases)
    job.level = some([nil, .low, .high])
    job.tags = some([[], ["x"], ["x", "y"], ["z"]])
    job.due = some([nil, .distantPast, day, day + 0.001, .distantFuture])
    job.isDone = some([true, false])
    job.isNew = some([nil, true, false])
    job.owner = some([nil, Place(city: "Bern"), Place(city: "Bern", zip: 3000), Place(city: "Rom", zip: 1)])
    job.parts = some([
      [], [Part(price: 1, name: "a")], [Part(price: 1, name: "b"), Part(price: 2.5, name: "a")],
    ])
    job.link = some([nil, URL(string: "https://a.example/"), URL(string: "b")])
    job.key = some([nil, UUID(uuidString: "00000000-0000-0000-0000-000000000001")])
    return job
  }

  typealias Condition = (ModelField<Job, Job>) -> QueryCondition<Job>
  typealias Test = (Job) -> Bool

  private static func randomCondition(_ generator: inout SeededGenerator, depth: Int) -> (Condition, Test) {
    func some<T>(_ values: [T]) -> T { values.randomElement(using: &generator) ?? values[0] }
    if depth > 0, Bool.random(using: &generator) {
      let (left, leftHolds) = randomCondition(&generator, depth: depth - 1)
      let (right, rightHolds) = randomCondition(&generator, depth: depth - 1)
      switch Int.random(in: 0..<3, using: &generator) {
      case 0: return ({ left($0) && right($0) }, { leftHolds($0) && rightHolds($0) })
      case 1: return ({ left($0) || right($0) }, { leftHolds($0) || rightHolds($0) })
      default: return ({ !left($0) }, { !leftHolds($0) })
      }
    }
    let (number, title, share, tag) = (
      some([-1, 0, 1, 2]), some(["", "a", "b"]), some([0, 0.5, 1]), some(["x", "y"])
    )
    let (due, isNew, zip) = (some([nil, day, .distantPast]), some([nil, true, false]), some([1, 3000]))
    let (owner, link): (Place?, URL?) = (some([nil, Place(city: "Bern")]), some([nil, URL(string: "b")]))
    var choices: [(Condition, Test)] = []
    func add(_ condition: @escaping Condition, _ holds: @escaping Test) { choices.append((condition, holds)) }
    add({ $0.priority == number }, { $0.priority == number })
    add({ $0.priority > number }, { $0.priority > number })
    add({ $0.priority.in([number, 3]) }, { [number, 3].contains($0.priority) })
    add({ $0.title <= title }, { $0.title <= title })
    add({ $0.title.hasPrefix(title) }, { $0.title.hasPrefix(title) })
    add({ $0.share < share }, { $0.share.map { $0 < share } ?? false })
    add({ $0.share != share }, { $0.share != share })
    add({ $0.kind == .work }, { $0.kind == .work })
    add({ $0.level != .low }, { $0.level != .low })
    add({ $0.tags.contains(tag) }, { $0.tags.contains(tag) })
    add({ $0.tags == [tag] }, { $0.tags == [tag] })
    add({ $0.due == due }, { $0.due == due })
    add({ $0.due != due }, { $0.due != due })
    add({ $0.due >= day }, { $0.due.map { $0 >= day } ?? false })
    add({ $0.isDone }, { $0.isDone })
    add({ $0.isNew }, { $0.isNew == true })
    add({ $0.isNew == isNew }, { $0.isNew == isNew })
    add({ $0.owner == owner }, { $0.owner == owner })
    add({ $0.owner.zip == zip }, { $0.owner?.zip == zip })
    add({ $0.owner.zip == nil }, { $0.owner?.zip == nil })
    add(
      { $0.parts.contains { $0.price > 1 && $0.name == "a" } },
      { $0.parts.contains { $0.price > 1 && $0.name == "a" } })
    add({ $0.link == link }, { $0.link == link })
    add({ $0.key != nil }, { $0.key != nil })
    add({ $0.id > "job3" }, { $0.id > "job3" })
    return some(choices)
  }

  @Test func `sorted pages, the first and the undecodable`() async throws {
    try await withTemporaryDatastore { store in
      for number in 0..<5 { try await store.save(Job(id: "j\(number)", priority: number % 3)) }
      let page = try await store.find(
        Job.self, sort: \.priority.descending, \.id.descending, skip: 1, limit: 2)
      #expect(page.map(\.id) == ["j4", "j1"])
      #expect(try await store.first(Job.self, sort: \.id.descending)?.id == "j4")
      #expect(try await store.first(Job.self) { $0.priority > 5 } == nil)
      try await store.createDocument(
        from: DocumentDraft(id: "bad", body: ["parts": [["price": true, "name": "x"]]]))
      let error = await #expect(throws: DatastoreError.self) { try await store.find(Job.self, [:]) }
      #expect(error?.code == .undecodable && error?.documentID == "bad")
    }
  }

  /// A type that only the caller can use.
  final class Note: Decodable {
    var title = ""
  }

  final class Count: Decodable {
    var title = "", notes = 0
  }

  @Test func `types that are not Sendable are decoded where they are asked for`() async throws {
    try await withTemporaryDatastore { store in
      for title in ["a", "b", "b"] {
        try await store.createDocument(from: DocumentDraft(body: ["title": .string(title)]))
      }
      try await store.createDocument(from: DocumentDraft(id: "bad", body: ["title": 5]))
      var errors: [String?] = []
      let all = try await store.find(Note.self, sort: \.title.descending) { errors.append($0.documentID) }
      let some = try await store.find(Note.self, ["title": ["$gte": "b"]], limit: 1)
      let least = "b"
      let same = try await store.find(Note.self, ["title": ["$gte": least]], limit: 1)
      #expect(all.map(\.title) == ["b", "b", "a"] && errors == ["bad"])
      #expect(some.map(\.title) == ["b"] && same.map(\.title) == ["b"])
      #expect(try await store.first(Note.self) { $0.title > "a" }?.title == "b")
      let counts = try await store.group(
        Note.self, by: \.title, .count(as: \.notes), as: Count.self, where: { $0.title >= "" })
      #expect(counts.map(\.title) == ["a", "b"] && counts.map(\.notes) == [1, 2])
      let error = await #expect(throws: QueryError.self) {
        try await store.group(Note.self, by: \.title, as: Count.self)
      }
      #expect(error?.code == .undecodable)
    }
  }

  @Test func `documents that can't be decoded are left out and reported`() async throws {
    try await withTemporaryDatastore { store in
      for number in 0..<5 { try await store.save(Job(id: "j\(number)", priority: number)) }
      try await store.createDocument(from: DocumentDraft(id: "j2b", body: ["title": 5]))
      var errors: [DatastoreError] = []
      let found = try await store.find(Job.self, undecodable: { errors.append($0) })
      #expect(found.map(\.id) == ["j0", "j1", "j2", "j3", "j4"] && errors.map(\.documentID) == ["j2b"])
      let selected = try await store.find(Job.self, ["_id": ["$gt": "j1"]], limit: 2) { errors.append($0) }
      #expect(selected.map(\.id) == ["j2"] && errors.count == 2)
      let read = try await store.read { transaction in
        var count = 0
        return (try transaction.find(ModelQuery(Job.self)) { _ in count += 1 }, count)
      }
      #expect(read.0 == found && read.1 == 1)
      let stopped = await #expect(throws: DatastoreError.self) {
        try await store.find(Job.self, undecodable: { throw $0 })
      }
      #expect(stopped?.documentID == "j2b")
    }
  }
}
