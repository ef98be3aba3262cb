import CDTJSON
import CDTSQLite
import CDTTestSupport
import Foundation
import Testing

@testable import CDTDatastore
@testable import CDTRecovery

@Suite struct RecoveryTests {
  /// Runs `body` with the directory of a closed store and what was in it.
  private func withStore(
    keepsLog: Bool = false, _ body: (_ manager: DatastoreManager, _ whole: [String]) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      try store.write { transaction in
        for number in 0..<200 {
          var draft = DocumentDraft(
            id: "doc\(number)",
            body: ["number": .int(Int64(number)), "long": .string(.init(repeating: "é", count: number * 30))])
          if number % 50 == 0 {
            draft.attachments["a"] = DocumentAttachment(
              data: Data("content \(number)".utf8), name: "a", contentType: "text/plain")
          }
          try transaction.createDocument(from: draft)
        }
      }
      for number in stride(from: 0, to: 200, by: 3) {
        try store.updateDocument(withID: "doc\(number)") { $0.body["changed"] = true }
      }
      try store.deleteDocument(withID: "doc7")
      let theirs = try #require(RevisionID("3-c"))
      try store.write { transaction in
        try transaction.forceInsert(
          DocumentRevision(id: "doc8", revisionID: theirs, body: ["by": "them"]),
          history: ["3-c", "2-b", "1-a"].compactMap { RevisionID($0) })
      }
      try store.write { try $0.setLocalDocument(["last": 5], withID: "checkpoint") }
      let whole = try content(store)
      if keepsLog {
        try FileManager.default.copyItem(atPath: "\(directory)/store", toPath: "\(directory)/copy")
        try manager.deleteDatastore(named: "store")
        try FileManager.default.moveItem(atPath: "\(directory)/copy", toPath: "\(directory)/store")
      } else {
        try manager.closeDatastore(named: "store")
      }
      try body(manager, whole)
    }
  }

  /// A line for each leaf, with the history that has bodies.
  private func content(_ store: Datastore) throws -> [String] {
    try store.changes(since: 0).documents.flatMap { change in
      let id = change.id
      if change.isDeleted { return ["\(id) deleted \(change.revisionID)"] }
      return try store.read { try $0.currentRevisions(ofDocument: id) }.map { leaf in
        let history = try store.read { try $0.revisionHistory(of: leaf) }.map {
          "\($0.revisionID)=\($0.hasBody ? $0.body.text : "-")"
        }
        let attachments = try leaf.attachments.map {
          "\($0.name) \(String(decoding: try $0.data(), as: UTF8.self))"
        }
        return "\(id) \(history) \(attachments)"
      }
    }.sorted()
  }

  private func recover(_ manager: DatastoreManager) throws -> (store: Datastore, report: RecoveryReport) {
    let saved = try manager.datastore(named: "saved")
    return (saved, try saved.recoverDocuments(from: "\(manager.directory)/store"))
  }

  @Test(arguments: [false, true])
  func `everything is saved from a store that is whole`(keepsLog: Bool) throws {
    try withStore(keepsLog: keepsLog) { manager, whole in
      let (saved, report) = try recover(manager)
      #expect(report.losses == [])
      #expect(report.documents == 200)
      #expect(report.attachments == 6)
      #expect(try content(saved) == whole)
      #expect(try saved.read { try $0.localDocument(withID: "checkpoint") } == ["last": 5])
      #expect(try saved.checkIntegrity() == [])
      // Once more adds nothing.
      _ = try saved.recoverDocuments(from: "\(manager.directory)/store")
      #expect(try content(saved) == whole)
    }
  }

  @Test func `refuses a store of a newer format, whose layout is not known`() throws {
    try withStore { manager, _ in
      try withDatabase(of: "store", in: manager.directory) { try $0.execute("PRAGMA user_version = 9") }
      let error = datastoreError { _ = try recover(manager) }
      #expect(error?.code == .newerFormat)
      #expect(
        error?.message
          == "\(manager.directory)/store/db.sync has format 9, but this version supports formats up to 8; "
          + "use the version that wrote it or a later one")
    }
  }

  @Test func `a header that no checksum verifies tells no format`() throws {
    try withStore { manager, _ in
      let path = "\(manager.directory)/store/db.sync"
      var data = try Data(contentsOf: URL(filePath: path))
      data[63] = 9
      try data.write(to: URL(filePath: path))
      #expect(try recover(manager).report.documents == 200)
    }
  }

  @Test func `a conflicting revision whose row is gone is a loss`() throws {
    try withStore { manager, whole in
      // As on a page that was put back in an earlier state.
      try withDatabase(of: "store", in: manager.directory) {
        try $0.execute(
          "DELETE FROM revisions WHERE leaf AND document = (SELECT number FROM documents WHERE id = 'doc8')")
      }
      let (saved, report) = try recover(manager)
      #expect(report.losses.map(\.documentID) == ["doc8"])
      #expect(report.losses.first?.message == "conflicting revisions are not found: 1")
      #expect(report.documents == 200)
      #expect(Set(whole).subtracting(try content(saved)).count == 1)
    }
  }

  @Test func `damaged pages lose what is on them, and nothing else`() throws {
    for trial in 0..<8 {
      try withStore { manager, whole in
        let path = "\(manager.directory)/store/db.sync"
        var data = try Data(contentsOf: URL(filePath: path))
        var random = SeededGenerator(seed: UInt64(trial))
        // The first page, with the header, too.
        let pages =
          [trial == 0 ? 0 : 1, trial == 1 ? 1 : 2]
          + (0..<5).map { _ in
            Int.random(in: 1..<data.count / 4_096, using: &random)
          }
        let damaged = Set(trial < 2 ? [pages[trial]] : Array(pages.dropFirst(2)))
        for page in damaged { data[page * 4_096 + Int.random(in: 0..<4_000, using: &random)] ^= 0x10 }
        try data.write(to: URL(filePath: path))
        let (saved, report) = try recover(manager)
        // A damaged page that was free is no loss.
        #expect((1...damaged.count).contains(report.losses.filter { $0.kind == .database }.count))
        #expect(try saved.checkIntegrity() == [])
        let lines = Set(whole)
        for line in try content(saved) where !lines.contains(line) {
          // It is a predecessor, and the report says so, or a part of the history is lost.
          let id = line.prefix { $0 != " " }
          #expect(whole.contains { $0.hasPrefix("\(id) ") })
        }
        let present = Set(try saved.changes(since: 0).documents.map(\.id))
        let reported = Set(report.losses.compactMap(\.documentID))
        for number in 0..<200 where !present.contains("doc\(number)") && trial > 1 {
          #expect(reported.contains("doc\(number)") || report.losses.contains { $0.kind == .database })
        }
        #expect(present.count > 100)
      }
    }
  }

  @Test func `a missing attachment is reported, and its document saved`() throws {
    try withStore { manager, _ in
      let directory = "\(manager.directory)/store/attachments"
      let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
      try FileManager.default.removeItem(atPath: "\(directory)/\(names[0])")
      let (saved, report) = try recover(manager)
      #expect(report.losses.allSatisfy { $0.kind == .attachment && $0.message.contains("is missing at") })
      #expect(!report.losses.isEmpty)
      #expect(report.documents == 200)
      #expect(try saved.checkIntegrity() == [])
    }
  }

  @Test func `a file that is cut off or empty gives what is in it, and no database is refused`() throws {
    try withStore { manager, _ in
      let path = "\(manager.directory)/store/db.sync"
      let data = try Data(contentsOf: URL(filePath: path))
      for length in [data.count / 2, 4_096, 100, 3, 0] {
        try data.prefix(length).write(to: URL(filePath: path))
        let saved = try manager.datastore(named: "saved\(length)")
        let report = try saved.recoverDocuments(from: "\(manager.directory)/store")
        #expect(length < 50_000 || report.documents > 20)
        let loss = length < 4_096 ? "there are no pages in " : "pages are missing at the end"
        #expect(report.losses.contains { $0.message.contains(loss) }, "\(length)")
        #expect(try saved.checkIntegrity() == [])
      }
      var random = SeededGenerator(seed: 5)
      try Data((0..<100_000).map { _ in UInt8.random(in: 0...255, using: &random) }).write(
        to: URL(filePath: path))
      let saved = try manager.datastore(named: "noise")
      let error = #expect(throws: DatastoreError.self) {
        try saved.recoverDocuments(from: "\(manager.directory)/store")
      }
      #expect(error?.code == .corrupt)
    }
  }

  @Test(
    arguments: [
      (offset: 28, bytes: [0, 0, 0, 2]), (28, [0x7F, 0xFF, 0xFF, 0xFF]), (16, [0x20, 0]), (16, [0, 0]),
      (0, [0]),
    ] as [(offset: Int, bytes: [UInt8])])
  func `a damaged header loses the first page, and nothing else`(offset: Int, bytes: [UInt8]) throws {
    try withStore { manager, whole in
      let path = "\(manager.directory)/store/db.sync"
      var data = try Data(contentsOf: URL(filePath: path))
      data.replaceSubrange(offset..<offset + bytes.count, with: bytes)
      try data.write(to: URL(filePath: path))
      let (saved, report) = try recover(manager)
      #expect(report.losses.map(\.kind) == [.database])
      #expect(try content(saved) == whole)
    }
  }

  @Test(arguments: [true, false]) func `the documents that a damaged log has lost are reported`(
    hasIndex: Bool
  ) throws {
    for place in [8, 17, 24, 32 + 20, 200_000] {
      try withStore(keepsLog: true) { manager, _ in
        let log = "\(manager.directory)/store/db.sync-wal"
        if !hasIndex { try FileManager.default.removeItem(atPath: "\(manager.directory)/store/db.sync-shm") }
        var data = try Data(contentsOf: URL(filePath: log))
        data[place] ^= 1
        try data.write(to: URL(filePath: log))
        let (saved, report) = try recover(manager)
        #expect(report.losses.contains { $0.message.contains(log) }, "\(place)")
        #expect(try saved.checkIntegrity() == [])
      }
    }
  }

  @Test(arguments: [true, false]) func `a log that is cut to nothing is reported`(isThere: Bool) throws {
    try withStore(keepsLog: true) { manager, _ in
      let log = "\(manager.directory)/store/db.sync-wal"
      try FileManager.default.removeItem(atPath: log)
      if isThere { try Data().write(to: URL(filePath: log)) }
      let (_, report) = try recover(manager)
      #expect(report.losses.contains { $0.message.contains("\(log) is empty, but had ") })
    }
  }

  @Test(arguments: ["documents", "revisions"])
  func `revisions that descend from themselves, and others, are saved`(table: String) throws {
    try withStore { manager, _ in
      try withDatabase(of: "store", in: manager.directory) {
        try $0.execute(
          "UPDATE \(table) SET parent = \(table == "documents" ? StoredText.revisionSQL : "revision")")
      }
      let (saved, report) = try recover(manager)
      #expect(report.documents == 200)
      // Without its parent, the tombstone of a document leaves the revision that it has deleted.
      #expect(try saved.read { try $0.allDocumentIDs() }.count == (table == "documents" ? 200 : 199))
      #expect(try saved.checkIntegrity() == [])
    }
  }

  @Test(.timeLimit(.usual)) func `a long history is saved`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      try store.write { transaction in
        var revision = try transaction.createDocument(from: DocumentDraft(id: "doc", body: ["n": 0]))
        for number in 1..<2_000 {
          revision.body["n"] = .int(Int64(number))
          revision = try transaction.updateDocument(from: revision)
        }
      }
      let whole = try content(store)
      try manager.closeDatastore(named: "store")
      let (saved, report) = try recover(manager)
      #expect(report.revisions == 2_000)
      #expect(try content(saved) == whole)
    }
  }

  @Test func `ids and names of equal characters with other bytes are all saved`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      let names = ["caf\u{e9}", "cafe\u{301}"]
      var draft = DocumentDraft(id: "doc", body: [:])
      for name in names {
        draft.attachments[name] = DocumentAttachment(
          data: Data(name.utf8), name: name, contentType: "text/plain")
      }
      try store.createDocument(from: draft)
      for name in names {
        try store.write { try $0.setLocalDocument(["bytes": .int(Int64(name.utf8.count))], withID: name) }
      }
      try manager.closeDatastore(named: "store")
      let (saved, report) = try recover(manager)
      #expect(report.losses == [])
      for name in names {
        #expect(
          try saved.read { try $0.localDocument(withID: name) } == ["bytes": .int(Int64(name.utf8.count))])
        #expect(try saved.document(withID: "doc").attachments[name]?.data() == Data(name.utf8))
      }
    }
  }

  @Test func `a document whose id can't be saved is lost once, with the others saved`() throws {
    try withStore { manager, _ in
      try withDatabase(of: "store", in: manager.directory) {
        try $0.execute("UPDATE documents SET id = '_doc' WHERE id = 'doc8'")
      }
      let (_, report) = try recover(manager)
      #expect(report.documents == 199)
      #expect(report.losses.count == 1)
      #expect(report.losses.first?.documentID == "_doc")
      #expect(report.losses.first?.message.hasPrefix("the document can't be saved: ") == true)
    }
  }

  @Test func `branches above a history without bodies keep it`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      let trunk = (1...30).reversed().map { "\($0)-t" }
      for branch in 0..<20 {
        try store.insert("32-b\(branch)", after: ["31-a\(branch)"] + trunk)
      }
      let whole = try TreeState(of: "a", in: store)
      try manager.closeDatastore(named: "store")
      let (saved, report) = try recover(manager)
      #expect(report.losses == [])
      #expect(try TreeState(of: "a", in: saved).parents == whole.parents)
      #expect(try TreeState(of: "a", in: saved).leaves == whole.leaves)
    }
  }

  @Test func `a store without its file is named`() throws {
    try withStore { manager, _ in
      let path = "\(manager.directory)/store/db.sync"
      try FileManager.default.removeItem(atPath: path)
      let saved = try manager.datastore(named: "saved")
      let error = datastoreError { try saved.recoverDocuments(from: "\(manager.directory)/store") }
      #expect(error?.code == .notFound)
      #expect(error?.message == "there is no file \(path); check the path")
    }
  }

  /// Pages of a file without checksums may hold anything.
  @Test func `damaged rows of an earlier version do no harm`() throws {
    try withTemporaryDirectory { directory in
      let fixture = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Storage/Fixtures/schema-v5/db.sync")
      let whole = try Data(contentsOf: fixture)
      let manager = try DatastoreManager(directory: directory)
      try FileManager.default.createDirectory(
        atPath: "\(directory)/store", withIntermediateDirectories: false)
      var random = SeededGenerator(seed: 9)
      for trial in 0..<60 {
        var data = whole
        for _ in 0..<(trial == 0 ? 0 : 200) {
          data[Int.random(in: 100..<data.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        try data.write(to: URL(filePath: "\(directory)/store/db.sync"))
        let saved = try manager.datastore(named: "saved\(trial)")
        let report = try saved.recoverDocuments(from: "\(directory)/store")
        if trial == 0 { #expect(report.losses == [] && report.documents == 3) }
        #expect(try saved.checkIntegrity() == [])
        try manager.deleteDatastore(named: "saved\(trial)")
      }
    }
  }

  @Test(arguments: [4_096, 50])
  func `an encrypted datastore whose first page is lost is still a datastore`(bytes: Int) throws {
    try withTemporaryDirectory { directory in
      let options = DatastoreOptions(encryption: .key((0..<32).map { UInt8($0) }))
      let manager = try DatastoreManager(directory: directory, options: options)
      let store = try manager.datastore(named: "store")
      for number in 0..<200 {
        try store.createDocument(from: DocumentDraft(id: "d\(number)", body: ["n": .int(Int64(number))]))
      }
      try manager.closeDatastore(named: "store")
      let file = URL(filePath: "\(directory)/store/db.sync")
      var data = try Data(contentsOf: file)
      data = bytes < 4_096 ? data.prefix(bytes) : Data(repeating: 0, count: bytes) + data.dropFirst(bytes)
      try data.write(to: file)
      let saved = try manager.datastore(named: "saved")
      let report = try saved.recoverDocuments(from: "\(directory)/store")
      #expect(!report.losses.isEmpty)
      if bytes == 4_096 { #expect(report.documents > 150) }
      try manager.deleteDatastore(named: "store")
      #expect(try manager.datastoreNames() == ["saved"])
    }
  }
}
