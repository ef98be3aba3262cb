import CDTDatastore
import CDTQuery
import CDTTestSupport
import Foundation
import Testing

/// A store where nothing may be written. Permissions don't hold back root, so the file system itself refuses.
@Suite(.enabled(if: MountedDisk.isPossible, MountedDisk.reason)) struct ReadOnlyTests {
  /// Makes a store with two indexes, and closes it.
  @discardableResult
  private func fill(_ directory: String) throws -> DocumentRevision {
    let manager = try DatastoreManager(directory: directory)
    defer { manager.close() }
    let store = try manager.datastore(named: "store")
    let attachment = DocumentAttachment(data: Data("x".utf8), name: "x", contentType: "")
    let saved = try store.createDocument(
      from: DocumentDraft(id: "a", body: ["n": 1, "text": "some words"], attachments: [attachment]))
    for number in 2..<10 {
      try store.createDocument(from: DocumentDraft(body: ["n": .int(Int64(number)), "text": "others"]))
    }
    try store.ensureIndexed(["n"], name: "by_n")
    try store.ensureIndexed(["text"], .text, name: "words")
    return saved
  }

  private func withManager(_ directory: String, _ body: (DatastoreManager) throws -> Void) throws {
    let manager = try DatastoreManager(directory: directory)
    defer { manager.close() }
    try body(manager)
  }

  private static let byNumber = "by_n"

  /// Reads in every way; the results are those of `fill`.
  private func checkReads(_ store: Datastore, _ saved: DocumentRevision) throws {
    #expect(try store.document(withID: "a") == saved)
    #expect(try store.document(withID: "a").attachments["x"]?.data() == Data("x".utf8))
    #expect(try store.read { try $0.allDocuments() }.count == 9)
    #expect(try store.changes().documents.count == 9)
    #expect(try store.read { try $0.conflictedDocumentIDs() } == [])
    #expect(try store.checkIntegrity() == [])
    #expect(try store.sizeOnDisk() > 0)
    let query = try Query(["n": ["$gte": 5]], sort: ["n"], useIndex: Self.byNumber)
    #expect(try store.read { try $0.find(query) }.compactMap { $0.body["n"]?.intValue } == [5, 6, 7, 8, 9])
    #expect(try store.results(for: query).documentIDs().count == 5)
    #expect(try store.count(["$text": ["$search": "words"]]) == 1)
  }

  @Test func `everything can be read on a read-only file system, and nothing is written`() throws {
    try withMountedDisk(bytes: 16 << 20) { disk in
      let saved = try fill(disk.directory)
      let files = try FileManager.default.subpathsOfDirectory(atPath: disk.directory).sorted()
      try disk.setReadOnly(true)
      try withManager(disk.directory) { manager in
        #expect(try manager.datastoreNames() == ["store"])
        for store in [try manager.datastore(named: "store"), try manager.existingDatastore(named: "store")] {
          try checkReads(store, saved)
          #expect(try store.listIndexes().map(\.name) == ["by_n", "words"])
          #expect(try store.listIndexes().map(\.entries) == [9, 9])
          #expect(try store.checkIndexes(repair: true) == [])
          let plan = try store.read { try $0.explain(Query(["n": ["$gte": 5]], useIndex: Self.byNumber)) }
            .description
          #expect(plan.contains("by_n"), "\(plan)")
          let writes: [() throws -> Void] = [
            { try store.createDocument(from: DocumentDraft(body: [:])) },
            { try store.updateDocument(withID: "a") { $0.body["n"] = 2 } },
            { try store.compact() }, { try store.ensureIndexed(["x"]) }, { try store.updateIndexes() },
            { try store.rebuildIndexes() }, { try store.deleteIndex(named: "by_n") },
          ]
          for write in writes {
            let error = datastoreError(write)
            #expect(error?.code == .io)
            #expect(
              error?.message
                == "\(disk.directory)/store can only be read; allow writing to it and to its files, or write to a copy of it"
            )
          }
        }
        let error = datastoreError { try manager.datastore(named: "new") }
        #expect(error?.message.contains("Read-only file system") == true)
        #expect(datastoreError { try manager.deleteDatastore(named: "store") }?.code == .io)
      }
      #expect(datastoreError { try DatastoreManager(directory: "\(disk.directory)/new") }?.code == .io)
      #expect(try FileManager.default.subpathsOfDirectory(atPath: disk.directory).sorted() == files)

      try disk.setReadOnly(false)
      try withManager(disk.directory) { manager in
        let store = try manager.datastore(named: "store")
        try checkReads(store, saved)
        try store.updateDocument(withID: "a") { $0.body["n"] = 2 }
      }
    }
  }

  @Test(arguments: ["missing", "damaged"])
  func `queries are answered without an index file that can't be used or made`(_ damage: String) throws {
    try withMountedDisk(bytes: 16 << 20) { disk in
      let saved = try fill(disk.directory)
      let file = "\(disk.directory)/store/extensions/com.cloudant.sync.query/indexes.sqlite"
      try FileManager.default.removeItem(atPath: file)
      if damage == "damaged" { try Data(count: 10_000).write(to: URL(filePath: file)) }
      try disk.setReadOnly(true)
      try withManager(disk.directory) { manager in
        let store = try manager.datastore(named: "store")
        try checkReads(store, saved)
        let findings = try store.checkIndexes()
        #expect(findings.map(\.kind) == [.index])
        #expect(datastoreError { try store.checkIndexes(repair: true) }?.code == .io)
      }
    }
  }

  /// A writer that was killed leaves its log, with writes that are in no other file.
  @Test(arguments: [true, false])
  func `a log that was left is read if its shared memory was left, and never passed over`(hasMemory: Bool)
    throws
  {
    try withMountedDisk(bytes: 16 << 20) { disk in
      let saved = try fill(disk.directory)
      try withManager(disk.directory) { manager in
        let store = try manager.datastore(named: "store")
        try store.createDocument(from: DocumentDraft(id: "last", body: [:]))
        try FileManager.default.copyItem(
          atPath: "\(disk.directory)/store", toPath: "\(disk.directory)/killed")
      }
      let killed = "\(disk.directory)/killed/db.sync"
      if !hasMemory { try FileManager.default.removeItem(atPath: killed + "-shm") }
      try disk.setReadOnly(true)
      let manager = try DatastoreManager(directory: disk.directory)
      defer { manager.close("killed") }
      if hasMemory {
        let store = try manager.datastore(named: "killed")
        #expect(try store.document(withID: "a").revisionID == saved.revisionID)
        #expect(try store.document(withID: "last").body == [:])
        #expect(try store.count(["n": ["$gte": 5]]) == 5)
      } else {
        let error = datastoreError { try manager.datastore(named: "killed") }
        #expect(
          error?.message
            == "\(killed)-wal has changes that a read-only open can't apply; open the store once where it can be written to, or "
            + "read a copy of its directory")
      }
    }
  }

  @Test func `an older format is not upgraded, and told`() throws {
    try withMountedDisk(bytes: 16 << 20) { disk in
      try fill(disk.directory)
      try withDatabase(of: "store", in: disk.directory) { try $0.execute("PRAGMA user_version = 4") }
      try disk.setReadOnly(true)
      try withManager(disk.directory) { manager in
        let error = datastoreError { try manager.datastore(named: "store") }
        #expect(
          error?.message
            == "\(disk.directory)/store/db.sync has format 4, which must be upgraded before it is read; open it once where it can be written to"
        )
      }
    }
  }

  /// Another process can write through another mount of the same files.
  @Test func `a change by a writer is noticed where no lock can be taken`() throws {
    try withTemporaryDirectory { directory in
      let saved = try fill(directory)
      try withReadOnlyView(of: directory) { view in
        try withManager(view) { manager in
          let store = try manager.datastore(named: "store")
          try checkReads(store, saved)
          let results = try store.results(for: Query([:]))
          _ = try results.next()
          try withManager(directory) { elsewhere in
            try elsewhere.datastore(named: "store").createDocument(
              from: DocumentDraft(id: "b", body: ["n": 10]))
            let error = datastoreError { try store.document(withID: "a") }
            #expect(error?.code == .closed)
            #expect(
              error?.message
                == #"the datastore "store" was changed while it was open read-only without locks; open it again"#
            )
            #expect(datastoreError { try results.next() }?.code == .closed)
            // Beside a writer, its shared memory is used, and each read sees the newest state.
            let again = try manager.datastore(named: "store")
            #expect(try again.count(["n": ["$gte": 5]]) == 6)
            try elsewhere.datastore(named: "store").createDocument(
              from: DocumentDraft(id: "c", body: ["n": 11]))
            #expect(try again.count(["n": ["$gte": 5]]) == 7)
          }
          let last = try manager.datastore(named: "store")
          #expect(try last.count(["n": ["$gte": 5]]) == 7)
          #expect(try last.checkIntegrity() == [])
        }
      }
      try withManager(directory) { manager in
        let count = try manager.datastore(named: "store").read { try $0.documentCount() }
        #expect(count == 11)
      }
    }
  }
}
