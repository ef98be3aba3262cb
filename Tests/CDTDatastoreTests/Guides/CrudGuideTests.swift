import CDTDatastore
import CDTQuery
import CDTTestSupport
import Foundation
import Testing

/// The examples of `docs/crud.md`, each as it stands there.
@Suite struct CrudGuideTests {
  @Test func managers() throws {
    try withTemporaryDirectory { path in
      let manager = try DatastoreManager(directory: "\(path)/stores")
      let tasks = try manager.datastore(named: "tasks")

      #expect(tasks.name == "tasks")
      #expect(try manager.datastoreNames() == ["tasks"])
      try manager.closeDatastore(named: "tasks")  // releases its files
      try manager.deleteDatastore(named: "tasks")  // removes documents, attachments and indexes

      #expect(datastoreError { try tasks.read { try $0.documentCount() } }?.code == .closed)
      #expect(try manager.datastoreNames() == [])
    }
  }

  @Test func `a store is read after suspending and resuming its manager or itself`() throws {
    let manager = try DatastoreManager.inMemory()
    let store = try manager.datastore(named: "tasks")
    manager.suspend()  // when the app goes to the background
    manager.resume()  // when it comes back
    #expect(try store.read { try $0.documentCount() } == 0)
    // The example of the methods of a datastore.
    store.suspend()  // applicationDidEnterBackground
    store.resume()  // applicationWillEnterForeground
    #expect(try store.read { try $0.documentCount() } == 0)
  }

  @Test func `datastores that need not last`() throws {
    let manager = try DatastoreManager.inMemory()
    let tasks = try manager.datastore(named: "tasks")
    #expect(try tasks.read { try $0.documentCount() } == 0)
  }

