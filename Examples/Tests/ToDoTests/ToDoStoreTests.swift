import CDTQuery
import Foundation
import Testing
import ToDo

@Suite final class ToDoStoreTests {
  private let directory = FileManager.default.temporaryDirectory.appending(path: "todo-\(UUID().uuidString)")

  deinit {
    try? FileManager.default.removeItem(at: directory)
  }

  private func store() async throws -> ToDoStore {
    try await ToDoStore(directory: directory.path)
  }

  @Test func `open things come first, each part by title`() async throws {
    let store = try await store()
    let milk = try await store.add("Buy milk")
    try await store.add("Water the plants")
    try await store.add("Call Mike")
    try await store.toggle(milk.id)
    #expect(try await store.all().map(\.title) == ["Call Mike", "Water the plants", "Buy milk"])
    #expect(try await store.all().map(\.isDone) == [false, false, true])
  }

  @Test func `things are kept`() async throws {
    let milk = try await store().add("Buy milk", tags: ["shop"])
    #expect(try await store().all() == [milk])
    #expect(try await store().tagged("shop") == [milk])
    #expect(try await store().tagged("home").isEmpty)
  }

  @Test func `what was deleted is not toggled`() async throws {
    let store = try await store()
    let milk = try await store.add("Buy milk")
    try await store.documents.deleteDocument(withID: milk.id)
    #expect(try await store.toggle(milk.id) == nil)
  }

  @Test func `toggling keeps members that this version does not know`() async throws {
    let store = try await store()
    try await store.documents.createDocument(
      from: DocumentDraft(
        id: "milk", body: ["title": "Buy milk", "isDone": false, "tags": [], "color": "red"]))
    try await store.toggle("milk")
    #expect(try await store.documents.document(withID: "milk").body["color"] == "red")
  }

  @Test(.timeLimit(.minutes(1))) func `updates give the list after every change`() async throws {
    let store = try await store()
    let milk = try await store.add("Buy milk")
    var updates = try store.updates().makeAsyncIterator()
    #expect(try await updates.next() == [milk])
    let done = try #require(await store.toggle(milk.id))
    #expect(try await updates.next() == [done])
  }

  @Test func `versions of two places are merged`() async throws {
    let store = try await store()
    let milk = try await store.add("Buy milk", tags: ["shop"])
    let first = try await store.documents.document(withID: milk.id)
    try await store.toggle(milk.id)
    try await insertRival(of: first, into: store, tags: ["home"])

    #expect(try await store.resolveConflicts() == 1)
    let merged = try #require(await store.all().first)
    #expect(merged.isDone && merged.tags == ["home", "shop"])
    #expect(try await store.resolveConflicts() == 0)
  }

  /// Inserts a change of a revision that another device has made, as synchronization does.
  private func insertRival(
    of revision: DocumentRevision, into store: ToDoStore, tags: JSONValue
  ) async throws {
    var body = revision.body
    body["tags"] = tags
    let id = try #require(RevisionID("2-0123456789abcdef"))
    let rival = DocumentRevision(id: revision.id, revisionID: id, body: body)
    try await store.documents.write { try $0.forceInsert(rival, history: [id, revision.revisionID]) }
  }
}
