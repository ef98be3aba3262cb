import CDTImport
import CDTQuery
import CDTReplication
import CDTTestSupport
import Foundation
import Testing

/// The examples of `docs/api-tour.md`, each as it stands there.
@Suite struct ApiTourTests {
  struct Item: DocumentModel {
    var id = UUID().uuidString
    var revision: RevisionID?
    var title: String
    var done = false
    var tags: [String] = []
    var due: Date?
  }

  @Test func `ten tasks`() async throws {
    let path = try temporaryDirectory()
    defer { removeDirectory(path) }
    let (file, text) = ("\(path)/map.png", "With rye")
    try Data("a map".utf8).write(to: URL(filePath: file))
    try Data(#"{"_id":"tea","title":"Buy tea","done":true}"#.utf8).write(
      to: URL(filePath: "\(path)/tasks.jsonl"))
    let (shown, continuation) = AsyncStream<String>.makeStream()
    @Sendable func show(_ id: String, _ isDeleted: Bool) { continuation.yield(id) }
    try await withServedStore { served in
      let port = served.server.port

      let manager = try DatastoreManager(directory: "\(path)/stores")
      let store = try await manager.datastore(named: "tasks")

      var milk = try await store.save(Item(id: "milk", title: "Buy milk", tags: ["shop"]))
      milk.done = true
      milk = try await store.save(milk)
      let read = try await store.document(withID: "milk", as: Item.self)
      try await store.save(Item(id: "bread", title: "Bake bread"))
      try await store.delete(milk)
      #expect(read.done && read.revision == milk.revision)

      let draft = DocumentDraft(id: "tea", body: ["title": "Buy tea", "done": true])
      let tea = try await store.createDocument(from: draft)
      print(tea.id, tea.revisionID.generation)  // tea 1
      #expect(tea.revisionID.generation == 1)

      let count = try await store.update(Item.self, where: { !$0.done }, .append(\.tags, "today"))
      #expect(count == 1)

      try await store.updateDocument(withID: "bread") { document in
        document.body["title"] = "Bake white bread"
      }

      var document = try await store.document(withID: "bread")
      while true {
        document.body["note"] = text
        do {
          document = try await store.updateDocument(from: document)
          break
        } catch let error as DatastoreError where error.code == .conflict {
          document = try await store.document(withID: "bread")
        }
      }
      #expect(document.body["title"] == "Bake white bread" && document.body["note"] == "With rye")

      let open = try await store.find(
        Item.self, where: { !$0.done && $0.title >= "A" }, sort: \.title.ascending, limit: 20)
      #expect(open.map(\.id) == ["bread"])

      let (least, now) = (2, Date.now)
      let found = try await store.find(
        [
          "title": ["$regex": "^B"],
          "$or": [["due": ["$lt": now]], ["size": ["$gte": least]], ["done": false]],
        ], sort: ["title"])
      for document in found { print(document.id, document.body["title"]?.stringValue ?? "") }
      #expect(found.map(\.id) == ["bread"])

      try await store.ensureIndexed(Item.self, \.done, \.title)
      let plan = try store.explain(Query(["done": false], sort: ["title"]))
      print(plan)  // index "done_title": done at one value …
      let page = try await store.find(["done": false], skip: 20, limit: 10, sort: ["done", "title"])
      #expect("\(plan)".hasPrefix(#"index "done_title": done at one value"#) && page.isEmpty)

      try await store.write { transaction in
        for name in ["jam", "honey"] {
          try transaction.createDocument(
            from: DocumentDraft(id: name, body: ["title": "Buy \(name)", "done": false]))
        }
        try transaction.update(matching: ["done": false], .set("done", true), .increment("edits"))
      }

      var importer = DocumentImporter(into: store)
      importer.onConflict = .replace
      let report = try await importer.run(["\(path)/tasks.jsonl"])
      print(report.imported, report.replaced)
      #expect(report.imported == 0 && report.replaced == 1)

      let results = try store.live(Query(["done": true], sort: ["title"]))
      for try await update in results {
        print(update.results.map(\.id))
        break
      }

      let observer = Task {
        for try await changes in store.liveChanges() {
          for change in changes.documents { show(change.id, change.isDeleted) }
        }
      }
      var ids = shown.makeAsyncIterator()
      #expect(await ids.next() == "milk")

      var picnic = try await store.createDocument(from: DocumentDraft(id: "picnic", body: [:]))
      picnic.attachments["map.png"] = DocumentAttachment(
        file: file, name: "map.png", contentType: "image/png")
      picnic = try await store.updateDocument(from: picnic)
      let map = try await picnic.attachments["map.png"]?.data()
      #expect(map == Data("a map".utf8))

      let database = try RemoteDatabase("http://127.0.0.1:\(port)/db")
      let result = try await Replicator(Replication(.both, with: database), of: store).replicate()
      for id in try await store.read({ try $0.conflictedDocumentIDs() }) {
        try await store.write { try $0.resolveConflicts(for: id, by: .fields(arrays: ["tags": .set])) }
      }
      #expect(result.rejected.isEmpty)
      #expect(try await served.remote.document(withID: "jam").body["edits"] == 1)

      for (text, edited) in [("1-a", 2), ("1-b", 1)] {
        let revisionID = try #require(RevisionID(text))
        let body = JSONObject(["edited": edited])
        try await store.write {
          try $0.forceInsert(DocumentRevision(id: "party", revisionID: revisionID, body: body))
        }
      }
      for id in try await store.read({ try $0.conflictedDocumentIDs() }) {
        try await store.write { transaction in
          try transaction.resolveConflicts(for: id) { _, leaves in
            leaves.max { ($0.body["edited"]?.intValue ?? 0) < ($1.body["edited"]?.intValue ?? 0) }
          }
        }
      }
      #expect(try await store.document(withID: "party").body["edited"] == 2)

      try await manager.closeDatastore(named: "tasks")
      try await observer.value
    }
  }

  @Test func `every example of the page is code of this file`() throws {
    try expectExamples(of: "api-tour.md", in: #filePath, atLeast: 15)
  }

  @Test(arguments: ["llms.txt", "docs/agents.md"]) func `pages for agents have at most 10 kB`(_ name: String)
    throws
  {
    let text = try Data(contentsOf: Repository.root.appending(path: name))
    #expect(text.count > 1_000 && text.count <= 10_000)
  }
}
