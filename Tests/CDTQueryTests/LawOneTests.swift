import CDTDatastore
import CDTQuery
import JSON
import Testing

/// The first law: an index changes the speed, never the answer.
@Suite struct LawOneTests {
  /// Rounds of documents, indexes and writes; queries a round.
  static let rounds = 40
  static let queries = 130

  @Test func `the matcher agrees with the specification written a second time`() throws {
    let seed = UInt64.random(in: 0..<(.max))
    var random = RandomDocuments(seed: seed)
    for _ in 0..<20_000 {
      let body = random.body()
      let selector = random.selector()
      let expected = Oracle.matches(selector, body, id: "doc")
      let actual = try Selector(selector).matches(body, id: "doc", revision: "1-a")
      #expect(actual == expected, "seed \(seed): \(selector.text) of \(body.text)")
    }
  }

  @Test(arguments: 0..<rounds) func `every path gives the matcher's answer`(round: Int) throws {
    let seed = UInt64.random(in: 0..<(.max))
    var random = RandomDocuments(seed: seed)
    random.hasArrays = round % 3 != 0
    try withTemporaryDatastore { store in
      var world = World(store: store)
      for _ in 0..<30 { try world.write(&random) }
      for _ in 0..<random.number(below: 4) { try store.ensureIndexed(random.indexFields()) }
      for number in 0..<Self.queries {
        if random.chance(10) { for _ in 0..<random.number(below: 5) { try world.write(&random) } }
        if random.chance(3) { try store.ensureIndexed(random.indexFields()) }
        if random.chance(2) { try store.updateAllIndexes() }
        if random.chance(2), let index = try store.listIndexes().first {
          try store.deleteIndex(named: index.name)
        }
        try world.check(&random, seed: seed, number: number)
      }
    }
  }
}

/// A datastore and what it should hold.
private struct World {
  let store: Datastore
  var documents: [(id: String, body: JSONObject)] = []
  private var revisions: [DocumentRevision] = []
  private var made = 0

  init(store: Datastore) {
    self.store = store
  }

  /// Creates, updates or deletes a document.
  mutating func write(_ random: inout RandomDocuments) throws {
    if documents.isEmpty || random.chance(50) {
      made += 1
      let id = "doc-\(random.number(below: 1_000))-\(made)"
      let body = random.body()
      revisions.append(try store.createDocument(from: DocumentRevision(id: id, body: body)))
      documents.append((id, body))
    } else {
      let chosen = random.number(below: documents.count)
      if random.chance(25) {
        _ = try store.deleteDocument(from: revisions[chosen])
        revisions.remove(at: chosen)
        documents.remove(at: chosen)
      } else {
        var revision = revisions[chosen]
        revision.body = random.body()
        revisions[chosen] = try store.updateDocument(from: revision)
        documents[chosen].body = revision.body
      }
    }
  }

  func check(_ random: inout RandomDocuments, seed: UInt64, number: Int) throws {
    let selector = random.selector()
    let sort = random.sort()
    let skip = random.chance(30) ? random.number(below: 4) : 0
    let limit = random.chance(40) ? random.number(below: 8) : 0
    let parsed = try Selector(selector)
    var expected: [(id: String, body: JSONObject)] = []
    for document in documents where try parsed.matches(document.body, id: document.id) {
      expected.append(document)
    }
    expected.sort { Array($0.id.utf8).lexicographicallyPrecedes(Array($1.id.utf8)) }
    let all = expected.map(\.id)
    if !sort.isEmpty { expected = sorted(expected, sort) }
    let page = expected.dropFirst(skip).prefix(limit > 0 ? limit : .max).map(\.id)

    var query = try Query(selector, skip: skip, limit: limit, sort: sort)
    // The ways that cost more than another would hardly be met among so few documents.
    if random.chance(85) { query.forcedWay = random.number(below: 100) }
    let context = """
      seed \(seed), query \(number): find \(selector.text) sort \(JSONValue.array(sort).text) skip \(skip) limit \(limit)
      \(try store.explain(query))
      """
    let results = try store.find(query)
    let ids = try results.documentIDs
    let read = try results.documents()
    if sort.isEmpty {
      #expect(
        ids.count == page.count && Set(ids).count == ids.count && Set(ids).isSubset(of: all), "\(context)")
    } else {
      #expect(ids == page, "\(context)")
    }
    #expect(read.compactMap(\.id).sorted() == ids.sorted(), "\(context)")
    #expect(sort.isEmpty || read.compactMap(\.id) == ids, "\(context)")
    for document in read {
      #expect(document.body == documents.first { $0.id == document.id }?.body, "\(context)")
    }
    #expect(try store.count(query) == all.count, "\(context)")
    #expect(try store.exists(query) == !all.isEmpty, "\(context)")
  }

  private func sorted(
    _ documents: [(id: String, body: JSONObject)], _ sort: [JSONValue]
  ) -> [(id: String, body: JSONObject)] {
    let fields = sort.map { clause -> (path: String, isDescending: Bool) in
      if case .string(let path) = clause { return (path, false) }
      let member = clause.objectValue?.first { _ in true }
      return (member?.key ?? "", member?.value == "desc")
    }
    // Documents come in by id, and equal ones keep their order.
    return documents.enumerated().sorted { left, right in
      for (path, isDescending) in fields {
        let l = Oracle.sortValue(path, isDescending: isDescending, left.element.body, id: left.element.id)
        let r = Oracle.sortValue(path, isDescending: isDescending, right.element.body, id: right.element.id)
        if l != r { return isDescending ? r < l : l < r }
      }
      return left.offset < right.offset
    }.map(\.element)
  }
}
