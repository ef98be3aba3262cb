import CDTDatastore
import CDTQuery
import CDTTestSupport
import Foundation
import Testing

/// Models that get new properties.
@Suite struct ModelChangeTests {
  struct Old: DocumentModel {
    var id = UUID().uuidString
    var revision: RevisionID?
    var title: String
  }

  struct Place: Codable, Equatable, HasDefaults {
    var city: String
    var isHome = true
    static let defaults: JSONObject = ["isHome": true]
  }

  struct New: DocumentModel, HasDefaults, Equatable {
    var id = UUID().uuidString
    var revision: RevisionID?
    var title: String
    var isFavorite = false
    var isOpen = true
    var priority = 2
    var tags = ["new"]
    var note: String?
    var place = Place(city: "Bern")
    var other: Place?
    static let defaults = New(title: "")
  }

  /// The same without defaults.
  struct Strict: DocumentModel {
    var id = UUID().uuidString
    var revision: RevisionID?
    var title: String
    var isFavorite = false
  }

  private static func withOldDocuments(_ body: (Datastore) throws -> Void) throws {
    try withTemporaryDatastore { store in
      try store.save(Old(id: "old", title: "old"))
      try store.save(New(id: "new", title: "new", isFavorite: true, isOpen: false, priority: 1, tags: []))
      try store.createDocument(
        from: DocumentDraft(
          id: "half", body: ["title": "half", "place": ["city": "Rom"], "other": ["city": "Rom"]]))
      try body(store)
    }
  }

  @Test func `older documents have the defaults`() throws {
    try Self.withOldDocuments { store in
      let old = try store.document(withID: "old").decode(New.self)
      #expect(old == New(id: "old", revision: old.revision, title: "old"))
      #expect(try store.find(New.self).map(\.id) == ["half", "new", "old"])
      #expect(try store.find(New.self, ["title": "old"]).first?.priority == 2)
    }
  }

  @Test func `saving an older document stores the defaults, once`() throws {
    try Self.withOldDocuments { store in
      var old = try store.document(withID: "old").decode(New.self)
      old = try store.save(old)
      #expect(old.revision?.generation == 2)
      #expect(try store.document(withID: "old").body["priority"] == 2)
      #expect(try store.save(old) == old)
    }
  }

  @Test func `the error of a member without a default names the remedy`() throws {
    try Self.withOldDocuments { store in
      let error = #expect(throws: DatastoreError.self) { try store.find(Strict.self) }
      #expect(
        error?.message
          == #"document "half" can't be decoded as Strict: there is no member "isFavorite"; add it to the document, make the "#
          + "property optional, or give its type a default with HasDefaults")
    }
  }

  typealias Condition = @Sendable (ModelField<New, New>) -> QueryCondition<New>
  typealias Test = @Sendable (New) -> Bool

  static let conditions: [(Condition, Test)] = [
    ({ $0.isFavorite }, { $0.isFavorite }), ({ !$0.isFavorite }, { !$0.isFavorite }),
    ({ $0.isFavorite == false }, { $0.isFavorite == false }),
    ({ $0.isFavorite != false }, { $0.isFavorite != false }),
    ({ $0.isFavorite != true }, { $0.isFavorite != true }),
    ({ $0.isOpen }, { $0.isOpen }), ({ !$0.isOpen }, { !$0.isOpen }),
    ({ $0.isOpen == false }, { $0.isOpen == false }), ({ $0.isOpen != false }, { $0.isOpen != false }),
    ({ $0.priority == 2 }, { $0.priority == 2 }), ({ $0.priority != 2 }, { $0.priority != 2 }),
    ({ !($0.priority > 1) }, { !($0.priority > 1) }), ({ $0.priority >= 2 }, { $0.priority >= 2 }),
    ({ $0.priority.in([1]) }, { [1].contains($0.priority) }),
    ({ $0.priority.in([2, 3]) && $0.isOpen }, { [2, 3].contains($0.priority) && $0.isOpen }),
    ({ $0.tags.contains("new") }, { $0.tags.contains("new") }), ({ $0.tags == [] }, { $0.tags == [] }),
    ({ $0.note == nil }, { $0.note == nil }), ({ $0.note != "x" }, { $0.note != "x" }),
    ({ $0.place.city == "Bern" }, { $0.place.city == "Bern" }),
    ({ $0.place.city.hasPrefix("R") }, { $0.place.city.hasPrefix("R") }),
    ({ $0.place.isHome }, { $0.place.isHome }), ({ !$0.place.isHome }, { !$0.place.isHome }),
  ]

  @Test(arguments: [false, true])
  func `conditions hold of older documents as Swift says of the decoded models`(isIndexed: Bool) throws {
    try Self.withOldDocuments { store in
      if isIndexed {
        for field in ["isFavorite", "isOpen", "priority"] { try store.ensureIndexed([SortField(field)]) }
      }
      let all = try store.find(New.self, where: { $0.title != "" }, sort: \.id.ascending)
      #expect(all.count == 3)
      for (condition, holds) in Self.conditions {
        let query = try ModelQuery(where: condition, sort: \.id.ascending)
        let found = try store.read { try $0.find(query) }
        #expect(found == all.filter(holds), "\(query)")
      }
    }
  }

  @Test func `without defaults, not true and equal to false find the same`() throws {
    try Self.withOldDocuments { store in
      let counts = [
        try store.count(Strict.self) { !$0.isFavorite },
        try store.count(Strict.self) { $0.isFavorite == false },
        try store.count(Strict.self) { $0.isFavorite != true },
        try store.count(Strict.self) { $0.isFavorite },
        try store.count(Strict.self) { $0.isFavorite != false },
      ]
      #expect(counts == [2, 2, 2, 1, 1])
    }
  }

  @Test func `a condition on a default uses an index`() throws {
    try Self.withOldDocuments { store in
      try store.ensureIndexed(["priority"])
      var query = try ModelQuery(New.self, where: { $0.priority == 2 }).query
      #expect(
        query.description
          == #"{"selector":{"$or":[{"priority":{"$eq":2}},{"priority":{"$not":{"$exists":true}}}]}}"#)
      query.useIndex = "priority"
      let plan = try store.read { try $0.explain(query) }.description
      #expect(plan.hasPrefix("index \"priority\""), "\(plan)")
    }
  }
}
