import CDTTestSupport
import Foundation
import Testing

/// What compiles and what does not, according to the compiler.
@Suite struct SnippetTests {
  private static let setting = """
    import CDTQuery
    import Foundation
    enum Kind: String, Codable, JSONConvertible { case chore, work }
    struct Place: Codable { var city: String; var zip: Int? }
    struct Part: Codable { var price: Double; var name: String }
    enum State: Codable, Equatable { case open, closed(Int) }
    struct Inner: DocumentModel { var id = 0; var revision: RevisionID?; var title: String }
    struct Job: DocumentModel {
      var id = ""
      var revision: RevisionID?
      var title: String
      var priority: Int
      var share: Double
      var kind: Kind
      var tags: [String]
      var due: Date?
      var isDone: Bool
      var isNew: Bool?
      var owner: Place
      var boss: Place?
      var parts: [Part]
      var link: URL?
      var cost: Decimal
      var key: UUID
      var counts: [String: Int]
      var count: Int
      var first: String
      var state: State
      var labels: Set<String>
      var numbers: [Int]
      var words: [String]?
      var before: Reference<Job>?
      var others: [Reference<Job>]
      var inside: Inner
      var maybeInside: Inner?
      var at: GeoPoint
      var stops: [GeoPoint]?
      var vector: [Double]
      var floats: [Float]?
    }
    struct Sum: Decodable { var city: String?, total: Double }
    final class Other: Sendable {}
    @MainActor final class View {
      var text = "", jobs: [Job] = []
      func load(_ store: Datastore) async throws {
        jobs = try await store.find(Job.self, where: { $0.title == text }, sort: \\.due.descending)
        jobs += [try await store.first(Job.self) { $0.title == text }].compactMap { $0 }
        text = "\\(try await store.count(Job.self) { $0.title == text })"
        jobs[0] = try await store.save(jobs[0]) { _, mine in mine }
        jobs += try await store.find(Job.self, ["$or": [["a": text], ["n": jobs.count]]])
        jobs += try await store.find(Job.self, where: { $0.isDone }) { text += $0.message }
        try await store.delete(jobs[0])
      }
    }
    """

  /// Every variable of the snippets.
  private static let variables = """
    _ store: Datastore, text: String, number: Int, now: Date, key: UUID, keys: [UUID], link: URL, cost: Decimal, \
    kind: Kind, tags: [String], maybe: Int?, later: Date?, json: JSONObject, value: JSONValue, counts: [String: Int], \
    other: Other, job: Job, isAll: Bool, here: GeoPoint, query: [Double]
    """

