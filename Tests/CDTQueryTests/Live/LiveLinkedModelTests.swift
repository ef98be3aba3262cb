import CDTQuery
import CDTTestSupport
import Testing

/// Live queries that include the models which the results link.
@Suite(.timeLimit(.usual)) struct LiveLinkedModelTests {
  struct Person: DocumentModel, Equatable {
    var id: String
    var revision: RevisionID?
    var name: String
  }

  struct Tool: DocumentModel, Equatable {
    var id: String
    var revision: RevisionID?
    var title: String
    var owner: String?
    var users: [String] = []
  }

  @Test func `an update has the linked models`() async throws {
    try await withTemporaryDatastore { store in
      try await store.save(Person(id: "ann", name: "Ann"))
      try await store.save([
        Tool(id: "axe", title: "Axe", owner: "ann", users: ["bob"]), Tool(id: "bit", title: "Bit"),
      ])
      let query = try ModelQuery(Tool.self, where: { $0.title > "" }, sort: \.title.ascending)
        .including(\.owner, as: Person.self).including(\.users, as: Person.self)
      var updates = store.live(query).makeAsyncIterator()
      let first = try #require(try await updates.next())
      #expect(first.results.map(\.title) == ["Axe", "Bit"])
      #expect(try first.linked(\.owner, as: Person.self)["ann"]?.name == "Ann")
      #expect(try first.linked(\.users, as: Person.self).count == 0)

      try await store.save(Person(id: "bob", name: "Bob"))
      let second = try #require(try await updates.next())
      #expect(second.difference.isEmpty)
      #expect(try second.linked(\.users, as: Person.self)["bob"]?.name == "Bob")

      try await store.update(Person.self, where: { $0.id == "bob" }, .set(\.name, "Bo"))
      let third = try #require(try await updates.next())
      #expect(try third.linked(\.users, as: Person.self).map { $0.value.name } == ["Bo"])
    }
  }

  struct Saw: DocumentModel {
    var id: String
    var revision: RevisionID?
    var owner: Reference<Person>?
    var users: [Reference<Person>] = []
  }

  @MainActor @Test func `references are linked without a type`() async throws {
    let manager = try DatastoreManager.inMemory()
    defer { manager.close() }
    let store = try await manager.datastore(named: "store")
    let ann = try await store.save(Person(id: "ann", name: "Ann"))
    let bob = try await store.save(Person(id: "bob", name: "Bob"))
    let saw = try await store.save(Saw(id: "saw", owner: Reference(ann), users: [Reference(bob)]))
    let query = try ModelQuery(Saw.self, where: { $0.id == "saw" }).including(\.owner).including(\.users)
    var updates = store.live(query).makeAsyncIterator()
    let update = try #require(try await updates.next())
    #expect(try update.linked(\.owner)[saw.owner]?.name == "Ann")
    #expect(try update.linked(\.users).map { $0.value.name } == ["Bob"])
    let saws = LiveResults(store.live(query), immediately: true)
    #expect(try saws.linked(\.owner)[saw.owner]?.name == "Ann" && saws.linked(\.users).count == 1)
  }

  @Test func `a property that the query does not include is an error`() async throws {
    try await withTemporaryDatastore { store in
      try await store.save(Tool(id: "axe", title: "Axe", owner: "ann"))
      let query = try ModelQuery(Tool.self, where: { $0.title > "" }).including(\.owner, as: Person.self)
      var updates = store.live(query).makeAsyncIterator()
      let update = try #require(try await updates.next())
      let error = #expect(throws: QueryError.self) { try update.linked(\.users, as: Person.self) }
      #expect(
        error?.message
          == #"the query does not include the documents of "users"; make it with including(_:as:) of this property"#
      )
    }
  }

  @Test func `a result that is not a model is left out, and named`() async throws {
    try await withTemporaryDatastore { store in
      try await store.createDocument(from: DocumentDraft(id: "bad", body: ["title": "Bad", "owner": 5]))
      try await store.save(Tool(id: "axe", title: "Axe", owner: "ann"))
      let query = try ModelQuery(Tool.self, where: { $0.title > "" }).including(\.owner, as: Person.self)
      var updates = store.live(query).makeAsyncIterator()
      let update = try #require(try await updates.next())
      #expect(update.results.map(\.id) == ["axe"] && update.undecodable.map(\.documentID) == ["bad"])
    }
  }

  @Test func `a linked document that is not a model is an error, or left out`() async throws {
    try await withTemporaryDatastore { store in
      try await store.createDocument(from: DocumentDraft(id: "ann", body: ["name": 5]))
      try await store.save(Tool(id: "axe", title: "Axe", owner: "ann"))
      let query = try ModelQuery(Tool.self, where: { $0.title > "" }).including(\.owner, as: Person.self)
      var updates = store.live(query).makeAsyncIterator()
      let update = try #require(try await updates.next())
      let error = #expect(throws: DatastoreError.self) { try update.linked(\.owner, as: Person.self) }
      #expect(error?.documentID == "ann")
      var errors: [DatastoreError] = []
      let people = try update.linked(\.owner, as: Person.self) { errors.append($0) }
      #expect(people.count == 0 && errors.map(\.documentID) == ["ann"])
    }
  }

  @MainActor @Test func `results for a view have the linked models`() async throws {
    let manager = try DatastoreManager.inMemory()
    defer { manager.close() }
    let store = try await manager.datastore(named: "store")
    try await store.save(Person(id: "ann", name: "Ann"))
    try await store.save(Tool(id: "axe", title: "Axe", owner: "ann"))
    let query = try ModelQuery(Tool.self, where: { $0.title > "" }).including(\.owner, as: Person.self)
    #expect(try LiveResults(store.live(query)).linked(\.owner, as: Person.self).count == 0)
    let tools = LiveResults(store.live(query), immediately: true)
    let owners = try tools.linked(\.owner, as: Person.self)
    #expect(tools.results.map(\.title) == ["Axe"] && owners["ann"]?.name == "Ann")
  }
}
