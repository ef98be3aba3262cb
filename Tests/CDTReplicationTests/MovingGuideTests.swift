import CDTImport
import CDTQuery
import CDTReplication
import CDTTestSupport
import Foundation
import Testing

/// The code of docs/moving-from-realm.md.
@Suite struct MovingGuideTests {
  struct Folder: DocumentModel {
    var id = UUID().uuidString
    var revision: RevisionID?
    var name: String
  }

  struct Note: DocumentModel, HasDefaults {
    var id = UUID().uuidString
    var revision: RevisionID?
    var title: String
    var edited = Date.now
    var tags: [String] = []
    var isPinned = false
    var folder: Reference<Folder>?
    static let defaults = Note(title: "")
  }

  private struct Row {
    let id = "old"
    let title = "Bread"
    let edited = Date(timeIntervalSince1970: 1_800_000_000)
  }

  private static func open(_ directory: String, _ passphrase: String) async throws -> Datastore {
    let options = DatastoreOptions(encryption: .passphrase(passphrase))
    let manager = try DatastoreManager(directory: directory, options: options)
    let store = try await manager.datastore(named: "notes")
    return store
  }

  private static func follow(
    _ store: Datastore, _ show: ([Note], ResultDifference) -> Void
  ) async throws {
    for try await update in try store.live(Note.self, where: { $0.isPinned }, sort: \.title.ascending) {
      show(update.results, update.difference)
      if update.results.isEmpty { break }
    }
  }

  @Test func `models, queries, sync and attachments`() async throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let store = try await Self.open(directory, "correct horse battery staple")
    let scan = Data([1, 2, 3])

    let work = try await store.save(Folder(name: "Work"))
    var note = try await store.save(Note(title: "Plan", folder: Reference(work)))
    note.isPinned = true
    note = try await store.save(note)
    let id = note.id
    try await store.write { transaction in
      try transaction.update(Note.self, where: { $0.id == id }, .append(\.tags, "soon"))
      try transaction.save(Note(title: "Minutes", folder: Reference(work)))
    }

    try await store.ensureIndexed(Note.self, \.isPinned, \.edited.descending)
    let pinned = try await store.find(
      Note.self, where: { $0.isPinned && $0.title.hasPrefix("P") }, sort: \.edited.descending, limit: 20)
    let linking = try ModelQuery(Note.self, where: { $0.folder == Reference(work) }, sort: \.title.ascending)
      .including(\.folder)
    let (notes, folders) = try await store.read { try $0.find(linking) }
    #expect(pinned.map(\.tags) == [["soon"]])
    #expect(notes.map(\.title) == ["Minutes", "Plan"] && folders[work.id]?.name == "Work")

    try await store.updateDocument(withID: note.id) { document in
      document.attachments["scan.jpg"] = DocumentAttachment(
        data: scan, name: "scan.jpg", contentType: "image/jpeg")
    }
    let read = try await store.document(withID: note.id).attachments["scan.jpg"]?.data()
    #expect(read == scan)

    try await withServedStore { served in
      let url = served.url
      let server = try RemoteDatabase(url)
      let result = try await Replicator(Replication(.both, with: server), of: store).replicate()
      for id in try await store.read({ try $0.conflictedDocumentIDs() }) {
        try await store.write { try $0.resolveConflicts(for: id, by: .fields(arrays: ["tags": .set])) }
      }
      #expect(result.pushed.revisionsWritten >= 3 && result.rejected.isEmpty)
    }

    var shown: [Int] = []
    try await Self.follow(store) { results, _ in
      shown.append(results.count)
      if let first = results.first { _ = try? store.deleteDocument(withID: first.id) }
    }
    #expect(shown == [1, 0])
  }

  @Test func `data is saved in a loop, or imported from JSON`() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let store = try await Self.open(directory, "correct horse battery staple")
      let rows = [Row()]
      try await store.write { transaction in
        for row in rows {
          try transaction.save(Note(id: row.id, title: row.title, edited: row.edited))
        }
      }
      let line = #"{"_id":"n1","title":"Plan","edited":"2027-01-15T08:00:00Z","folder":"f1"}"#
      try line.write(toFile: "\(directory)/notes.jsonl", atomically: true, encoding: .utf8)
      let report = try await DocumentImporter(into: store).run(["\(directory)/notes.jsonl"])
      #expect(report.imported == 1)
      let imported = try await store.document(withID: "n1").decode(Note.self)
      let saved = try await store.document(withID: "old").decode(Note.self)
      #expect(imported.edited == saved.edited && imported.tags == [])
    }
  }

  @Test func `the page's code is here`() throws {
    try expectExamples(of: "moving-from-realm.md", in: #filePath, atLeast: 8)
  }
}
