import CDTDatastore
import CDTQuery
import CDTTestSupport
import Foundation
import Testing

/// The examples of `docs/live.md`, each as it stands there.
@Suite(.timeLimit(.usual)) struct LiveGuideTests {
  struct Errand: DocumentModel {
    var id = UUID().uuidString
    var revision: RevisionID?
    var title: String
    var due: Date?
    var isDone = false
  }

  @Test func `a loop shows the results`() async throws {
    try await withTemporaryDatastore { store in
      var milk = try await store.save(Errand(id: "milk", title: "Buy milk"))
      milk.isDone = true
      let done = milk
      var shown: [[String]] = []
      func show(_ titles: [String]) {
        shown.append(titles)
        if !titles.isEmpty { Task { try await store.save(done) } }
      }
      for try await update in try store.live(
        Errand.self, where: { !$0.isDone }, sort: \.due.ascending, limit: 20)
      {
        show(update.results.map(\.title))
        if update.results.isEmpty { break }  // all is done
      }
      #expect(shown == [["Buy milk"], []])
    }
  }

  @Test func `documents by a selector or a query`() async throws {
    try await withTemporaryDatastore { store in
      try await store.createDocument(
        from: DocumentDraft(id: "a", body: ["owner": "Mia", "done": false, "created": 1]))
      let owner = "Mia"
      let mine = try store.live(["owner": owner, "done": false], sort: ["due"])
      let newest = store.live(try Query([:], limit: 5, sort: [.descending("created")]))
      for live in [mine, newest] {
        var iterator = live.makeAsyncIterator()
        #expect(try await iterator.next()?.results.map(\.id) == ["a"])
      }
    }
  }

  @Test func `linked documents follow`() async throws {
    try await withTemporaryDatastore { store in
      try await store.createDocument(from: DocumentDraft(id: "a", body: ["owner": "ann", "done": false]))
      var shown: [[String]] = []
      func show(_ names: [String]) {
        shown.append(names)
        let isSecond = shown.count == 2
        Task {
          if isSecond {
            try await store.deleteDocument(withID: "a")
          } else {
            _ = try? await store.createDocument(from: DocumentDraft(id: "ann", body: ["name": "Ann"]))
          }
        }
      }
      let owned = try Query(["done": false], sort: ["due"], include: ["owner": "owner"])
      for try await update in store.live(owned) {
        let owners = update.included["owner"]
        show(
          update.results.map {
            owners?[$0.body["owner"]?.stringValue ?? ""]?.body["name"]?.stringValue ?? "nobody"
          })
        if update.results.isEmpty { break }
      }
      #expect(shown == [["nobody"], ["Ann"], []])
    }
  }

  struct Person: DocumentModel {
    var id = UUID().uuidString
    var revision: RevisionID?
    var name: String
  }

  struct Tool: DocumentModel {
    var id = UUID().uuidString
    var revision: RevisionID?
    var title: String
    var owner: Reference<Person>?
  }

  @Test func `linked models follow`() async throws {
    try await withTemporaryDatastore { store in
      try await store.save(Tool(title: "Axe", owner: Reference(id: "ann")))
      var shown: [[String]] = []
      func show(_ lines: [String]) {
        shown.append(lines)
        let isSecond = shown.count == 2
        Task {
          if isSecond {
            try await store.delete(Tool.self, where: { _ in .all })
          } else {
            _ = try? await store.save(Person(id: "ann", name: "Ann"))
          }
        }
      }
      let tools = try ModelQuery(Tool.self, where: { $0.title != nil }, sort: \.title.ascending)
        .including(\.owner)
      for try await update in store.live(tools) {
        let people = try update.linked(\.owner)
        show(update.results.map { "\($0.title): \(people[$0.owner]?.name ?? "nobody")" })
        if update.results.isEmpty { break }
      }
      #expect(shown == [["Axe: nobody"], ["Axe: Ann"], []])
    }
  }

  @Test func `differences change a list`() async throws {
    func apply(_ update: LiveUpdate<Errand>, to list: inout [Errand]) {
      let difference = update.difference
      let removed = difference.removals + difference.moves.map(\.from)
      for position in removed.sorted(by: >) { list.remove(at: position) }
      let inserted = difference.insertions + difference.moves.map(\.to)
      for position in inserted.sorted() { list.insert(update.results[position], at: position) }
      for position in difference.updates { list[position] = update.results[position] }
    }
    try await withTemporaryDatastore { store in
      var (list, live) = (
        [Errand](), try store.live(Errand.self, sort: \.title.ascending).makeAsyncIterator()
      )
      func follow() async throws {
        let update = try #require(try await live.next())
        apply(update, to: &list)
        #expect(list.map(\.revision) == update.results.map(\.revision))
      }
      try await follow()
      let saved = try await store.write { transaction in
        try ["c", "a", "b"].map { try transaction.save(Errand(id: $0, title: $0)) }
      }
      try await follow()
      try await store.write { transaction in
        var moved = saved[1]
        moved.title = "z"
        try transaction.save(moved)
        try transaction.deleteDocument(withID: "b")
      }
      try await follow()
      #expect(list.map(\.title) == ["c", "z"])
    }
  }

  @Test func `an object for a view`() async throws {
    try await withTemporaryDatastore { store in
      try await store.save(Errand(title: "Buy milk"))
      try await Self.view(store)
    }
  }

  @Test func `a list that is drawn with its rows`() async throws {
    try await withTemporaryDatastore { store in
      try await store.save(Errand(title: "Buy milk"))
      try await Self.fullView(store)
    }
  }

  @MainActor private static func fullView(_ store: Datastore) async throws {
    let list = LiveResults(try store.live(Errand.self, sort: \.title.ascending), immediately: true)
    #expect(list.results.map(\.title) == ["Buy milk"] && list.difference == nil)
    try await store.save(Errand(title: "Go home"))
    try await eventually("the second errand is shown") { list.results.count == 2 }
    var query = try Query([:], limit: 1)
    query.bookmark = try await store.page(query).bookmark
    let second = LiveResults(store.live(query), immediately: true)
    #expect(second.results.count == 1 && second.error == nil)
    query.useIndex = "none"
    #expect(LiveResults(store.live(query), immediately: true).error is QueryError)
  }

  @Test func `a loop shows what can't be decoded`() async throws {
    try await withTemporaryDatastore { store in
      try await store.save(Errand(title: "Buy milk"))
      try await store.createDocument(from: DocumentDraft(id: "bad", body: ["title": 5]))
      var (shown, skipped): ([[String]], [String?]) = ([], [])
      func show(_ titles: [String]) { shown.append(titles) }
      func report(_ error: DatastoreError) { skipped.append(error.documentID) }
      for try await update in try store.live(Errand.self, sort: \.title.ascending) {
        show(update.results.map(\.title))
        update.undecodable.forEach(report)
        break
      }
      #expect(shown == [["Buy milk"]] && skipped == ["bad"])
      let strict = try store.live(
        Errand.self, sort: \.title.ascending, undecodable: { throw $0 })
      await #expect(throws: DatastoreError.self) { for try await _ in strict {} }
    }
  }

  @MainActor private static func view(_ store: Datastore) async throws {
    @MainActor func makeList(_ store: Datastore) throws -> LiveResults<Errand> {
      LiveResults(try store.live(Errand.self, where: { !$0.isDone }, sort: \.title.ascending))
    }
    let list = try makeList(store)
    try await eventually("the list has its first results") { list.difference != nil }
    #expect(list.results.map(\.title) == ["Buy milk"])
  }

  /// The views are compiled by `CompiledPageTests`.
  @Test func `the examples of the page are these`() throws {
    try expectExamples(of: "live.md", in: #filePath, atLeast: 4) { !$0.contains("some View") }
  }
}