  static let valid = [
    "store.find(Job.self)",
    "store.find(Job.self, where: { $0.priority > 3 && $0.tags.contains(\"x\") }, sort: \\.due.descending)",
    "store.find(Job.self) { $0.isDone }",
    "store.find(Job.self) { !$0.isDone || $0.isNew }",
    "store.find(Job.self) { $0.isDone == false && $0.isNew == nil }",
    "store.find(Job.self) { $0.due < now && $0.due != later && $0.due == nil }",
    "store.find(Job.self) { $0.key == key && $0.key.in(keys) && $0.link == link && $0.cost > cost }",
    "store.find(Job.self) { $0.kind == .chore && $0.kind.in([.chore, kind]) }",
    "store.find(Job.self) { $0.owner.city == text && $0.boss.city != text && $0.boss.zip >= 8000 }",
    "store.find(Job.self) { $0.parts.contains { $0.price < 3 && $0.name.hasPrefix(\"a\") } }",
    "store.find(Job.self) { $0.title.matches(\"^a\") && $0.search(for: text) }",
    "store.find(Job.self, where: { _ in .all }, sort: \\.isDone.ascending, \\.owner.city.descending, limit: 3)",
    "store.find(Job.self) { job in tags.isEmpty ? .all : job.tags.contains(tags[0]) }",
    "store.find(Job.self) { $0.id == text && $0.revision != nil && $0.tags == [\"x\"] }",
    "store.find(Job.self) { ($0.priority > 3 || $0.priority == number || $0.share < 0.5) && !($0.title == text && $0.isDone) "
      + "&& $0.tags.contains(text) && $0.due > now && $0.owner.zip == maybe && $0.kind != kind && $0.cost >= 3 }",
    "store.first(Job.self, where: { $0.priority <= 3 }, sort: \\.due.ascending)",
    "store.count(Job.self) { $0.priority == maybe }",
    "store.read { try $0.find(ModelQuery(Job.self, where: { $0.isDone }, sort: \\.title.ascending)) }",
    "store.find([\"due\": [\"$lt\": now]])",
    "store.find([\"$or\": [[\"a\": text], [\"n\": number]]])",
    "store.find([\"$or\": [[\"kind\": kind], [\"due\": [\"$lt\": now]]]])",
    "store.find([\"$or\": [[\"p\": kind], [\"n\": [\"$gte\": number]]]])",
    "store.find(Job.self, [\"a\": [\"$elemMatch\": [\"k\": now, \"n\": number]]], limit: 1)",
    "store.find([\"x\": [\"a\": [\"$in\": tags], \"b\": 1], \"key\": [\"$in\": keys]])",
    "store.count([\"$or\": [[\"a\": text], [\"b\": [\"$gte\": text]]], \"c\": nil, \"d\": maybe, \"e\": json, \"f\": value])",
    "store.count([\"n\": [\"$gte\": number, \"$lt\": number], \"$nor\": [[\"a\": cost], [\"b\": [\"c\": link]]]])",
    "store.find([\"a\": .string(text), \"b\": [\"$in\": [1, \"a\", nil]], \"c\": .init(number)])",
    "Query([\"$and\": [[\"a\": text], [\"$or\": [[\"n\": number], [\"t\": now, \"k\": key]]]]], sort: [\"a\"])",
    "QuerySelector([\"$or\": [[\"a\": text], [\"n\": number]]])",
    "store.createDocument(from: DocumentDraft(body: [\"a\": text, \"b\": [\"c\": number, \"d\": now, \"e\": nil], \"f\": [[\"g\": text], [\"h\": number]]]))",
    "store.find(Job.self) { $0.counts[\"a\"] > 3 && $0.counts[text] == nil }",
    "store.find(Job.self, sort: \\.owner.city.ascending, undecodable: { print($0.message) })",
    "store.find(Job.self, [\"a\": text]) { print($0.message) }",
    "store.live(Job.self, where: { $0.isDone }, undecodable: { print($0) })",
    "store.group(Job.self, by: \\.owner.city, .sum(\\.share, as: \\.total), as: Sum.self).map(\\.total)",
    "store.group(Job.self, by: \\.kind, .and(\\.boss.zip), .average(\\.priority, as: \\.total), as: Sum.self, where: { $0.isDone }, "
      + "having: { $0.total > 3 }, sort: \\.total.descending, \\.city.ascending, limit: 3)",
    "store.ensureIndexed(Job.self, \\.title, \\.due.descending)",
    "store.ensureIndexed(Job.self, \\.isDone, \\.isNew, \\.boss.zip, \\.counts, options: .unique, where: { !$0.isDone && $0.priority > number })",
    "store.ensureIndexed(Job.self, \\.owner.city, summing: \\.share, \\.priority, name: text)",
    "store.ensureIndexed(Job.self, \\.due, options: .expiring(after: .seconds(60)))",
    "store.update(Job.self, where: { $0.isDone }, .set(\\.isDone, false), .increment(\\.priority), .increment(\\.share, by: 0.5))",
    "store.update(Job.self, where: { $0.due < now }, .set(\\.due, nil), .set(\\.due, now), .set(\\.due, later), .set(\\.owner.zip, maybe))",
    "store.update(Job.self, where: { _ in .all }, .append(\\.tags, text), .remove(\\.tags, \"x\"), .rename(from: \"stat\", to: \\.title))",
    "store.update(Job.self, where: { $0.id == text }, .apply { $0.isDone.toggle() }, .set(\\.kind, .chore), .increment(\\.cost, by: 2))",
    "store.write { try $0.update(Job.self, where: { $0.isDone }, .set(\\.isDone, false)) }",
    "store.read { try $0.find(Job.self, where: { $0.isDone }, sort: \\.due.descending, limit: 3) { print($0.message) } }",
    "store.read { try ($0.first(Job.self, where: { $0.isDone }), $0.count(Job.self), $0.count(Job.self) { $0.isDone }) }",
    "store.delete(Job.self, where: { $0.isDone && $0.due < now })",
    "store.distinct(Job.self, \\.owner.city).map { $0.uppercased() }",
    "store.distinct(Job.self, \\.tags, where: { $0.isDone }).map { $0.uppercased() }",
    "store.count(Job.self)",
    "store.document(withID: text, as: Job.self).title",
    "store.save([Job]()).map(\\.title)",
    "store.read { try $0.find(ModelQuery(Job.self, where: { $0.at.near(here) }, limit: 3).withDistances()) }.map(\\.model.title)",
    "store.live(ModelQuery(Job.self, where: { $0.vector.near(query) }, limit: 3).withDistances())",
    "store.migrate(\"a\", matching: [\"title\": [\"$exists\": false]]) { $0.body[\"title\"] = \"x\" }",
    "store.delete(Job?.none!)",
    "store.save(Job?.none!)",
    "store.save(Job?.none!) { stored, mine in stored.isDone ? stored : mine }",
  ]

