import CDTQuery
import CDTTestSupport
import Foundation
import Testing

/// The examples in the comments of what takes models, each as it stands there.
@Suite(.timeLimit(.usual)) struct CommentExampleTests {
  enum Kind: String, Codable, CaseIterable { case errand, call }
  struct Owner: Codable, Equatable { var city: String }
  struct Step: Codable, Equatable { var isDone = false }

  struct Task: DocumentModel, Equatable {
    var id = UUID().uuidString
    var revision: RevisionID?
    var title: String
    var kind = Kind.errand
    var due: Date?
    var priority = 3
    var tags: [String] = []
    var steps: [Step] = []
    var isDone = false
    var isUrgent: Bool?
    var owner: Owner?
    var place: String?
    var hours = 1.0
    var number = 0
    var edits = 0
    var postponed = 0
  }

  struct Person: DocumentModel {
    var id = UUID()
    var revision: RevisionID?
    var name: String
  }

  struct Tool: DocumentModel {
    var id = UUID()
    var revision: RevisionID?
    var name: String
    var owner: Reference<Person>?
    var users: [Reference<Person>] = []
    var helperID: String?
  }

  private static func withTasks(_ body: (Datastore) throws -> Void) throws {
    try withTemporaryDatastore { store in
      try store.save([
        Task(
          id: "milk", title: "Buy milk", due: .distantPast, priority: 5, tags: ["home", "shop"],
          owner: Owner(city: "Bern"), hours: 2, number: 1),
        Task(id: "bread", title: "Bake bread", priority: 1, isDone: true, place: "home", number: 2),
      ])
      try body(store)
    }
  }

  @Test func `models, keys and references`() throws {
    try withTemporaryDatastore { store in
      struct Task: DocumentModel {
        var id = UUID()
        var revision: RevisionID?
        var title: String
        var due: Date?
      }

      var task = try store.save(Task(title: "Buy milk"))
      task.due = .now
      task = try store.save(task)
      #expect(task.revision?.generation == 2)
    }
    try withTemporaryDatastore { store in
      struct ISBN: RawRepresentable, DocumentKey { let rawValue: String }
      struct Book: DocumentModel {
        var id: ISBN
        var revision: RevisionID?
        var title: String
      }
      let book = try store.save(Book(id: ISBN(rawValue: "978-3"), title: "Soups"))
      #expect(try store.document(withID: "978-3").body == ["title": "Soups"] && book.revision != nil)

      struct Week: DocumentKey {
        var year: Int, number: Int
        var documentID: String { "\(year)-\(number)" }
        static func key(documentID: String) -> Week? {
          let parts = documentID.split(separator: "-").compactMap { Int($0) }
          return parts.count == 2 ? Week(year: parts[0], number: parts[1]) : nil
        }
      }
      struct Plan: DocumentModel {
        var id: Week
        var revision: RevisionID?
      }
      try store.save(Plan(id: Week(year: 2026, number: 48)))
      #expect(try store.document(withID: Week(year: 2026, number: 48), as: Plan.self).id.number == 48)
    }
    try withTemporaryDatastore { store in
      struct Person: DocumentModel {
        var id = UUID()
        var revision: RevisionID?
        var name: String
      }
      struct Tool: DocumentModel {
        var id = UUID()
        var revision: RevisionID?
        var name: String
        var owner: Reference<Person>?
      }
      let anna = try store.save(Person(name: "Anna"))
      try store.save(Tool(name: "Saw", owner: Reference(anna)))
      let tools = try store.find(Tool.self) { $0.owner == Reference(anna) }
      #expect(tools.map(\.name) == ["Saw"])
    }
  }

  @Test func `reading and saving`() throws {
    try Self.withTasks { store in
      do {
        let milk = try store.document(withID: "milk").decode(Task.self)
        #expect(milk.title == "Buy milk")
      }
      let milk = try store.document(withID: "milk", as: Task.self)
      var task = milk
      task = try store.save(task)
      task = try store.save(task) { stored, mine in stored.isDone ? stored : mine }
      #expect(task == milk)
      let saved = try store.save([Task(title: "Buy milk"), Task(title: "Bake bread")])
      #expect(saved.allSatisfy { $0.revision != nil })
      let arrival = try store.read { try $0.arrival(of: $0.document(withID: "milk")) }
      #expect(arrival != nil && arrival?.user == nil)
      try store.delete(milk)
    }
  }

  @Test func `conflicts`() throws {
    try Self.withTasks { store in
      func conflict(_ name: String) throws {
        var mine = try store.document(withID: "milk", as: Task.self)
        let base = try #require(mine.revision)
        let rival = try #require(RevisionID("\(base.generation + 1)-"))
        var theirs = try store.document(withID: "milk").body
        theirs["title"] = .string(name)
        mine.priority += 1
        try store.save(mine)
        let revision = DocumentRevision(id: "milk", revisionID: rival, body: theirs)
        try store.write { try $0.forceInsert(revision, history: [rival, base]) }
      }
      try conflict("Buy oat milk")
      try store.write { transaction in
        try transaction.resolveConflicts(Task.self) { versions in versions.max { $0.priority < $1.priority } }
      }
      #expect(try store.document(withID: "milk", as: Task.self).title == "Buy milk")
      try conflict("Buy soy milk")
      try store.write { transaction in
        try transaction.resolveConflicts(Task.self) { versions, base in try versions.merged(since: base) }
      }
      #expect(try store.document(withID: "milk", as: Task.self).title == "Buy soy milk")
      try conflict("Buy rice milk")
      try store.write { transaction in
        for left in try transaction.resolveConflicts(Task.self, by: .fields(arrays: ["tags": .set])) {
          print(left.documentID, left.conflicts.map(\.path))
        }
      }
      #expect(try store.document(withID: "milk", as: Task.self).title == "Buy rice milk")
      #expect(try store.read { try $0.conflictedDocumentIDs() } == [])
    }
  }

  @Test func `differences of revisions`() throws {
    try withTemporaryDatastore { store in
      let stored = try store.createDocument(from: DocumentDraft(body: ["title": "Milk"]))
      let changed = try store.updateDocument(withID: stored.id) { $0.body["title"] = "Oat milk" }
      print(changed.differences(from: stored).map(\.json.text))
      for field in changed.differences(from: stored) {
        print(field.path, field.old ?? .null, field.new ?? .null)
      }
      let expected = [#"{"path":"title","old":"Milk","new":"Oat milk"}"#]
      #expect(changed.differences(from: stored).map(\.json.text) == expected)
    }
  }

  @Test func `finding and counting`() throws {
    try Self.withTasks { store in
      let open = try store.find(
        Task.self, where: { !$0.isDone && $0.priority > 3 }, sort: \.due.descending)
      let all = try store.find(Task.self, sort: \.title.ascending, limit: 10)
      #expect(open.map(\.id) == ["milk"] && all.map(\.id) == ["bread", "milk"])
      let tasks = try store.read { try $0.find(ModelQuery(Task.self)) { print($0.message) } }
      let count = try store.count(Task.self, where: { !$0.isDone })
      #expect(tasks.count == 2 && count == 1)
      let urgent = try store.find(
        Task.self, where: { $0.priority > 3 && $0.tags.contains("home") }, sort: \.due.descending)
      let nearby = try store.find(Task.self) { $0.owner.city == "Bern" && !$0.isDone }
      #expect(urgent.map(\.id) == ["milk"] && nearby.map(\.id) == ["milk"])
      do {
        let query = try ModelQuery(
          Task.self, where: { $0.priority > 3 }, sort: \.due.descending, limit: 10)
        print(query)
        let tasks = try store.read { try $0.find(query) }
        let json = #"{"selector":{"priority":{"$gt":3}},"sort":[{"due":"desc"}],"limit":10}"#
        #expect(query.description == json && tasks.count == 1)
      }
      func due(before date: Date, tag: String?) throws -> ModelQuery<Task> {
        try ModelQuery { task in
          let isDue = !task.isDone && task.due < date
          return if let tag { isDue && task.tags.contains(tag) } else { isDue }
        }
      }
      #expect(try store.read { try $0.find(due(before: .now, tag: "shop")) }.map(\.id) == ["milk"])
      try store.write { transaction in
        for task in try transaction.find(Task.self, where: { $0.isDone }) { try transaction.delete(task) }
      }
      #expect(try store.find(Task.self).map(\.id) == ["milk"])
    }
  }

  @Test func `conditions`() throws {
    try Self.withTasks { store in
      func expect(_ tasks: [Task], _ ids: [String], at line: Int = #line) {
        #expect(tasks.map(\.id).sorted() == ids, "line \(line)")
      }
      do {
        let tasks = try store.find(Task.self) {
          $0.place == "home" || $0.owner == nil || $0.due != nil
        }
        expect(tasks, ["bread", "milk"])
      }
      do {
        let tasks = try store.find(Task.self) {
          ($0.due ?? .distantFuture) > .now && !($0.isUrgent ?? false)
        }
        expect(tasks, ["bread"])
      }
      do {
        let tasks = try store.find(Task.self) {
          $0.title.hasPrefix("Buy") || $0.title.hasSuffix("!") || $0.title.isEmpty
        }
        expect(tasks, ["milk"])
      }
      do {
        let tasks = try store.find(Task.self) { $0.title.contains("milk") }
        expect(tasks, ["milk"])
      }
      do {
        let tasks = try store.find(Task.self) { $0.kind.rawValue == "errand" }
        expect(tasks, ["bread", "milk"])
      }
      do {
        let tasks = try store.find(Task.self) { ["home", "shop"].contains($0.place) }
        expect(tasks, ["bread"])
      }
      do {
        let tasks = try store.find(Task.self) {
          (1...3).contains($0.priority) && (..<Date.now).contains($0.due)
        }
        expect(tasks, [])
      }
      do {
        let tasks = try store.find(Task.self) { $0.tags.contains("home") }
        expect(tasks, ["milk"])
      }
      do {
        let tasks = try store.find(Task.self) { $0.tags.contains("home") == false }
        expect(tasks, ["bread"])
      }
      do {
        let tasks = try store.find(Task.self) { $0.steps.allSatisfy { $0.isDone } }
        expect(tasks, ["bread", "milk"])
      }
      do {
        let tasks = try store.find(Task.self) { $0.tags.isEmpty || $0.steps.count > 2 }
        expect(tasks, ["bread"])
      }
      do {
        let tasks = try store.find(Task.self) { $0.tags.first == "home" && $0.tags[1] == "shop" }
        expect(tasks, ["milk"])
      }
    }
  }

  @Test func `indexes, groups and distinct values`() throws {
    try Self.withTasks { store in
      try store.ensureIndexed(Task.self, \.title, \.due.descending)
      try store.ensureIndexed(Task.self, \.number, options: .unique, where: { !$0.isDone })
      try store.ensureIndexed(Task.self, \.owner.city, summing: \.hours)
      #expect(try store.listIndexes().count == 3)
      do {
        struct CityRow: Decodable { var city: String?, tasks: Int, hours: Double }
        let rows = try store.group(
          Task.self, by: \.owner.city, .count(as: \.tasks), .sum(\.hours, as: \.hours), as: CityRow.self,
          where: { !$0.isDone }, having: { $0.tasks > 1 }, sort: \.hours.descending, limit: 10)
        #expect(rows.isEmpty)
      }
      do {
        struct PlaceRow: Decodable {
          var city: String?, isDone: Bool, tasks: Int, mean: Double?, first: Date?, last: Date?
        }
        let rows = try store.group(
          Task.self, by: \.owner.city, .and(\.isDone), .count(as: \.tasks), .average(\.hours, as: \.mean),
          .minimum(\.due, as: \.first), .maximum(\.due, as: \.last), as: PlaceRow.self)
        #expect(rows.map(\.isDone) == [true, false] && rows.last?.first == .distantPast)
      }
      let cities = try store.distinct(Task.self, \.owner.city, where: { !$0.isDone })
      let tags = try store.distinct(Task.self, \.tags)
      #expect(cities == ["Bern"] && tags == ["home", "shop"])
    }
  }

  @Test func `changing many`() throws {
    try Self.withTasks { store in
      try store.update(
        Task.self, where: { $0.isDone }, .set(\.due, nil), .increment(\.edits), .append(\.tags, "archived"))
      try store.update(
        Task.self, where: { $0.tags.contains("x") }, .remove(\.tags, "x"),
        .apply { $0.owner?.city = "Bern" })
      try store.update(
        Task.self, where: { $0.place == nil }, .rename(from: "location", to: \.place))
      do {
        let count = try store.update(
          Task.self, where: { $0.due < .now }, .set(\.due, nil), .increment(\.postponed))
        try store.update(Task.self, where: { $0.id == "milk" }, .apply { $0.isDone.toggle() })
        #expect(count == 1)
      }
      #expect(try store.document(withID: "bread", as: Task.self).tags == ["archived"])
      let count = try store.delete(Task.self, where: { $0.isDone })
      #expect(count == 2)
      try store.createDocument(from: DocumentDraft(id: "ann", body: ["name": "Ann Lee"]))
      try store.migrate("2026-11-split-name", matching: ["name": ["$type": "string"]]) { person in
        let words = (person.body["name"]?.stringValue ?? "").split(separator: " ", maxSplits: 1)
        person.body["first"] = .string("\(words.first ?? "")")
        person.body["last"] = .string("\(words.dropFirst().first ?? "")")
        person.body["name"] = nil
      }
      #expect(try store.document(withID: "ann").body == ["first": "Ann", "last": "Lee"])
    }
  }

  @MainActor @Test func `linked models`() async throws {
    let manager = try DatastoreManager.inMemory()
    defer { manager.close() }
    let store = try await manager.datastore(named: "store")
    let anna = try await store.save(Person(name: "Anna"))
    let tool = Tool(
      name: "Saw", owner: Reference(anna), users: [Reference(anna)], helperID: anna.id.uuidString)
    try await store.save(tool)
    try Self.read(store, anna)
    let query = try ModelQuery(Tool.self, where: { $0.owner != nil }, sort: \.name.ascending).including(
      \.owner)
    let tools = LiveResults(store.live(query), immediately: true)
    let people = try tools.linked(\.owner)
    #expect(people.map { $0.value.name } == ["Anna"])
    var helpers = store.live(
      try ModelQuery(Tool.self, where: { $0.owner != nil }).including(\.helperID, as: Person.self)
    )
    .makeAsyncIterator()
    let update = try #require(try await helpers.next())
    do {
      let people = try update.linked(\.helperID, as: Person.self)
      #expect(people[anna.id]?.name == "Anna")
      for error in update.undecodable { print(error.documentID ?? "", error.message) }
    }
  }

  private static func read(_ store: Datastore, _ anna: Person) throws {
    let query = try ModelQuery(Tool.self, where: { $0.name == "Saw" }).including(\.owner)
    let (tools, people) = try store.read { try $0.find(query) }
    for tool in tools { print(tool.name, people[tool.owner]?.name ?? "nobody") }

    let more = try ModelQuery(Tool.self, where: { $0.owner != nil }).including(\.owner).including(\.users)
    let (all, owners, users) = try store.read { try $0.find(more) }
    #expect(tools.count == 1 && all.count == 1 && people.count == 1 && owners.count == 1 && users.count == 1)
    do {
      let query = try ModelQuery(Tool.self, where: { $0.owner != nil }).including(\.owner)
      let (tools, people) = try store.read { try $0.find(query) }
      for tool in tools { print(people[tool.owner]?.name ?? people[anna.id]?.name ?? "nobody") }
    }
  }

  @Test func `live queries`() async throws {
    try await withTemporaryDatastore { store in
      let name = "Ann"
      let tasks: [@Sendable () async throws -> Void] = [
        {
          for try await update in try store.live(Task.self, where: { !$0.isDone }, sort: \.due.ascending) {
            print(update.results.map(\.title))
          }
        },
        {
          let urgent = try ModelQuery(
            Task.self, where: { $0.priority > 3 }, sort: \.due.ascending, limit: 5)
          for try await update in store.live(urgent) { print(update.results.map(\.title)) }
        },
        {
          let query = try ModelQuery(Tool.self, where: { $0.owner != nil }, sort: \.name.ascending).including(
            \.owner)
          for try await update in store.live(query) {
            let people = try update.linked(\.owner)
            for tool in update.results { print(tool.name, people[tool.owner]?.name ?? "nobody") }
          }
        },
        {
          for try await update in store.live(try Query(["done": false], sort: ["due"])) {
            print(update.results.map(\.id), update.difference)
          }
        },
        {
          for try await update in try store.live(
            ["owner": name], limit: 20, sort: [.descending("due")])
          {
            print(update.results.map(\.id))
          }
        },
      ]
      let observers = tasks.map { observe in _Concurrency.Task { try await observe() } }
      try await store.save(Task(title: "Buy milk"))
      for observer in observers {
        observer.cancel()
        try await observer.value
      }
    }
  }

  @Test func `users`() async throws {
    let user: UserContext? = UserContext(name: "anna", roles: ["sales"])
    let rules = user.map { RuleEnforcement.enforced(as: $0) } ?? .notEnforced
    do {
      var options = DatastoreOptions()
      options.rules = .enforced(as: UserContext(name: "anna", roles: ["sales"]))
      options.rules = .enforced(as: .anonymous)
    }
    do {
      var options = DatastoreOptions()
      options.rules = .enforced(as: UserContext(name: "anna"))
    }
    let manager = try DatastoreManager.inMemory(options: DatastoreOptions(rules: rules))
    defer { manager.close() }
    let store = try await manager.datastore(named: "store")
    let observer = _Concurrency.Task {
      do {
        for try await changes in store.liveChanges() { print(changes.documents.map(\.id)) }
      } catch let error as DatastoreError where error.code == .userChanged {
        print("another user has logged in: begin again")
      }
    }
    manager.rules = .enforced(as: UserContext(name: "anna"))
    manager.rules = .enforced(as: .anonymous)
    observer.cancel()
    try await observer.value
  }

  static let files = [
    "Store/CDTDatastore/Documents/DocumentModel.swift", "Store/CDTDatastore/Documents/DocumentKey.swift",
    "Store/CDTDatastore/Documents/Reference.swift", "Store/CDTDatastore/Documents/Datastore+Models.swift",
    "Store/CDTDatastore/Documents/FieldDifference.swift", "Store/CDTDatastore/Rules/UserContext.swift",
    "Store/CDTDatastore/Changes/Arrivals.swift", "Store/CDTDatastore/DatastoreError.swift",
    "Query/CDTRules/EnforcedRules.swift", "Query/CDTQuery/Changes/Datastore+Migration.swift",
    "Query/CDTQuery/Find/Linked.swift", "Query/CDTQuery/Live/LiveQuery.swift",
    "Query/CDTQuery/Live/LiveUpdate+Linked.swift", "Query/CDTQuery/Models/Datastore+ModelGroups.swift",
    "Query/CDTQuery/Models/Datastore+Models.swift", "Query/CDTQuery/Models/GroupColumn.swift",
    "Query/CDTQuery/Models/IncludingQuery.swift", "Query/CDTQuery/Models/IndexedProperty.swift",
    "Query/CDTQuery/Models/ModelChange.swift", "Query/CDTQuery/Models/ModelField+Conditions.swift",
    "Query/CDTQuery/Models/ModelField+Elements.swift", "Query/CDTQuery/Models/ModelField.swift",
    "Query/CDTQuery/Models/ModelQuery.swift", "Query/CDTQuery/Models/QueryCondition.swift",
  ]

  @Test(arguments: files) func `every example in the comments is code of this file`(_ file: String) throws {
    try expectExamples(ofComments: file, in: #filePath)
  }
}
