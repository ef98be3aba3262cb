import CDTDatastore
import CDTImport
import CDTJSON
import CDTQuery
import CDTTestSupport
import Foundation
import Testing

import struct CloudantSync.TouchDBIndexReport

/// The examples of `docs/api-migration.md`, each as it stands there.
@Suite struct MigrationGuideTests {

  @Test func file() throws {
    try withTouchDB { fixture in
      let (documents, manager) = (fixture.directory, fixture.manager)
      for _ in 1...2 {
        let old = "\(documents)/tasks.touchdb"
        let tasks = try manager.datastore(named: "tasks")
        if try tasks.read({ try $0.localDocument(withID: "imported") }) == nil {
          try tasks.importTouchDB(old) { print("\($0.documents) of \($0.total)") }
          let indexes = try tasks.importTouchDBIndexes(old)
          for index in indexes.skippedIndexes { print(index.name, index.reason) }
          try tasks.write { try $0.setLocalDocument(["from": "CDTDatastore 2"], withID: "imported") }
        }
        #expect(try tasks.read { try $0.documentCount() } == 7)
        #expect(try tasks.listIndexes().count == 3)

        var importer = TouchDBImporter(into: tasks)
        importer.continuesOnError = true
        importer.onInvalidDocument = { print($0) }  // the file, the document, what is wrong and what to do
        let report = try importer.run(old)
        if report.failed == 0 { print("all \(report.documents) documents are here") }
        #expect(report.documents == 8)
        #expect(report.failed == 0)
      }
      try manager.closeDatastore(named: "tasks")
    }
  }

  @Test func documents() throws {
    try withTemporaryDatastore { datastore in
      let draft = DocumentDraft(id: "doc1", body: ["description": "Buy Milk", "completed": false])
      let revision = try datastore.createDocument(from: draft)
      var retrieved = try datastore.document(withID: "doc1")
      retrieved.body["completed"] = true
      let updated = try datastore.updateDocument(from: retrieved)
      #expect(revision.revisionID.generation == 1)

      let isDone = updated.body["completed"]?.boolValue ?? false
      let description = updated.body["description"]?.stringValue ?? ""
      #expect(isDone)
      #expect(description == "Buy Milk")
    }
  }

  @Test func conflicts() throws {
    try withTemporaryDatastore { datastore in
      for (text, time) in [("1-a", 2), ("1-b", 1)] {
        let revision = try #require(RevisionID(text))
        try datastore.write {
          try $0.forceInsert(
            DocumentRevision(id: "a", revisionID: revision, body: ["time": .int(Int64(time))]))
        }
      }
      struct NewestWins: ConflictResolver {
        func resolve(documentID: String, conflicts: [DocumentRevision]) -> DocumentRevision? {
          conflicts.max { ($0.body["time"]?.intValue ?? 0) < ($1.body["time"]?.intValue ?? 0) }
        }
      }
      for id in try datastore.read({ try $0.conflictedDocumentIDs() }) {
        try datastore.write { try $0.resolveConflicts(for: id, with: NewestWins()) }
      }
      #expect(try datastore.document(withID: "a").revisionID.description == "1-a")
    }
  }

  @Test func queries() throws {
    try withTemporaryDatastore { datastore in
      let task = DocumentDraft(body: ["description": "Buy Milk", "completed": false])
      try datastore.createDocument(from: task)
      try datastore.ensureIndexed(["completed", "description"], name: "by_state")
      let open = try datastore.find(["completed": false], limit: 10, sort: ["description"])
      for task in open { print(task.body["description"]?.stringValue ?? "") }
      #expect(open.count == 1)
    }
  }

  @Test func attachments() throws {
    try withTemporaryDatastore { datastore in
      var revision = try datastore.createDocument(from: DocumentDraft(body: [:]))
      let data = Data("a cat".utf8)
      revision.attachments["cat.jpg"] = DocumentAttachment(
        data: data, name: "cat.jpg", contentType: "image/jpeg")
      let saved = try datastore.updateDocument(from: revision)
      let content = try saved.attachments["cat.jpg"]?.data()
      #expect(content == data)
    }
  }

  @Test func java() throws {
    try withTemporaryDirectory { directory in
      let file = "\(directory)/cat.jpg"
      try Data("a cat".utf8).write(to: URL(filePath: file))
      try withTemporaryDatastore { datastore in
        let picture = DocumentAttachment(file: file, name: "cat.jpg", contentType: "image/jpeg")
        let doc1 = DocumentDraft(id: "doc1", body: ["completed": false], attachments: [picture])
        let saved = try datastore.createDocument(from: doc1)
        let open = try datastore.find(["completed": false])
        #expect(open.map(\.id) == [saved.id])
      }
    }
  }

  @Test func `every example of the page is code of this file`() throws {
    func lines(_ text: String) -> [String] {
      text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
    let source = lines(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8))
    let blocks = try Repository.page("api-migration.md").components(separatedBy: "```swift\n").dropFirst()
    #expect(blocks.count == 8)
    for block in blocks {
      let code = block.components(separatedBy: "\n```").first ?? ""
      let example = lines(code)
      let isHere = source.indices.contains { source[$0...].starts(with: example) }
      #expect(isHere && !example.isEmpty, "\(code)")
    }
  }

  @Test func `every old name that the package keeps is in the page`() throws {
    let page = try Repository.page("api-migration.md")
    let directory = Repository.root.appending(path: "Sources/Migration/CloudantSync")
    var names: Set<String> = []
    for file in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
      let text = try String(contentsOf: directory.appending(path: file), encoding: .utf8)
      for match in text.matches(of: /public (?:mutating )?(?:func|typealias|protocol) (\w+)/) {
        names.insert(String(match.1))
      }
    }
    // Misspellings that CDTDatastore's guide had, and no name of its own; and a method of Hashable.
    names.subtract(["datastoreName", "updateDocumentForRevision", "getDocumentForId", "hash"])
    #expect(names.count > 30)
    for name in names { #expect(page.contains(name), "\(name)") }
  }
}