  static let invalid = [
    "store.find(Job.self) { $0.priorty > 3 }",
    "store.find(Job.self) { $0.priority > \"3\" }",
    "store.find(Job.self) { $0.priority > 3.5 }",
    "store.find(Job.self) { $0.priority == text }",
    "store.find(Job.self) { $0.tags.contains(3) }",
    "store.find(Job.self) { $0.tags == \"x\" }",
    "store.find(Job.self) { $0.due < \"2024-01-01\" }",
    "store.find(Job.self) { $0.due < later }",
    "store.find(Job.self) { $0.due == number }",
    "store.find(Job.self) { $0.kind == .party }",
    "store.find(Job.self) { $0.kind == \"chore\" }",
    "store.find(Job.self) { $0.kind < kind }",
    "store.find(Job.self) { $0.key == text }",
    "store.find(Job.self) { $0.key.in(tags) }",
    "store.find(Job.self) { $0.link > link }",
    "store.find(Job.self) { $0.priority }",
    "store.find(Job.self) { $0.priority && $0.isDone }",
    "store.find(Job.self) { $0.owner.town == text }",
    "store.find(Job.self) { $0.owner == text }",
    "store.find(Job.self) { $0.priority == $0.share }",
    "store.find(Job.self) { $0.title.hasPrefix(3) }",
    "store.find(Job.self) { $0.priority.hasPrefix(text) }",
    "store.find(Job.self) { $0.parts.contains { $0.cost < 3 } }",
    "store.find(Job.self, sort: \\.dew.descending)",
    "store.find(Job.self, sort: \\.due)",
    "store.find(Other.self) { $0.title == text }",
    "store.find([\"a\": other])",
    "store.find([\"$or\": [[\"a\": text], [\"n\": other]]])",
    "store.count([\"a\": [\"$in\": [text, number]]])",
    "store.count([\"a\": counts])",
    "store.createDocument(from: DocumentDraft(body: [\"a\": text, \"b\": other]))",
    "store.save(number)",
    "store.ensureIndexed(Job.self, \\.titel)",
    "store.ensureIndexed(Job.self, \\.title, \\.dew.descending)",
    "store.ensureIndexed(Job.self, \\.title, where: { $0.dew == nil })",
    "store.update(Job.self, where: { $0.isDone }, .set(\\.isDone, text))",
    "store.update(Job.self, where: { $0.isDone }, .set(\\.title, nil))",
    "store.update(Job.self, where: { $0.isDone }, .increment(\\.title))",
    "store.update(Job.self, where: { $0.isDone }, .append(\\.tags, number))",
    "store.update(Job.self, where: { $0.isDone }, .rename(from: \"a\", to: \\.dew))",
    "store.update(Job.self, .set(\\.isDone, false))",
    "store.delete(Job.self)",
    "store.delete(Job.self, where: { $0.dew == nil })",
    "store.distinct(Job.self, \\.dew)",
    "store.group(Job.self, by: \\.dew, .count(as: \\.total), as: Sum.self)",
    "store.group(Job.self, by: \\.owner.city, .count(as: \\.total), as: Sum.self)",
    "store.group(Job.self, by: \\.owner.city, .sum(\\.title, as: \\.total), as: Sum.self)",
    "store.group(Job.self, by: \\.owner.city, .sum(\\.share, as: \\.totl), as: Sum.self)",
  ]

