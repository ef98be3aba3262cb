import CDTJSON
import CDTPlatform
import CDTQuery
import CDTTestSupport
import FoundationEssentials
import Testing

@testable import CDTBackup

/// A state of a backup that is read as a datastore.
@Suite struct BackupStateTests {
  private func withStore(
    _ options: DatastoreOptions = DatastoreOptions(), _ body: (Datastore, _ backup: String) throws -> Void
  ) throws {
    try withTemporaryDirectory(inMemory: true) { directory in
      let manager = try DatastoreManager(directory: "\(directory)/stores", options: options)
      try body(manager.datastore(named: "store"), "\(directory)/backup")
      manager.closeDatastores()
    }
  }

  @Test(arguments: 1...3, [nil, Encryption.key((0..<32).map { UInt8($0) }), .passphrase("secret words")])
  func `each state has what the datastore had`(seed: Int, encryption: Encryption?) throws {
    try withStore(DatastoreOptions(encryption: encryption)) { store, backup in
      var writer = BackupTests.RandomWriter(seed: UInt64(seed))
      var states: [(increment: Backup.Increment, content: [String], found: [DocumentRevision.ID])] = []
      for _ in 0..<3 {
        for _ in 0..<writer.random.number(below: 40) { try writer.change(store) }
        let increment = try store.backup(to: backup).increment
        if states.last?.increment.sequence == increment.sequence { states.removeLast() }
        let found = try store.find(["a": ["$exists": true]], sort: ["_id"]).map(\.id)
        states.append((increment, try BackupTests.content(of: store), found))
      }
      for state in states {
        let (opened, report) = try Backup(directory: backup, encryption: encryption)
          .datastore(at: .sequence(state.increment.sequence))
        #expect(report.increment.sequence == state.increment.sequence)
        #expect(try BackupTests.content(of: opened) == state.content)
        #expect(try opened.find(["a": ["$exists": true]], sort: ["_id"]).map(\.id) == state.found)
      }
    }
  }

  @Test func `refuses every write`() throws {
    try withStore { store, backup in
      let saved = try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      try store.ensureIndexed(["n"], name: "n")
      try store.backup(to: backup)
      let (state, _) = try Backup(directory: backup).datastore()
      let writes: [() throws -> Void] = [
        { try state.createDocument(from: DocumentDraft(body: [:])) },
        { try state.deleteDocument(from: saved) },
        { try state.write { try $0.setLocalDocument([:], withID: "a") } },
        { try state.ensureIndexed(["b"]) }, { try state.deleteIndex(named: "n") },
        { _ = try state.compact() },
      ]
      for write in writes {
        let error = #expect(throws: DatastoreError.self) { try write() }
        #expect(error?.code == .io)
        #expect(
          error?.message
            == "the state of a backup can only be read; restore it in a new datastore, and write to that")
      }
      #expect(try state.document(withID: "a") == saved)
    }
  }

  @Test func `answers queries by the indexes of the state`() throws {
    try withStore { store, backup in
      for number in 1...20 {
        try store.createDocument(
          from: DocumentDraft(id: "\(number)", body: ["n": .int(Int64(number)), "text": "word \(number)"]))
      }
      try store.ensureIndexed(["n"], name: "by_n")
      try store.ensureIndexed(["text"], .text(.simple))
      try store.backup(to: backup)
      try store.deleteIndex(named: "by_n")
      let (state, _) = try Backup(directory: backup).datastore()
      let query = try Query(["n": ["$gt": 18]])
      let plan = try state.read { try $0.explain(query) }
      #expect(plan.description.hasPrefix(#"index "by_n""#), "\(plan)")
      #expect(try state.find(["n": ["$gt": 18]]).count == 2)
      #expect(try state.find(["$text": ["$search": "17"]]).map(\.id) == ["17"])
      // An index could not be created.
      let other = try state.read { try $0.explain(try Query(["other": 1])) }
      #expect(!other.description.contains("cdtquery index create"), "\(other)")
    }
  }

  @Test func `has the documents that had not expired at its time`() throws {
    try withTemporaryDirectory(inMemory: true) { directory in
      var options = DatastoreOptions()
      options.worksInBackground = false
      let manager = try DatastoreManager(directory: directory, options: options)
      let store = try manager.datastore(named: "store")
      try store.ensureIndexed(["until"], .expiring(after: .seconds(0)))
      try store.createDocument(from: DocumentDraft(id: "a", body: ["until": 1_000]))
      #expect(try store.find([:]).isEmpty)
      for (time, count) in [(999.0, 1), (1_001.0, 0)] {
        let state = try manager.reopenDatastore(named: "store", asStateAt: time)
        #expect(try state.find([:]).count == count)
        #expect(try state.read { try $0.documentCount() } == count)
      }
      manager.closeDatastores()
    }
  }

  @Test func `is removed when nobody holds it, and is encrypted if the backup is`() throws {
    try withStore(DatastoreOptions(encryption: .passphrase("secret words"))) { store, backup in
      try store.createDocument(from: DocumentDraft(id: "a", body: ["text": "Confidential"]))
      try store.backup(to: backup)
      let directory: String
      do {
        let (state, _) = try Backup(directory: backup, encryption: .passphrase("secret words")).datastore()
        directory = state.directory
        let file = try Data(contentsOf: URL(filePath: state.databasePath))
        #expect(file.range(of: Data("Confidential".utf8)) == nil)
      }
      #expect(try Files.kind(of: directory) == nil)
      for secret in [nil, Encryption.passphrase("other words")] {
        let error = #expect(throws: DatastoreError.self) {
          try Backup(directory: backup, encryption: secret).datastore()
        }
        #expect(error?.code == .wrongKey)
      }
    }
  }

  @Test func `has no times at which its revisions were written`() throws {
    try withStore { store, backup in
      let saved = try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      #expect(try store.read { try $0.arrival(of: saved) } != nil)
      try store.backup(to: backup)
      let (state, _) = try Backup(directory: backup).datastore()
      #expect(try state.read { try $0.arrival(of: saved) } == nil)
    }
  }

  @Test func `a state before the first one is not found`() throws {
    try withStore { store, backup in
      #expect(throws: DatastoreError.self) { try Backup(directory: backup).datastore() }
      try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      try store.backup(to: backup)
      let error = #expect(throws: DatastoreError.self) {
        try Backup(directory: backup).datastore(at: .sequence(0))
      }
      #expect(error?.code == .notFound)
    }
  }

  @Test func `a difference has the fields of the winners, from the first datastore to the second`() throws {
    try withStore { store, backup in
      for id in ["changed", "deleted", "same", "touched"] {
        try store.createDocument(from: DocumentDraft(id: id, body: ["n": 1]))
      }
      try store.backup(to: backup)
      let (state, _) = try Backup(directory: backup).datastore()
      try store.updateDocument(withID: "changed") { $0.body["n"] = 2 }
      for number in [2, 1] { try store.updateDocument(withID: "touched") { $0.body["n"] = number } }
      try store.deleteDocument(withID: "deleted")
      try store.createDocument(from: DocumentDraft(id: "created", body: ["n": 1]))
      var found: [String] = []
      try state.compare(with: store) {
        found.append("\($0.documentID) \($0.fields.map(\.json.text).joined())")
        #expect(($0.first == nil) == ($0.documentID == "created"))
        #expect(($0.second == nil) == ($0.documentID == "deleted"))
      }
      #expect(
        found == [
          #"changed {"path":"n","old":1,"new":2}"#, #"created {"path":"n","new":1}"#,
          #"deleted {"path":"n","old":1}"#, "touched ",
        ])
    }
  }
}
