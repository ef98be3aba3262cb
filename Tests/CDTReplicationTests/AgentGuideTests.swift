import CDTImport
import CDTQuery
import CDTReplication
import CDTTestSupport
import Foundation
import Testing

/// The code of docs/agents.md.
@Suite struct AgentGuideTests {
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
    try Data(#"{"_id":"tea","title":"Buy tea","done":true}"#.utf8).write(
      to: URL(filePath: "\(path)/tasks.jsonl"))
    try await withServedStore { served in
      let port = served.server.port

      let manager = try DatastoreManager(directory: "\(path)/stores")
      let store = try await manager.datastore(named: "tasks")

      var milk = try await store.save(Item(id: "milk", title: "Buy milk", tags: ["shop"]))
      milk.done = true
      milk = try await store.save(milk)
      let read = try await store.document(withID: "milk").decode(Item.self)
      try await store.save(Item(id: "bread", title: "Bake bread"))
      try await store.delete(milk)
      #expect(read.done && read.revision == milk.revision)

      let open = try await store.find(
        Item.self, where: { !$0.done && $0.title >= "A" }, sort: \.title.ascending, limit: 20)
      #expect(open.map(\.id) == ["bread"])

      let least = 2
      let found = try await store.find(
        ["title": ["$regex": "^B"], "$or": [["tags": "shop"], ["size": ["$gte": least]], ["done": false]]],
        sort: ["title"])
      for document in found { print(document.id, document.body["title"]?.stringValue ?? "") }
      #expect(found.map(\.id) == ["bread"])

      try await store.ensureIndexed(["done", "title"])
      let plan = try store.explain(Query(["done": false], sort: ["title"]))
      print(plan)  // index "done_title": done at one value …
      #expect("\(plan)".hasPrefix(#"index "done_title": done at one value"#))

      try await store.write { transaction in
        try transaction.createDocument(
          from: DocumentDraft(id: "jam", body: ["title": "Buy jam", "done": false]))
        try transaction.update(matching: ["done": false], .set("done", true), .increment("edits"))
      }

      let results = try store.live(Query(["done": true], sort: ["title"]))
      for try await update in results {
        print(update.results.map(\.id))
        break
      }

      let database = try RemoteDatabase("http://127.0.0.1:\(port)/db")
      let result = try await Replicator(Replication(.both, with: database), of: store).replicate()
      for id in try await store.read({ try $0.conflictedDocumentIDs() }) {
        try await store.write { try $0.resolveConflicts(for: id, by: .fields(arrays: ["tags": .set])) }
      }
      #expect(result.rejected.isEmpty)
      #expect(try await served.remote.document(withID: "jam").body["edits"] == 1)

      let report = try await DocumentImporter(into: store).run(["\(path)/tasks.jsonl"])
      #expect(report.imported == 1)
      try await manager.closeDatastore(named: "tasks")
    }
  }

  @Test func `the page's code is here`() throws {
    try expectExamples(of: "agents.md", in: #filePath, atLeast: 10)
  }

  @Test(arguments: ["llms.txt", "docs/agents.md"]) func `pages for agents have at most 10 kB`(_ name: String)
    throws
  {
    let text = try Data(contentsOf: Repository.root.appending(path: name))
    #expect(text.count > 1_000 && text.count <= 10_000)
  }
}