  /// What the compiler says of mistakes that many make. `WrittenConditionTests` has more.
  static let explained = [
    "store.find(Job.self, sort: \\.title)": "write the direction, as in \\.title.ascending",
    "store.first(Job.self, where: { $0.isDone }, sort: \\.title)":
      "write the direction, as in \\.title.ascending",
    "store.live(Job.self, sort: \\.due)": "write the direction, as in \\.title.ascending",
    "ModelQuery(Job.self, where: { $0.isDone }, sort: \\.owner.city)":
      "write the direction, as in \\.title.ascending",
    "store.find(Job.self) { $0.isDone && $0.priority > text }":
      "compare the property, without ?, with a value of its own type",
    "store.find(Job.self) { $0.key != text }":
      "compare the property, without ?, with a value of its own type",
    "store.first(Job.self, where: { _ in isAll }, sort: \\.due.ascending)": bool,
    "store.live(Job.self, where: { _ in isAll })": bool, "store.count(Job.self) { _ in isAll }": bool,
    "store.delete(Job.self, where: { _ in true })": bool,
    "store.update(Job.self, where: { _ in isAll }, .set(\\.isDone, false))": bool,
    "store.distinct(Job.self, \\.owner.city, where: { _ in isAll })": bool,
    "store.group(Job.self, by: \\.kind, .sum(\\.share, as: \\.total), as: Sum.self, where: { _ in isAll })":
      bool,
    "store.write { try $0.delete(Job.self) { job in job.isDone == true && isAll } }": bool,
    #"ModelQuery(Job.self, where: { $0.title.contains("x") == true && isAll })"#: bool,
    "store.find(Job.self, where: { $0.isDone }, sort: \\.dew.ascending)": misspelled,
    "store.distinct(Job.self, \\.dew)": misspelled,
    "store.group(Job.self, by: \\.dew, .sum(\\.share, as: \\.total), as: Sum.self)": misspelled,
    "store.ensureIndexed(Job.self, \\.title, \\.dew)": misspelled,
    "job.before?.title": "a reference has only an id",
  ]

  private static let bool = "for a Bool write isAll ? .all : $0.age > 3"
  private static let misspelled = "has no dynamic member 'dew' using key path from root type 'Job'"

