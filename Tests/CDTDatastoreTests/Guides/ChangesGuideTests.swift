import CDTDatastore
import CDTJSON
import CDTTestSupport
import Testing

/// The examples of `docs/changes.md`, each as it stands there.
@Suite struct ChangesGuideTests {
  @Test func asking() throws {
    try withTemporaryDatastore { tasks in
      try tasks.createDocument(from: DocumentDraft(id: "milk", body: ["done": false]))
      try tasks.createDocument(from: DocumentDraft(id: "bread", body: ["done": false]))
      try tasks.updateDocument(withID: "milk") { $0.body["done"] = true }
      try tasks.deleteDocument(withID: "bread")

      let changes = try tasks.changes()
      for change in changes.documents {
        print(change.sequence, change.id, change.revisionID, change.isDeleted)
      }
      #expect(changes.documents.map(\.sequence) == [3, 4])
      #expect(changes.documents.map(\.id) == ["milk", "bread"])
      #expect(changes.documents.map(\.isDeleted) == [false, true])
      #expect(changes.lastSequence == 4)

      var last: Int64 = 0
      while true {
        let some = try tasks.changes(since: last, limit: 500)
        if some.documents.isEmpty { break }
        last = some.lastSequence
      }
      #expect(try last == tasks.read { try $0.lastSequence() })
    }
  }

  @Test func listening() async throws {
    let path = try temporaryDirectory()
    defer { removeDirectory(path) }
    let manager = try DatastoreManager(directory: path)
    let tasks = try await manager.datastore(named: "tasks")
    let (shown, continuation) = AsyncStream<Change>.makeStream()
    func show(_ change: Change) { continuation.yield(change) }

    let listener = Task {
      var last: Int64 = 0
      for try await changes in tasks.liveChanges(since: last) {
        for change in changes.documents { show(change) }
        last = changes.lastSequence
      }
      return last
    }
    for id in ["milk", "bread"] { try await tasks.createDocument(from: DocumentDraft(id: id, body: [:])) }
    var ids: [String] = []
    for await change in shown {
      ids.append(change.id)
      if ids.count == 2 { break }
    }
    #expect(ids == ["milk", "bread"])

    try await manager.closeDatastore(named: "tasks")
    let last = try await listener.value  // the loop has ended
    #expect(last == 2)
  }

  @Test func `every example of the page is code of this file`() throws {
    try expectExamples(of: "changes.md", in: #filePath, atLeast: 4)
  }
}
