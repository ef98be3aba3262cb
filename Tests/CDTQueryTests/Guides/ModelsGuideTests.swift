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
    var postponed = 0
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
      milk.isDone = false
      milk = try await store.save(milk)

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

      // Another device has added a tag, and this one has another one.
      var rivalBody = try await store.document(withID: "milk").body
      rivalBody["tags"] = .array((rivalBody["tags"]?.arrayValue ?? []) + ["shop", "home"])
      let read = try #require(milk.revision)
      let second = try #require(RevisionID("\(read.generation + 1)-0"))
      milk.tags += ["shop", "today"]
      milk = try await store.save(milk)
      let tagged = DocumentRevision(id: "milk", revisionID: second, body: rivalBody)
      try await store.write { try $0.forceInsert(tagged, history: [second, read]) }
      let left = try await store.write { transaction in
        try transaction.resolveConflicts(Errand.self, by: .fields(arrays: ["tags": .set]))
      }
      for document in left { print(document.documentID, document.conflicts.map(\.path)) }
      #expect(left.isEmpty)
      milk = try await store.document(withID: "milk").decode(Errand.self)
      #expect(Set(milk.tags).isSuperset(of: ["shop", "home", "today"]))

      let urgent = try await store.find(
        Errand.self, where: { !$0.isDone && $0.priority >= .normal && $0.tags.contains("shop") },
        sort: \.due.descending, \.title.ascending, limit: 10)
      let first = try await store.first(Errand.self, where: { $0.due > .now }, sort: \.due.ascending)
      let count = try await store.count(Errand.self) { $0.owner.city == "Bern" || $0.owner == nil }
      #expect(urgent == [milk] && first == nil && count == 1)

      let today = Calendar.current.startOfDay(for: .now)
      let tomorrow = Calendar.current.date(byAdding: .day, value: 1, to: today) ?? today
      let dueToday = try await store.find(Errand.self, where: { (today..<tomorrow).contains($0.due) })
      #expect(dueToday.isEmpty)

      let query = try ModelQuery(
        Errand.self, where: { $0.priority > .low }, sort: \.title.ascending, limit: 10)
      print(query)  // {"selector":{"priority":{"$gt":1}},"sort":["title"],"limit":10}
      let errands = try await store.read { try $0.find(query) }
      let plan = try await store.read { try $0.explain(query.query) }
      #expect("\(query)" == #"{"selector":{"priority":{"$gt":1}},"sort":["title"],"limit":10}"#)
      #expect(errands == [milk] && !plan.description.isEmpty)

      try await store.createDocument(from: DocumentDraft(id: "bad", body: ["title": 5]))
      var errors: [DatastoreError] = []
      let models = try await store.find(Errand.self, undecodable: { errors.append($0) })
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

      try await store.delete(milk)
      #expect(try await store.find(Errand.self, ["_id": "milk"]).isEmpty)
    }
  }

  enum Mood: String, Codable, CaseIterable {
    case unknown, happy, busy

    init(from decoder: any Decoder) throws {
      self = Mood(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
    }
  }

  struct Entry: DocumentModel {
    var id = UUID().uuidString
    var revision: RevisionID?
    var mood = Mood.unknown
    var text = ""
  }

  /// What the message of a value that a type does not know says.
  @Test func `a value of a newer app is decoded, and kept`() async throws {
    try await withTemporaryDatastore { store in
      try await store.createDocument(
        from: DocumentDraft(id: "today", body: ["mood": "curious", "text": "Hm"]))
      var entry = try await store.document(withID: "today").decode(Entry.self)
      entry.text = "Hello"  // entry.mood is .unknown
      try await store.save(entry)  // the document still has "curious"
      #expect(entry.mood == .unknown)
      let body = try await store.document(withID: "today").body
      #expect(body == ["mood": "curious", "text": "Hello"])
      #expect(try await store.find(Entry.self, where: { $0.mood == .unknown }).isEmpty)
      #expect(try await store.find(Entry.self, where: { !$0.mood.in([.happy, .busy]) }).count == 1)
    }
  }

  struct CityRow: Decodable {
    var city: String?
    var errands: Int
    var postponed: Int
  }

  @Test func `many models`() async throws {
    try await withTemporaryDatastore { store in
      let bern = Person(name: "Mia", city: "Bern")
      var milk = try await store.save(Errand(id: "milk", title: "Buy milk", tags: ["shop"], owner: bern))
      try await store.save(
        Errand(id: "late", title: "Late", due: Date(timeIntervalSince1970: 0), owner: bern))

      milk = try await store.document(withID: "milk", as: Errand.self)
      try await store.save([Errand(title: "Bake bread"), Errand(title: "Sweep", priority: .low)])

      try await store.ensureIndexed(Errand.self, \.isDone, \.due.descending)
      try await store.ensureIndexed(Errand.self, \.due, where: { !$0.isDone })
      try await store.ensureIndexed(Errand.self, \.owner.city, summing: \.postponed)
      #expect(try store.listIndexes().count == 3)

      let rows = try await store.group(
        Errand.self, by: \.owner.city, .count(as: \.errands), .sum(\.postponed, as: \.postponed),
        as: CityRow.self, where: { !$0.isDone }, having: { $0.errands > 1 }, sort: \.errands.descending)
      let tags = try await store.distinct(Errand.self, \.tags)  // ["shop"]
      #expect(Set(rows.map(\.city)) == ["Bern", nil] && rows.map(\.errands) == [2, 2] && tags == ["shop"])

      let count = try await store.update(
        Errand.self, where: { !$0.isDone && $0.due < .now }, .set(\.due, nil), .increment(\.postponed))
      try await store.update(Errand.self, where: { $0.id == "milk" }, .apply { $0.isDone.toggle() })
      try await store.delete(Errand.self, where: { $0.isDone })
      for _ in 1...2 {
        try await store.write { transaction in
          let isKnown = try transaction.count(Errand.self, where: { $0.title == "Dust" && !$0.isDone }) > 0
          if !isKnown { try transaction.save(Errand(title: "Dust")) }
        }
      }
      let late = try await store.document(withID: "late", as: Errand.self)
      #expect(count == 1 && late.due == nil && late.postponed == 1 && !milk.isDone)
      #expect(try await store.count(Errand.self) == 4)
    }
  }

  struct ISBN: RawRepresentable, DocumentKey { let rawValue: String }

  struct Cookbook: DocumentModel {
    var id = UUID()
    var revision: RevisionID?
    var name: String
  }

  struct Dish: DocumentModel {
    var id = UUID()
    var revision: RevisionID?
    var title: String
    var cookbook: Reference<Cookbook>?
  }

  @Test func `relations`() async throws {
    try await withTemporaryDatastore { store in
      try await store.ensureIndexed(Dish.self, \.cookbook)
      let basics = try await store.save(Cookbook(name: "Basics"))
      try await store.save(Dish(title: "Soup", cookbook: Reference(basics)))
      let dishes = try await store.find(
        Dish.self, where: { $0.cookbook == Reference(basics) }, sort: \.title.ascending)
      let books = try await store.find(
        Cookbook.self, where: { dishes.compactMap(\.cookbook?.id).contains($0.id) }, sort: \.name.ascending)
      #expect(dishes.map(\.title) == ["Soup"] && books.map(\.name) == ["Basics"])

      let linking = try ModelQuery(Dish.self, where: { $0.cookbook != nil }, sort: \.title.ascending)
        .including(\.cookbook)
      let (found, cookbooks) = try await store.read { try $0.find(linking) }
      for dish in found {
        print(dish.title, cookbooks[dish.cookbook]?.name ?? "no cookbook")
      }
      #expect(found.map(\.title) == ["Soup"] && cookbooks[basics.id]?.name == "Basics")

      try await store.write { transaction in
        try transaction.delete(Dish.self, where: { $0.cookbook == Reference(basics) })
        try transaction.delete(basics)
      }
      #expect(try await store.count([:]) == 0)
    }
  }

  @Test func `the examples of the page are these`() throws {
    try expectExamples(of: "models.md", in: #filePath, atLeast: 14)
  }
}
