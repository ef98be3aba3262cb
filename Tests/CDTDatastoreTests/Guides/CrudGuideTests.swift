import CDTDatastore
import Foundation
import JSON
import TestSupport
import Testing

/// The examples of `docs/crud.md`, each as it stands there.
@Suite struct CrudGuideTests {
  @Test func managers() throws {
    try withTemporaryDirectory { path in
      let manager = try DatastoreManager(directory: "\(path)/stores")
      let tasks = try manager.datastore(named: "tasks")

      #expect(tasks.name == "tasks")
      #expect(try manager.datastoreNames() == ["tasks"])
      manager.closeDatastore(named: "tasks")  // releases its files; the object throws .closed from now on
      try manager.deleteDatastore(named: "tasks")  // with its attachments and indexes

      #expect(datastoreError { try tasks.documentCount }?.code == .closed)
      #expect(try manager.datastoreNames() == [])
    }
  }

  @Test func documents() throws {
    try withTemporaryDatastore { tasks in
      let milk = try tasks.createDocument(
        from: DocumentRevision(
          id: "milk",
          body: ["description": "Buy milk", "completed": false, "tags": ["shop", "home"]]))
      try tasks.createDocument(from: DocumentRevision(id: "bread", body: [:]))

      let found = try tasks.document(withID: "milk")
      #expect(found.body["description"] == "Buy milk")
      #expect(found.body["tags"]?[0] == "shop")
      #expect(found == milk)

      var bare = DocumentRevision(id: "bare")
      #expect(bare.body == [:] && !bare.hasBody)
      bare.body = [:]
      #expect(bare.hasBody)

      let several = try tasks.documents(withIDs: ["milk", "bread", "water"])
      let living = several.filter { !$0.isDeleted }
      #expect(living.map(\.id) == ["milk", "bread"])

      let all = try tasks.allDocuments()
      let lastTen = try tasks.allDocuments(offset: 0, limit: 10, descending: true)
      let ids = try tasks.allDocumentIDs()
      let count = try tasks.documentCount
      #expect(all == lastTen.reversed())
      #expect(ids == ["bread", "milk"])
      #expect(count == 2)

      var task = try tasks.document(withID: "milk")
      task.body["completed"] = true
      task.body["tags"] = nil  // removes the member; .null would be a value
      task = try tasks.updateDocument(from: task)
      #expect(task.revision?.generation == 2)
      #expect(try tasks.document(withID: "milk").body == ["description": "Buy milk", "completed": true])

      try tasks.updateDocument(withID: "bread") { task in
        task.body["completed"] = true
      }
      #expect(try tasks.document(withID: "bread").body == ["completed": true])

      try tasks.deleteDocument(from: task)  // only if it is still current
      try tasks.deleteDocument(withID: "bread")  // whatever it is by now, conflicts too
      #expect(try tasks.documentCount == 0)
    }
  }

  @Test func codable() throws {
    struct Task: Codable {
      var description: String
      var completed = false
    }

    try withTemporaryDatastore { tasks in
      let saved = try tasks.createDocument(
        from: DocumentRevision(id: "water", encoding: Task(description: "Water the plants")))
      let task = try saved.decode(Task.self)
      #expect(task.description == "Water the plants")

      try tasks.updateDocument(withID: "water") { document in
        var task = try document.decode(Task.self)
        task.completed = true
        document.body = try JSONObject(encoding: task)
      }
      #expect(try tasks.document(withID: "water").body["completed"] == true)
    }
  }

  @Test func revisions() throws {
    try withTemporaryDatastore { tasks in
      var document = try tasks.createDocument(from: DocumentRevision(id: "a", body: ["hello": "world"]))
      #expect(document.revision?.description == "1-1f7588ca02054efe626a6e440a431861")
      document.body = ["hi": "mike"]
      document = try tasks.updateDocument(from: document)
      #expect(document.revision?.description == "2-be2c05cd85b8468ce92b04e001b0e923")

      let history = try tasks.revisionHistory(of: document)
      #expect(history.map { $0.revision?.generation } == [2, 1])
      if let first = history.last?.revision {
        let then = try tasks.document(withID: "a", revision: first)
        #expect(then.body == ["hello": "world"])
      }

      let report = try tasks.compact()
      print(report.revisions, report.attachments, report.bytesFreed)
      let oldest = try tasks.revisionHistory(of: document).last
      #expect(oldest?.hasBody == false)
      #expect(report.revisions == 1)
    }
  }

  struct NotEnough: Error {}

  @Test func transactions() async throws {
    let path = try temporaryDirectory()
    defer { removeDirectory(path) }
    var options = DatastoreOptions()
    options.durability = .normal
    options.busyTimeout = .seconds(30)
    let manager = try DatastoreManager(directory: path, options: options)

    let accounts = try manager.datastore(named: "accounts")
    try accounts.createDocument(from: DocumentRevision(id: "alice", body: ["balance": 15]))
    try accounts.createDocument(from: DocumentRevision(id: "bob", body: ["balance": 1]))
    func pay() throws -> Int64 {
      let total = try accounts.write { transaction in
        var from = try transaction.document(withID: "alice")
        var to = try transaction.document(withID: "bob")
        let (has, had) = (from.body["balance"]?.intValue ?? 0, to.body["balance"]?.intValue ?? 0)
        guard has >= 10 else { throw NotEnough() }
        from.body["balance"] = .int(has - 10)
        to.body["balance"] = .int(had + 10)
        try transaction.updateDocument(from: from)
        try transaction.updateDocument(from: to)
        return has - 10
      }
      return total
    }
    #expect(try pay() == 5)
    #expect(throws: NotEnough.self) { try pay() }
    #expect(try accounts.document(withID: "bob").body == ["balance": 11])

    try await accounts.write { transaction in
      for number in 0..<100 {
        try transaction.createDocument(from: DocumentRevision(body: ["number": .int(Int64(number))]))
      }
    }
    #expect(try accounts.documentCount == 102)
    manager.closeDatastore(named: "accounts")
  }

  @Test func changes() throws {
    try withTemporaryDatastore { tasks in
      var last: Int64 = 0
      try tasks.createDocument(from: DocumentRevision(id: "a", body: [:]))
      let changes = try tasks.changes(since: last)
      for change in changes.documents {
        print(change.sequence, change.id, change.revision, change.isDeleted)
      }
      last = changes.lastSequence
      let more = try tasks.changes(since: last, limit: 100)
      #expect(more.documents.isEmpty)
    }
  }

  @Test func localDocuments() throws {
    try withTemporaryDatastore { tasks in
      try tasks.setLocalDocument(["last": 7], withID: "checkpoint")
      let checkpoint = try tasks.localDocument(withID: "checkpoint")
      #expect(checkpoint?["last"] == 7)
      try tasks.setLocalDocument(nil, withID: "checkpoint")  // removed
      #expect(try tasks.localDocument(withID: "checkpoint") == nil)
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
    try expectExamples(of: "crud.md", in: #filePath, atLeast: 15)
  }

  @Test func `every code of an error is in the page with its status`() throws {
    let page = try Repository.page("crud.md")
    for each in DocumentErrorTests.statuses {
      #expect(page.contains("| `.\(each.code)` | \(each.status) |"))
    }
  }
}