  @Test func `usual mistakes have an error with the remedy`() throws {
    let errors = try Self.check(Array(Self.explained.keys))
    for (snippet, message) in Self.explained {
      #expect(
        errors[snippet]?.contains { $0.contains(message) } == true, "\(snippet): \(errors[snippet] ?? [])")
    }
  }

  /// The lines of a file of snippets, each a function, with what the compiler says of it.
  static func check(_ snippets: [String]) throws -> [String: [String]] {
    try withTemporaryDirectory { directory in
      let file = "\(directory)/snippets.swift"
      var lines = setting.split(separator: "\n").map(String.init)
      let first = lines.count
      for (number, snippet) in snippets.enumerated() {
        let statement = snippet.hasPrefix("let ") ? "\(snippet); _ = documents" : "_ = try \(snippet)"
        lines.append("func f\(number)(\(variables)) throws { \(statement) }")
      }
      try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
      let output = try CompilerCheck.diagnostics(of: file)
      var found: [String: [String]] = [:]
      for line in output.split(separator: "\n") where line.hasPrefix(file) && line.contains("error: ") {
        let number = line.dropFirst(file.count + 1).prefix { $0.isNumber }
        guard let number = Int(number) else { continue }
        found[number > first ? snippets[number - first - 1] : "", default: []].append(String(line))
      }
      return found
    }
  }

  @Test func `right conditions compile, without a warning`() throws {
    let errors = try Self.check(Self.valid)
    #expect(Self.valid.count >= 30 && errors == [:])
  }

  /// Types of such a module are the main actor's, and so is their decoding. A synchronous read in place of an asynchronous one would be a
  /// warning.
  private static let mainActorModule = """
    import CDTQuery
    struct Plain: Codable { var title: String }
    struct Row: Decodable { var city: String?; var orders: Int }
    struct Job: DocumentModel { var id = ""; var revision: RevisionID?; var title: String }
    struct Latest: ConflictResolver {
      func resolve(documentID: String, conflicts: [DocumentRevision]) -> DocumentRevision? { conflicts.first }
    }
    final class List {
      let store: Datastore
      var messages: [String] = []
      init(_ store: Datastore) { self.store = store }
      func load(_ title: String, _ number: Int) async throws {
        _ = try await store.group(Plain.self, by: \\.title, .count(as: \\.orders), as: Row.self, having: { $0.orders > number })
        _ = try await store.distinct(Plain.self, \\.title, where: { $0.title > title })
        try await store.ensureIndexed(Plain.self, \\.title, where: { $0.title > title })
        try await store.update(Job.self, where: { $0.title == title }, .set(\\.title, "x"), .apply { $0.title += "y" })
        try await store.delete(Plain.self, where: { $0.title == title })
        try await store.save([store.document(withID: "x", as: Job.self)])
        _ = try await store.find(Plain.self, ["title": "x"]).map(\\.title)
        _ = try await store.find(Plain.self, ["$or": [["title": title], ["n": number]]]) { messages.append($0.message) }
        _ = try await store.find(Plain.self, where: { $0.title == title }, sort: \\.title.ascending)
        _ = try await store.first(Plain.self, where: { $0.title > title }, sort: \\.title.descending)
        _ = try await store.count(Plain.self) { $0.title == title }
        _ = try await store.document(withID: "x").decode(Plain.self)
        var job = try await store.find(Job.self, where: { $0.title == title }, sort: \\.title.ascending)[0]
        job = try await store.save(job) { _, mine in mine }
        _ = try await store.write { try $0.resolveConflicts(for: "x", with: Latest()) }
        _ = try await store.write { try $0.resolveConflicts(Job.self) { versions in versions.first } }
        for try await update in try store.live(Job.self, where: { $0.title == "x" }) { print(update.results) }
      }
    }
    """

  @Test func `in a module of the main actor, types of its own are read asynchronously`() throws {
    try withTemporaryDirectory { directory in
      let file = "\(directory)/module.swift"
      try Self.mainActorModule.write(toFile: file, atomically: true, encoding: .utf8)
      #expect(try CompilerCheck.diagnostics(of: file, ["-default-isolation", "MainActor"]) == "")
    }
  }

  private struct Copy: Decodable { let swift: String }

  /// The tests of the page compare what it copies with these texts.
  @Test func `Swift code that the page copies compiles`() throws {
    let file = Repository.root.appending(path: "Tests/Page/copies.json")
    let copies = try JSONDecoder().decode([Copy].self, from: Data(contentsOf: file)).map(\.swift)
    #expect(copies.count >= 3 && copies.allSatisfy { $0.hasPrefix("let documents = ") })
    #expect(try Self.check(copies) == [:])
  }

  @Test func `a wrong name or a wrong type does not compile`() throws {
    let errors = try Self.check(Self.invalid)
    #expect(Self.invalid.count >= 30)
    for snippet in Self.invalid { #expect(errors[snippet] != nil, "\(snippet)") }
    for (snippet, messages) in errors {
      #expect(!messages.contains { $0.contains("failed to produce diagnostic") }, "\(snippet)")
    }
  }
}
