import CDTDatastore
import CDTJSON

@testable import CDTIndex
@testable import CDTPlan
@testable import CDTQuery
@testable import CDTSelector

/// What a query must give: a function of documents, which the tests of the fuzzer replace by a wrong one.
typealias ReferenceAnswers =
  @Sendable (Query, [DocumentRevision], IndexDefinition?) throws -> [DocumentRevision]

/// A way of answering a query that disagrees with the matcher.
struct Disagreement: Error, CustomStringConvertible {
  let way: String
  let expected: [String]
  let given: [String]

  var description: String {
    "\(way)\n  expected \(Self.list(expected))\n  given    \(Self.list(given))"
  }

  private static func list(_ items: [String]) -> String {
    items.isEmpty ? "nothing" : items.joined(separator: " ")
  }
}

extension World {
  /// Puts a request to the matcher and to every way of answering it, and compares documents, order, ids, count and
  /// existence.
  func check(_ request: JSONObject, against reference: ReferenceAnswers) throws {
    guard let query = try? Query(request: request) else { return }
    let expected: Expectation
    do {
      expected = try Expectation(query, in: self, reference: reference)
    } catch let error as QueryError {
      return try expectRefusal(query, code: error.code)
    }
    try check(query, expected, in: plain, way: "without an index")
    try check(query, expected, in: indexed, way: "with the indexes")
    for index in definitions where index.type.isOrdered && query.sort != [.score] {
      var forced = query
      forced.useIndex = index.name
      try check(forced, expected, in: indexed, way: "with the index \(index.name)")
    }
    // Those that cost more than another would hardly be met among so few documents.
    for way in try indexed.read({ try QueryEngine($0).everyPlan(query) }).indices {
      try check(query, expected, in: indexed, way: "in way \(way)") { planner in
        // The background may have completed or measured an index, and there may be fewer ways.
        let plans = try planner.everyPlan()
        return plans[way % plans.count]
      }
    }
    // Reads of a write see what it has done; a third of the requests is enough.
    if request.text.utf8.count % 3 == 0, query.sort != [.score] {
      try checkWithinWrite(query, reference: reference)
    }
    if let limit = query.limit {
      if expected.isOrdered { try checkPages(query, size: limit, expected) }
      try checkBookmarks(query, size: limit, expected)
    }
    if request.text.utf8.count % 2 == 0 { try checkIncludes(query) }
    _ = try indexed.read { try $0.explain(query) }.description
  }

  /// The linked documents are those that are read by hand in the same transaction.
  private func checkIncludes(_ query: Query) throws {
    let paths = ["a", "b", "c.a", "a[].b", "d[]", "b.0", "\u{e9}"]
    for store in [plain, indexed] {
      try store.read { transaction in
        var (including, whole) = (query, query)
        including.include = Dictionary(uniqueKeysWithValues: paths.map { ("under \($0)", $0) })
        let page = try transaction.page(including)
        let found = try transaction.find(query).map { Item($0) }.map(\.text)
        try Expectation.compare(page.documents.map { Item($0).text }, found, way: "with included documents")
        whole.fields = []
        let bodies = try transaction.find(whole).map(\.body)
        for path in paths {
          let segments = Oracle.segments(path.replacing("[]", with: ""))
          let values = bodies.flatMap { Oracle.reach(segments, .object($0)) }.flatMap {
            $0.arrayValue ?? [$0]
          }
          var ids: [String] = []
          for id in values.compactMap(\.stringValue) where !ids.contains(where: { $0.hasSameBytes(as: id) }) {
            ids.append(id)
          }
          let linked = try transaction.documents(withIDs: ids).filter { !$0.isDeleted }
          let given = page.included["under \(path)"] ?? Linked()
          try Expectation.compare(
            given.map(\.value.json.text), linked.map(\.json.text), way: "included by \(path)")
          guard linked.allSatisfy({ given[$0.id]?.id.hasSameBytes(as: $0.id) == true }) else {
            throw Disagreement(way: "included by \(path)", expected: linked.map(\.id), given: [])
          }
        }
      }
    }
  }

  private func expectRefusal(_ query: Query, code: QueryError.Code) throws {
    for (way, store) in [("without an index", plain), ("with the indexes", indexed)] {
      do {
        let given = try store.read { try $0.find(query) }.map(\.json.text)
        throw Disagreement(way: way, expected: ["error \(code)"], given: given)
      } catch let error as QueryError {
        if error.code != code {
          throw Disagreement(way: way, expected: ["error \(code)"], given: ["error \(error)"])
        }
      }
    }
  }

