import CDTDatastore
import CDTQuery
import CDTTestSupport
import Foundation
import Testing

/// The examples of `docs/models.md`, each as it stands there.
@Suite struct ModelsGuideTests {
  enum Priority: Int, Codable, Comparable, CaseIterable {
    case low = 1, normal, high
    static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
  }

  struct Person: Codable, Equatable {
    var name: String
    var city: String?
  }

  struct Item: Codable, Equatable {
    var name: String
    var price: Decimal
  }

  struct Errand: DocumentModel, Equatable {
    var id = UUID().uuidString
    var revision: RevisionID?
    var title: String
    var priority = Priority.normal
    var tags: [String] = []
    var due: Date?
    var isDone = false
    var owner: Person?
    var items: [Item] = []
  }

  @Test func `models and queries`() async throws {
    try await withTemporaryDatastore { store in
      var milk = try await store.save(Errand(id: "milk", title: "Buy milk", tags: ["shop"]))
      milk.isDone = true
      milk = try await store.save(milk)
      #expect(milk.revision?.generation == 2)

      var other = milk
      other.isDone = false
      try await store.save(other)
      milk.title = "Buy oat milk"
      milk = try await store.save(milk) { stored, mine in
        var merged = mine
        merged.isDone = stored.isDone || mine.isDone
        return merged
      }
      #expect(milk.title == "Buy oat milk" && milk.isDone)
      #expect(try await store.document(withID: "milk").decode(Errand.self) == milk)
      try await store.write { try $0.update(Errand.self, id: "milk") { $0.isDone.toggle() } }
      milk = try await store.document(withID: "milk").decode()
      #expect(!milk.isDone)

      // Another device has only changed the title.
      let parent = try #require(milk.revision)
      let rival = try #require(RevisionID("\(parent.generation + 1)-"))
      var body = try await store.document(withID: "milk").body
      body["title"] = "Buy soy milk"
      let theirs = DocumentRevision(id: "milk", revisionID: rival, body: body)
      milk.isDone = true
      milk = try await store.save(milk)
      try await store.write { try $0.forceInsert(theirs, history: [rival, parent]) }
      try await store.write { transaction in
        try transaction.resolveConflicts(Errand.self) { versions, base in
          var merged = try versions.merged(since: base)
          merged?.isDone = versions.contains { $0.isDone }
          return merged
        }
      }
      milk = try await store.document(withID: "milk").decode(Errand.self)
      #expect(milk.title == "Buy soy milk" && milk.isDone)
      milk.isDone = false
      milk = try await store.save(milk)

      let urgent = try await store.find(
        Errand.self, where: { !$0.isDone && $0.priority >= .normal && $0.tags.contains("shop") },
        sort: \.due.descending, \.title.ascending, limit: 10)
      let first = try await store.first(Errand.self, where: { $0.due > .now }, sort: \.due.ascending)
      let count = try await store.count(Errand.self) { $0.owner.city == "Bern" || $0.owner == nil }
      #expect(urgent == [milk] && first == nil && count == 1)

      let query = try ModelQuery(
        Errand.self, where: { $0.priority > .low }, sort: \.title.ascending, limit: 10)
      print(query)  // {"selector":{"priority":{"$gt":1}},"sort":["title"],"limit":10}
      let errands = try await store.read { try $0.find(query) }
      let plan = try await store.read { try $0.explain(query.query) }
      #expect("\(query)" == #"{"selector":{"priority":{"$gt":1}},"sort":["title"],"limit":10}"#)
      #expect(errands == [milk] && !plan.description.isEmpty)

      try await store.createDocument(from: DocumentDraft(id: "bad", body: ["title": 5]))
      let (models, errors) = try await store.read { try $0.findDecodable(ModelQuery(Errand.self)) }
      print(errors.map(\.message))
      // document "bad" can't be decoded as Errand: title: expected a string, found a number; …
      #expect(models == [milk] && errors.count == 1)
      #expect(
        errors[0].message.hasPrefix(
          #"document "bad" can't be decoded as Errand: title: expected a string, found a number;"#))

      let name = "Mia", now = Date.now
      let mine = try await store.find(
        Errand.self, ["$or": [["owner.name": name], ["due": ["$lt": now], "isDone": false]]])
      #expect(mine.isEmpty)
    }
  }

  @Test func `the examples of the page are these`() throws {
    try expectExamples(of: "models.md", in: #filePath, atLeast: 7)
  }
}