  @Test func documents() throws {
    try withTemporaryDatastore { tasks in
      let milk = try tasks.createDocument(
        from: DocumentDraft(
          id: "milk",
          body: ["description": "Buy milk", "completed": false, "tags": ["shop", "home"]]))
      try tasks.createDocument(from: DocumentDraft(id: "bread", body: [:]))

      let found = try tasks.document(withID: "milk")
      #expect(found.body["description"] == "Buy milk")
      #expect(found.body["tags"][0] == "shop")
      #expect(found == milk)

      let several = try tasks.documents(withIDs: ["milk", "bread", "water"])
      let living = several.filter { !$0.isDeleted }
      #expect(living.map(\.id) == ["milk", "bread"])

      let all = try tasks.read { try $0.allDocuments() }
      let lastTen = try tasks.read { try $0.allDocuments(offset: 0, limit: 10, descending: true) }
      let ids = try tasks.read { try $0.allDocumentIDs() }
      let count = try tasks.read { try $0.documentCount() }
      #expect(all == lastTen.reversed())
      #expect(ids == ["bread", "milk"])
      #expect(count == 2)

      let shop = "Corner shop"
      var task = try tasks.document(withID: "milk")
      task.body["completed"] = true
      task.body["tags"] = nil  // removes the member; .null would store null
      task.body["shop"]["name"] = shop  // creates the object "shop"
      task = try tasks.updateDocument(from: task)
      #expect(task.revisionID.generation == 2)
      #expect(
        try tasks.document(withID: "milk").body == [
          "description": "Buy milk", "completed": true, "shop": ["name": "Corner shop"],
        ])

      try tasks.updateDocument(withID: "bread") { task in
        task.body["completed"] = true
      }
      #expect(try tasks.document(withID: "bread").body == ["completed": true])
      try tasks.write { try $0.patchDocument(withID: "bread", ["completed": nil, "shop": ["open": true]]) }
      #expect(try tasks.document(withID: "bread").body == ["shop": ["open": true]])

      try tasks.deleteDocument(from: task)  // only if this revision is current
      try tasks.deleteDocument(withID: "bread")  // the current revision and all conflicting revisions
      #expect(try tasks.read { try $0.documentCount() } == 0)
    }
  }

  @Test func json() throws {
    try withTemporaryDatastore { pets in
      let name = "Rex", age = 3, tags = ["red", "small"]
      var rex = try pets.createDocument(
        from: DocumentDraft(id: "rex", body: ["name": name, "age": age, "tags": tags]))
      #expect(rex.body == ["name": "Rex", "age": 3, "tags": ["red", "small"]])

      rex.body = JSONObject(["name": name, "age": age + 1, "owner": ["name": "Mia"]])
      #expect(rex.body == ["name": "Rex", "age": 4, "owner": ["name": "Mia"]])

      rex.body["tags"] = tags
      rex.body["tags"][0] = "blue"
      rex.body["owner"]["address"]["city"] = "Zurich"
      rex.body["owner"]["name"] = nil  // removes the member
      #expect(rex.body["owner"] == ["address": ["city": "Zurich"]])

      let city: String? = rex.body["owner"]["address"]["city"]
      let years = rex.body["age"]?.intValue ?? 0
      let isBlue = rex.body["tags"][0] == "blue"
      #expect(city == "Zurich" && years == 4 && isBlue)

      rex.body["price"] = try JSONValue(parsing: "1.10")
      #expect(rex.body["price"] == 1.1)
      #expect(rex.body["price"]?.text == "1.10")

      enum Size: String, JSONConvertible { case small, large }

      rex.body["size"] = Size.small
      let size: Size? = rex.body["size"]
      #expect(size == .small)
      #expect(try pets.updateDocument(from: rex).body["size"] == "small")
    }
  }

  @Test func `reading one state`() throws {
    try withTemporaryDatastore { tasks in
      for isDone in [true, false] {
        try tasks.createDocument(from: DocumentDraft(body: ["completed": isDone]))
      }
      let (open, total) = try tasks.read { snapshot in
        (try snapshot.count(Query(["completed": false])), try snapshot.documentCount())
      }
      #expect(open == 1 && total == 2)
    }
  }

  @Test func codable() throws {
    struct Reminder: Codable { var due: Date }
    struct Todo: Codable {
      var description: String
      var completed = false
    }

    try withTemporaryDatastore { tasks in
      let saved = try tasks.createDocument(
        from: DocumentDraft(id: "water", encoding: Todo(description: "Water the plants")))
      let todo = try saved.decode(Todo.self)
      #expect(todo.description == "Water the plants")

      try tasks.updateDocument(withID: "water") { document in
        var todo = try document.decode(Todo.self)
        todo.completed = true
        document.body = try JSONObject(encoding: todo)
      }
      #expect(try tasks.document(withID: "water").body["completed"] == true)

      let options = JSONCodingOptions(dates: .secondsSince1970)
      let reminder = try DocumentDraft(
        encoding: Reminder(due: Date(timeIntervalSince1970: 60)), options: options)
      #expect(reminder.body == ["due": 60])
      let due = try reminder.body.decode(Reminder.self, options: options).due
      #expect(due == Date(timeIntervalSince1970: 60))
    }
  }

  @Test func revisions() throws {
    try withTemporaryDatastore { tasks in
      var document = try tasks.createDocument(from: DocumentDraft(id: "a", body: ["hello": "world"]))
      #expect(document.revisionID.description == "1-1f7588ca02054efe626a6e440a431861")
      document.body = ["hi": "mike"]
      document = try tasks.updateDocument(from: document)
      #expect(document.revisionID.description == "2-be2c05cd85b8468ce92b04e001b0e923")

      let history = try tasks.read { try $0.revisionHistory(of: document) }
      #expect(history.map { $0.revisionID.generation } == [2, 1])
      if let first = history.last?.revisionID {
        let then = try tasks.read { try $0.document(withID: "a", revisionID: first) }
        #expect(then.body == ["hello": "world"])
      }

      let arrival = try tasks.read { try $0.arrival(of: history[0]) }
      print(arrival?.user ?? "this app", history[0].differences(from: history[1]).map(\.path))
      #expect(
        arrival?.user == nil && history[0].differences(from: history[1]).map(\.path) == ["hi", "hello"])

      let report = try tasks.compact()
      print(report.revisions, report.attachments, report.bytesFreed)
      let oldest = try tasks.read { try $0.revisionHistory(of: document) }.last
      #expect(oldest?.hasBody == false)
      #expect(report.revisions == 1)
    }
  }

  struct InsufficientFunds: Error {}

  @Test func transactions() async throws {
    let path = try temporaryDirectory()
    defer { removeDirectory(path) }
    var options = DatastoreOptions()
    options.durability = .normal
    options.busyTimeout = .seconds(30)
    let manager = try DatastoreManager(directory: path, options: options)

    let accounts = try await manager.datastore(named: "accounts")
    try await accounts.createDocument(from: DocumentDraft(id: "alice", body: ["balance": 15]))
    try await accounts.createDocument(from: DocumentDraft(id: "bob", body: ["balance": 1]))
    func pay() throws -> Int {
      let remaining = try accounts.write { transaction in
        var from = try transaction.document(withID: "alice")
        var to = try transaction.document(withID: "bob")
        let (alice, bob) = (from.body["balance"]?.intValue ?? 0, to.body["balance"]?.intValue ?? 0)
        guard alice >= 10 else { throw InsufficientFunds() }
        from.body["balance"] = alice - 10
        to.body["balance"] = bob + 10
        try transaction.updateDocument(from: from)
        try transaction.updateDocument(from: to)
        return alice - 10
      }
      return remaining
    }
    #expect(try pay() == 5)
    #expect(throws: InsufficientFunds.self) { try pay() }
    #expect(try await accounts.document(withID: "bob").body == ["balance": 11])

    try await accounts.write { transaction in
      for number in 0..<100 {
        try transaction.createDocument(from: DocumentDraft(body: ["number": number]))
      }
    }
    #expect(try await accounts.read { try $0.documentCount() } == 102)
    try await manager.closeDatastore(named: "accounts")
  }

  @Test func changes() throws {
    try withTemporaryDatastore { tasks in
      var last: Int64 = 0
      try tasks.createDocument(from: DocumentDraft(id: "a", body: [:]))
      let changes = try tasks.changes(since: last)
      for change in changes.documents {
        print(change.sequence, change.id, change.revisionID, change.isDeleted)
      }
      last = changes.lastSequence
      let more = try tasks.changes(since: last, limit: 100)
      #expect(more.documents.isEmpty)
    }
  }

  @Test func localDocuments() throws {
    try withTemporaryDatastore { tasks in
      try tasks.write { try $0.setLocalDocument(["last": 7], withID: "checkpoint") }
      let checkpoint = try tasks.read { try $0.localDocument(withID: "checkpoint") }
      #expect(checkpoint?["last"] == 7)
      try tasks.write { try $0.setLocalDocument(nil, withID: "checkpoint") }  // removed
      #expect(try tasks.read { try $0.localDocument(withID: "checkpoint") } == nil)
    }
  }

  @Test func errors() throws {
    try withTemporaryDatastore { tasks in
      do {
        _ = try tasks.document(withID: "nothing")
      } catch let error as DatastoreError where error.code == .notFound {
        print(error)  // there is no document "nothing"; check the id, or create it
      }
      #expect(
        datastoreError { try tasks.document(withID: "nothing") }?.message
          == #"there is no document "nothing"; check the id, or create it"#)
    }
  }

  @Test func `every example of the page is code of this file`() throws {
    try expectExamples(of: "crud.md", in: #filePath, atLeast: 24)
  }

  @Test func `every code of an error is in the page with its status`() throws {
    let page = try Repository.page("crud.md")
    for each in DocumentErrorTests.statuses {
      #expect(page.contains("| `.\(each.code)` | \(each.status) |"))
    }
  }
}