  private func check(_ query: Query, _ expected: Expectation, in store: Datastore, way: String) throws {
    try check(query, expected, in: store, way: way) { try $0.plan() }
    try expected.check(try store.read { try $0.find(query) }.map { Item($0) }, way: "\(way), as an array")
    let (count, exists) = (try store.read { try $0.count(query) }, try store.read { try $0.contains(query) })
    try Expectation.compare(["\(count)"], ["\(expected.whole.count)"], way: "\(way), count")
    try Expectation.compare(["\(exists)"], ["\(!expected.whole.isEmpty)"], way: "\(way), exists")
  }

  private func check(
    _ query: Query, _ expected: Expectation, in store: Datastore, way: String,
    _ choose: @escaping (Planner) throws -> QueryPlan
  ) throws {
    var order = SortOrder.byID
    func find(_ query: Query) throws -> ResultSet {
      try ResultSet(query, in: store) { planner in
        let plan = try choose(planner)
        order = plan.sort
        return plan
      }
    }
    let results = try find(query)
    let first = try results.next()
    let ids = try results.documentIDs()
    let documents = try ([first].compactMap(\.self) + results.documents())
    try expected.check(documents.map { Item($0) }, in: order, way: way)
    let sameResults = documents.map { JSONValue.string($0.id).text }
    try Expectation.compare(
      ids.map { JSONValue.string($0).text }, sameResults, way: "\(way), ids of the result set")
    var texts: [Item] = []
    try find(query).forEachJSON { texts.append(try Item(text: String(decoding: $0, as: UTF8.self))) }
    try expected.check(texts, in: order, way: "\(way), as texts")
    var idsAlone: [String] = []
    try find(query).forEachID { idsAlone.append($0) }
    try expected.checkIDs(idsAlone, in: order, way: "\(way), ids alone")
  }

  private struct TakenBack: Error {}

  /// Puts a request to a write that has deleted a document and created another, and takes the write back.
  private func checkWithinWrite(_ query: Query, reference: ReferenceAnswers) throws {
    let before = documents
    do {
      try indexed.write { transaction in
        var held = before
        if let gone = held.popLast() { try transaction.deleteDocument(withID: gone.id) }
        if let other = held.first {
          held.append(try transaction.createDocument(from: DocumentDraft(id: "within", body: other.body)))
          if held.count > 2 {
            held[0].body = held[1].body
            held[0] = try transaction.updateDocument(from: held[0])
          }
        }
        var everything = query
        (everything.skip, everything.limit) = (0, nil)
        let whole = try reference(everything, held, textIndex(for: query)).map { Item($0) }
        let expected = Expectation(whole: whole, query: query)
        try expected.check(try transaction.find(query).map { Item($0) }, way: "within a write")
        try expected.checkIDs(try transaction.documentIDs(query), way: "within a write, ids")
        let count = try transaction.count(query)
        try Expectation.compare(["\(count)"], ["\(whole.count)"], way: "within a write, count")
        throw TakenBack()
      }
    } catch is TakenBack {
    }
  }

  /// In an order each match is in exactly one page.
  private func checkPages(_ query: Query, size limit: Int, _ expected: Expectation) throws {
    var found: [Item] = []
    let size = max(limit, expected.whole.count / 4 + 1)
    for start in stride(from: 0, through: expected.whole.count, by: size) {
      var page = query
      (page.skip, page.limit) = (start, size)
      found += try indexed.read { try $0.find(page) }.map { Item($0) }
    }
    var whole = query
    (whole.skip, whole.limit) = (0, nil)
    try Expectation(whole: expected.whole, query: whole).check(found, way: "in pages of \(size)")
  }

  /// Each match is in exactly one page, each of which begins at the bookmark of the one before, or ends at it. Each page has another
  /// plan.
  private func checkBookmarks(_ query: Query, size limit: Int, _ expected: Expectation) throws {
    for isBackward in query.sort == [.score] ? [false] : [false, true] {
      var found: [Item] = []
      var page = query
      (page.skip, page.limit, page.isBackward) = (0, max(limit, expected.whole.count / 4 + 1), isBackward)
      var number = 0
      while true {
        let results = try ResultSet(page, in: indexed) { [number] planner in
          let plans = try planner.everyPlan()
          return plans[number % plans.count]
        }
        let items = try results.documents().map { Item($0) }
        let bookmark = isBackward ? try results.firstBookmark() : try results.bookmark()
        guard !items.isEmpty, let bookmark else { break }
        found = isBackward ? items + found : found + items
        page.bookmark = try Bookmark(bookmark.text)
        number += 1
      }
      (page.skip, page.limit) = (0, nil)
      try expected.of(page).check(
        found, in: page.bookmark?.sort ?? .byID,
        way: "from bookmark to bookmark by \(limit)\(isBackward ? ", backwards" : "")")
    }
  }
}

/// A result: its id and its text.
struct Item: Equatable {
  let id: String
  let text: String

  init(_ document: DocumentRevision) {
    id = document.id
    text = document.json.text
  }

  init(text: String) throws {
    id = try JSONObject(parsing: text)["_id"]?.stringValue ?? ""
    self.text = text
  }
}

/// The matches of a query, and what of them its page and order leave open.
struct Expectation {
  let whole: [Item]
  private var query: Query
  /// Whether the query determines the order.
  let isOrdered: Bool
  /// The documents of which the oracle says the order that a plan gives without a sort.
  private var documents: [DocumentRevision] = []

  init(whole: [Item], query: Query, isOrdered: Bool? = nil) {
    self.whole = whole
    self.query = query
    self.isOrdered = isOrdered ?? query.isOrdered
  }

  /// The same matches in another page.
  func of(_ query: Query) -> Expectation {
    var other = self
    other.query = query
    return other
  }

  /// - Throws: What the reference throws.
  init(_ query: Query, in world: World, reference: ReferenceAnswers) throws {
    self.query = query
    documents = world.documents
    // Documents that the text index does not have yet come last, and count for no score.
    isOrdered = try query.isOrdered && !(query.sort == [.score] && world.lacksWords)
    var everything = query
    (everything.skip, everything.limit) = (0, nil)
    guard query.sort == [.score] else {
      whole = try reference(everything, world.documents, world.textIndex(for: query)).map { Item($0) }
      return
    }
    // Only an index has scores. Which documents match is still the matcher's to say.
    let ordered = try world.plain.read { try $0.find(everything) }.map { Item($0) }
    everything.sort = []
    let matches = try reference(everything, world.documents, world.textIndex(for: query)).map { Item($0) }
    try Expectation(whole: matches, query: everything).check(ordered, way: "by score without an index")
    whole = ordered
  }

  /// - Parameter order: The order that the plan gives without a sort; `nil` for any.
  func check(_ given: [Item], in order: SortOrder? = nil, way: String) throws {
    try check(given.map(\.text), of: whole(in: order).map(\.text), isOrdered: order != nil, way: way)
  }

  func checkIDs(_ given: [String], in order: SortOrder? = nil, way: String) throws {
    try check(
      given.map { JSONValue.string($0).text }, of: whole(in: order).map { JSONValue.string($0.id).text },
      isOrdered: order != nil, way: way)
  }

  private func whole(in order: SortOrder?) -> [Item] {
    guard !query.isOrdered, let order, !documents.isEmpty else { return whole }
    let fields = order.fields.map { (path: $0.path.text, isDescending: $0.isDescending) }
    let ranks = Oracle.$collation.withValue(order.collation) {
      documents.sorted { Oracle.precedes($0, $1, by: fields) }.map { Array($0.id.utf8) }
    }
    return ranks.compactMap { id in whole.first { id.elementsEqual($0.id.utf8) } }
  }

  private func check(_ given: [String], of whole: [String], isOrdered isPlanned: Bool, way: String) throws {
    let page = Array(whole.dropFirst(query.skip).prefix(query.limit ?? .max))
    if isOrdered || query.sort.isEmpty && isPlanned { return try Self.compare(given, page, way: way) }
    if query.skip == 0 && query.limit == nil {
      return try Self.compare(Self.sorted(given), Self.sorted(whole), way: way)
    }
    // Any page of so many matches is right, if none is in it twice.
    let matches = Set(whole.map { Array($0.utf8) })
    let distinct = Set(given.map { Array($0.utf8) })
    guard given.count == page.count, distinct.count == given.count, distinct.isSubset(of: matches) else {
      throw Disagreement(way: way, expected: ["\(page.count) of"] + whole, given: given)
    }
  }

  private static func sorted(_ texts: [String]) -> [String] { texts.sorted { $0.precedesInBytes($1) } }

  static func compare(_ given: [String], _ expected: [String], way: String) throws {
    guard given.elementsEqual(expected, by: { $0.hasSameBytes(as: $1) }) else {
      throw Disagreement(way: way, expected: expected, given: given)
    }
  }
}
