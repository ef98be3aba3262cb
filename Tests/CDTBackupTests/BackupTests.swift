import CDTJSON
import CDTPlatform
import CDTQuery
import CDTRandomDocuments
import CDTTestSupport
import FoundationEssentials
import Testing

@testable import CDTBackup

/// Backups are what the datastore was, leaf by leaf.
@Suite struct BackupTests {
  /// Makes random changes: documents, edits, deletions, conflicts, histories that are told, attachments, local documents, indexes.
  struct RandomWriter {
    var random: RandomDocuments
    private var revisions: [String: [[RevisionID]]] = [:]

    init(seed: UInt64) { random = RandomDocuments(seed: seed) }

    mutating func change(_ store: Datastore) throws {
      let id = "doc-\(random.number(below: 30))"
      switch random.number(below: 12) {
      case 0:
        try store.write {
          try $0.setLocalDocument(
            ["n": .int(Int64(random.number(below: 9)))], withID: "local-\(random.number(below: 3))")
        }
      case 1:
        try store.ensureIndexed([SortField(["a", "b", "name"][random.number(below: 3)])])
      case 2:
        if random.chance(30) {
          try store.write { _ = try $0.purge(id) }
        } else {
          _ = try? store.deleteDocument(withID: id)
        }
      case 3: _ = try store.compact()
      case 4...6:
        // A conflict, or the continuation of a branch, as a replicator brings it.
        let generation = 1 + random.number(below: 4)
        let branch = ["a", "b", "c"][random.number(below: 3)]
        let history = (1...generation).reversed().map { RevisionID("\($0)-\($0 == 1 ? "root" : branch)") }
          .compactMap { $0 }
        let isDeleted = random.chance(20)
        try store.write { transaction in
          _ = try transaction.forceInsert(
            DocumentRevision(
              id: id, revisionID: history[0], body: isDeleted ? [:] : random.body(), isDeleted: isDeleted),
            history: random.chance(80) ? history : [history[0]])
        }
      default:
        let body = random.body()
        let content = Data("content \(random.number(below: 5))".utf8)
        try store.write { transaction in
          guard var known = try? transaction.document(withID: id) else {
            _ = try transaction.createDocument(from: DocumentDraft(id: id, body: body))
            return
          }
          known.body = body
          if random.chance(30) {
            known.attachments["file"] = DocumentAttachment(
              data: content, name: "file", contentType: "text/plain")
          }
          if random.chance(10) {
            known.attachments["empty"] = DocumentAttachment(
              data: Data(), name: "empty", contentType: "text/plain")
          }
          _ = try transaction.updateDocument(from: known)
        }
      }
    }
  }

  /// All that a datastore has, as text.
  static func content(of store: Datastore) throws -> [String] {
    let indexes = try store.listIndexes().map { "index \($0.name)" }
    return try store.read { transaction in
      var lines: [String] = indexes
      for id in try transaction.localDocumentIDs() {
        lines.append("local \(id) \(try transaction.localDocument(withID: id)?.text ?? "")")
      }
      for change in try transaction.changes().documents.sorted(by: { $0.id < $1.id }) {
        guard let tree = try transaction.tree(ofDocument: change.id) else { continue }
        lines.append("document \(change.id) \(tree.winner.id)")
        for leaf in tree.leaves {
          let revision = try transaction.document(withID: change.id, revisionID: leaf.id)
          let attachments = try revision.attachments.map {
            "\($0.name) \($0.contentType) \($0.generation ?? 0) \(String(decoding: try $0.data(), as: UTF8.self))"
          }
          lines.append(
            "leaf \(tree.history(of: leaf.id).map(\.id)) \(leaf.isDeleted) \(String(decoding: revision.bodyText, as: UTF8.self)) \(attachments)"
          )
        }
      }
      return lines
    }
  }

  static let key = Encryption.key((0..<32).map { UInt8($0) })

  static func restored(
    _ directory: String, at point: Backup.Point = .newest, _ encryption: Encryption? = nil,
    _ body: (Datastore) throws -> Void
  ) throws {
    var options = DatastoreOptions(encryption: encryption)
    options.memoryBudget = 0
    let manager = try DatastoreManager.inMemory(options: options)
    let store = try manager.datastore(named: "restored")
    try store.restore(from: Backup(directory: directory, encryption: encryption), at: point)
    try body(store)
    try manager.closeDatastore(named: "restored")
  }

  @Test func `a datastore that is opened for a user is backed up, restored and compared as a whole`() throws {
    try withTemporaryDirectory(inMemory: true) { directory in
      let options = DatastoreOptions(rules: .enforced(as: UserContext(name: "anna")))
      let manager = try DatastoreManager(directory: "\(directory)/stores", options: options)
      let store = try manager.datastore(named: "store")
      try store.createDocument(from: DocumentDraft(id: "a", body: ["owner": "bob", "n": -1]))
      let free = try DatastoreManager(directory: "\(directory)/stores")
      defer { free.close() }
      try free.datastore(named: "store").setRules([
        "validate_doc_update": ["newDoc.n": ["$gte": 0]],
        "read": [["roles": ["*"], "selector": ["owner": ["$data": "userCtx.name"]]]],
      ])
      #expect(try store.read { try $0.documentCount() } == 0)
      let report = try store.backup(to: "\(directory)/backup")
      #expect(report.documents == 2)
      let other = try manager.datastore(named: "other")
      try other.restore(from: Backup(directory: "\(directory)/backup"))
      var differences: [StoreDifference] = []
      #expect(try store.compare(with: other) { differences.append($0) } == 2)
      #expect(differences == [])
      manager.close()
    }
  }

  @Test(arguments: 1...6, [nil, key]) func `every state can be restored`(
    seed: Int, encryption: Encryption?
  ) throws {
    try withTemporaryDirectory(inMemory: true) { directory in
      var options = DatastoreOptions(encryption: encryption)
      // Transactions are then larger than SQLite's caches.
      if seed % 2 == 0 { options.memoryBudget = 0 }
      let manager = try DatastoreManager(directory: "\(directory)/stores", options: options)
      let store = try manager.datastore(named: "store")
      var writer = RandomWriter(seed: UInt64(seed))
      var states: [(sequence: Int64, content: [String])] = []
      for _ in 0..<6 {
        for _ in 0..<writer.random.number(below: 40) { try writer.change(store) }
        let report = try store.backup(to: "\(directory)/backup")
        if states.last?.sequence == report.increment.sequence { states.removeLast() }
        states.append((report.increment.sequence, try Self.content(of: store)))
      }
      #expect(try Backup(directory: "\(directory)/backup", encryption: encryption).verify() == [])
      for state in states {
        try Self.restored("\(directory)/backup", at: .sequence(state.sequence), encryption) {
          restored throws in
          #expect(try Self.content(of: restored) == state.content)
          #expect(try restored.checkIntegrity() == [])
          #expect(try restored.checkIndexes() == [])
        }
      }
      try Self.restored("\(directory)/backup", at: .newest, encryption) { restored throws in
        var differences: [StoreDifference] = []
        try store.compare(with: restored) { differences.append($0) }
        #expect(differences == [])
      }
      manager.close()
    }
  }

  @Test func `only what has changed is saved`() throws {
    try withStore { store, directory in
      for number in 0..<200 {
        try store.createDocument(from: DocumentDraft(id: "\(number)", body: ["n": .int(Int64(number))]))
      }
      let first = try store.backup(to: directory)
      #expect(first.documents == 200)
      let same = try store.backup(to: directory)
      #expect(same.bytes == 0)
      #expect(same.increment == first.increment)
      try store.updateDocument(withID: "7") { $0.body["n"] = 8 }
      let second = try store.backup(to: directory)
      #expect(second.documents == 1)
      #expect(second.bytes < 10_000)
      #expect(try Backup(directory: directory).increments() == [first.increment, second.increment])
      try Self.restored(directory, at: .time(first.increment.time)) { restored throws in
        #expect(try restored.document(withID: "7").body["n"] == 7)
      }
    }
  }

  @Test func `a time names the last state that is not later, also after the clock was set back`() throws {
    try withStore { store, directory in
      for number in 1...3 {
        try store.createDocument(from: DocumentDraft(id: "\(number)", body: [:]))
        let made = try store.backup(to: directory).increment.time
        // As if the clock had gone back by two days after the first state, and by one day after the second.
        let shown = try #require(
          ISO8601.date(["2026-05-09T12:00:00Z", "2026-05-07T12:00:00Z", "2026-05-08T12:00:00Z"][number - 1]))
        let path = "\(directory)/0000000\(number).jsonl"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try text.replacing(
          ISO8601.text(of: made) ?? "", with: ISO8601.text(of: shown) ?? "", maxReplacements: 1
        )
        .write(toFile: path, atomically: true, encoding: .utf8)
      }
      let files = try BackupFiles(Backup(directory: directory))
      for (time, count) in [
        ("2026-05-07T13:00:00Z", 2), ("2026-05-08T13:00:00Z", 3), ("2026-05-09T13:00:00Z", 3),
      ] {
        #expect(try files.files(upTo: .time(#require(ISO8601.date(time)))).count == count)
      }
      #expect(throws: DatastoreError.self) {
        try files.files(upTo: .time(#require(ISO8601.date("2026-05-06T13:00:00Z"))))
      }
    }
  }

  @Test func `a backup is of one datastore`() throws {
    try withStore { store, directory in
      try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      try store.backup(to: directory)
      let manager = try DatastoreManager.inMemory()
      let other = try manager.datastore(named: "other")
      #expect(throws: DatastoreError.self) { try other.backup(to: directory) }
      #expect(throws: DatastoreError.self) { try store.restore(from: Backup(directory: directory)) }
      #expect(throws: DatastoreError.self) {
        try other.restore(from: Backup(directory: directory), at: .sequence(0))
      }
      #expect(throws: DatastoreError.self) {
        try other.restore(from: Backup(directory: "\(directory)/nothing"))
      }
      #expect(try other.read { try $0.lastSequence() } == 0)
      manager.close()
    }
  }

  /// A copy of the datastore's directory is put back, and another history begins.
  @Test func `a backup is of one history`() throws {
    try withTemporaryDirectory(inMemory: true) { directory in
      let path = "\(directory)/stores/store"
      func withStore(_ body: (Datastore) throws -> Void) throws {
        let manager = try DatastoreManager(directory: "\(directory)/stores")
        try body(manager.datastore(named: "store"))
        manager.close()
      }
      try withStore { try $0.createDocument(from: DocumentDraft(id: "a", body: [:])) }
      try FileManager.default.copyItem(atPath: path, toPath: "\(directory)/copy")
      try withStore { store in
        try store.createDocument(from: DocumentDraft(id: "b", body: [:]))
        try store.backup(to: "\(directory)/backup")
      }
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.moveItem(atPath: "\(directory)/copy", toPath: path)
      try withStore { store in
        try store.createDocument(from: DocumentDraft(id: "c", body: [:]))
        let error = #expect(throws: DatastoreError.self) { try store.backup(to: "\(directory)/backup") }
        #expect(error?.code == .unknownSequence)
      }
    }
  }

  @Test(arguments: [nil, key])
  func `damage is found, and nothing of it is restored as right`(encryption: Encryption?) throws {
    try withStore(encryption) { store, directory in
      for number in 0..<20 {
        var draft = DocumentDraft(
          id: "\(number)", body: ["text": .string(String(repeating: "x", count: 100))])
        draft.attachments["f"] = DocumentAttachment(
          data: Data("\(number)".utf8), name: "f", contentType: "text/plain")
        try store.createDocument(from: draft)
      }
      try store.backup(to: directory)
      try store.updateDocument(withID: "3") { $0.body["text"] = "y" }
      try store.backup(to: directory)
      var random = SeededGenerator(seed: 7)
      let files = try FileManager.default.subpathsOfDirectory(atPath: directory).filter {
        $0.hasSuffix(".jsonl") || $0.hasSuffix(".sealed")
          || $0.hasPrefix("attachments/") && !$0.hasSuffix(".lock")
      }
      for _ in 0..<300 {
        let path = "\(directory)/\(files[Int.random(in: 0..<files.count, using: &random)])"
        let original = try Data(contentsOf: URL(filePath: path))
        guard !original.isEmpty else { continue }
        var damaged = original
        let place = Int.random(in: 0..<damaged.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: damaged[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: damaged = damaged.prefix(place)
        default: damaged.insert(UInt8.random(in: 0...255, using: &random), at: place)
        }
        try damaged.write(to: URL(filePath: path))
        defer { try? original.write(to: URL(filePath: path)) }
        let backup = Backup(directory: directory, encryption: encryption)
        let findings = try? backup.verify()
        #expect(findings?.isEmpty != true)
        if encryption != nil {
          #expect(findings?.contains { $0.description.contains(path) } == true, "\(path): \(findings ?? [])")
        }
        let manager = try DatastoreManager.inMemory()
        let error = #expect(throws: DatastoreError.self) {
          try manager.datastore(named: "restored").restore(from: backup)
        }
        #expect(error.map { [.corrupt, .notFound, .newerFormat].contains($0.code) } == true)
        manager.close()
      }
      #expect(try Backup(directory: directory, encryption: encryption).verify() == [])
    }
  }

  @Test func `states before a file that is damaged or missing can be restored`() throws {
    for damage in 0..<3 {
      try withStore { store, directory in
        for number in 1...4 {
          try store.createDocument(from: DocumentDraft(id: "\(number)", body: [:]))
          try store.backup(to: directory)
        }
        let third = "\(directory)/00000003.jsonl"
        switch damage {
        case 0: try Data().write(to: URL(filePath: third))
        case 1: try FileManager.default.removeItem(atPath: third)
        default: try FileManager.default.copyItem(atPath: third, toPath: "\(directory)/00000009.jsonl")
        }
        let intact = damage == 2 ? 4 : 2
        #expect(try Backup(directory: directory).increments().map(\.sequence) == Array(1...Int64(intact)))
        #expect(try Backup(directory: directory).verify().count == 1)
        try Self.restored(directory, at: .sequence(2)) { restored throws in
          #expect(try restored.read { try $0.allDocumentIDs() } == ["1", "2"])
        }
        let manager = try DatastoreManager.inMemory()
        let error = #expect(throws: DatastoreError.self) {
          try manager.datastore(named: "restored").restore(from: Backup(directory: directory))
        }
        #expect(error?.code == .corrupt)
        #expect(throws: DatastoreError.self) { try store.backup(to: directory) }
        manager.close()
      }
    }
  }

  @Test func `a state without local documents brings none back`() throws {
    try withStore { store, directory in
      func set(_ document: JSONObject?, _ id: String) throws {
        try store.write { try $0.setLocalDocument(document, withID: id) }
      }
      var states: [[String]] = []
      for step in 0..<7 {
        switch step {
        case 0: try set(["n": 1], "a")
        case 1: try set(nil, "a")
        case 2: try store.createDocument(from: DocumentDraft(id: "x", body: [:]))
        case 3: try set(["n": 2], "b")
        case 4: try store.createDocument(from: DocumentDraft(id: "y", body: [:]))
        case 5: try set(nil, "b")
        default: try store.createDocument(from: DocumentDraft(id: "z", body: [:]))
        }
        try store.backup(to: directory)
        states.append(try Self.content(of: store))
      }
      // Those that have another sequence than the next one.
      for (sequence, state) in [(0, states[1]), (1, states[3]), (2, states[5]), (3, states[6])] {
        try Self.restored(directory, at: .sequence(Int64(sequence))) { restored throws in
          #expect(try Self.content(of: restored) == state)
        }
      }
    }
  }

  @Test(arguments: [nil, key])
  func `everything but an attachment that is missing or damaged is saved`(encryption: Encryption?) throws {
    try withTemporaryDirectory(inMemory: true) { directory in
      let manager = try DatastoreManager(
        directory: "\(directory)/stores", options: DatastoreOptions(encryption: encryption))
      defer { manager.close() }
      let store = try manager.datastore(named: "store")
      let backup = "\(directory)/backup"
      for (number, id) in ["one", "two", "three"].enumerated() {
        var draft = DocumentDraft(id: id, body: [:])
        for name in ["f", "g"] {
          draft.attachments[name] = DocumentAttachment(
            data: Data("\(name) of \(id)".utf8), name: name, contentType: "text/plain")
        }
        try store.createDocument(from: draft)
        guard number > 0 else { continue }
        let contents = "\(store.directory)/attachments"
        let last = try #require(
          try store.document(withID: id).attachments["f"].map { attachment in
            try FileManager.default.contentsOfDirectory(atPath: contents).map { "\(contents)/\($0)" }
              .first { path in
                let moved = "\(directory)/moved"
                try FileManager.default.moveItem(atPath: path, toPath: moved)
                defer { try? FileManager.default.moveItem(atPath: moved, toPath: path) }
                return (try? attachment.data()) == nil
              }
          } ?? nil)
        if number == 1 {
          try FileManager.default.removeItem(atPath: last)
        } else {
          var bytes = try Data(contentsOf: URL(filePath: last))
          bytes[bytes.count - 1] ^= 1
          try bytes.write(to: URL(filePath: last))
        }
      }
      let report = try store.backup(to: backup)
      #expect(report.losses.map(\.documentID) == ["two", "three"])
      #expect(report.losses.allSatisfy { $0.kind == .attachment && $0.message.contains("\"f\"") })
      #expect(try store.backup(to: backup).losses == [])
      let saved = Backup(directory: backup, encryption: encryption)
      #expect(try saved.verify() == report.losses)
      let other = try DatastoreManager.inMemory(options: DatastoreOptions(encryption: encryption))
      let restored = try other.datastore(named: "restored")
      #expect(try restored.restore(from: saved).losses == report.losses)
      #expect(try restored.document(withID: "one").attachments.map(\.name) == ["f", "g"])
      #expect(try restored.document(withID: "two").attachments.map(\.name) == ["g"])
      other.close()
      // A later state has nothing of what was lost before.
      try store.updateDocument(withID: "two") {
        $0.attachments["f"] = DocumentAttachment(data: Data([1]), name: "f", contentType: "text/plain")
      }
      try store.deleteDocument(withID: "three")
      #expect(try store.backup(to: backup).losses == [])
      let last = try DatastoreManager.inMemory(options: DatastoreOptions(encryption: encryption))
      #expect(try last.datastore(named: "restored").restore(from: saved).losses == [])
      last.close()
    }
  }

  @Test func `a datastore that is deleted while it is backed up has lost no attachments`() throws {
    try withTemporaryDirectory(inMemory: true) { directory in
      let manager = try DatastoreManager(directory: "\(directory)/stores")
      let store = try manager.datastore(named: "store")
      var draft = DocumentDraft(id: "a", body: [:])
      draft.attachments["f"] = DocumentAttachment(data: Data([1]), name: "f", contentType: "text/plain")
      try store.createDocument(from: draft)
      for number in 0..<2_000 {
        try store.createDocument(from: DocumentDraft(id: "b\(number)", body: [:]))
      }
      try store.updateDocument(withID: "a") { $0.body["n"] = 1 }
      // After the first thousand documents, and before the one with the attachment.
      let error = #expect(throws: DatastoreError.self) {
        try store.backup(to: "\(directory)/backup") { done, _ in
          if done == 1_000 { try? FileManager.default.removeItem(atPath: store.directory) }
        }
      }
      #expect(error?.code == .closed)
      #expect(throws: DatastoreError.self) { try Backup(directory: "\(directory)/backup").verify() }
      manager.close()
    }
  }

  /// Clients of a server tell a database from an earlier one of its name by this time, which is part of each sequence.
  @Test func `a restored database has another identity, and its other settings`() throws {
    try withStore { store, directory in
      let id = "\u{1}server"
      try store.write { try $0.setLocalDocument(["created": "5", "revisionsLimit": 7], withID: id) }
      try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      try store.backup(to: directory)
      try Self.restored(directory) { restored in
        let settings = try restored.read { try $0.localDocument(withID: id) }
        #expect(settings?["revisionsLimit"] == 7)
        #expect(
          settings?["created"]?.stringValue.flatMap { Int64($0) }.map { $0 > 1_700_000_000_000_000 } == true)
      }
    }
  }

  @Test func `a directory with other files is not taken for a backup`() throws {
    try withStore { store, directory in
      try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      for place in [store.directory, store.manager] {
        let error = #expect(throws: DatastoreError.self) { try store.backup(to: place) }
        #expect(error?.code == .conflict)
      }
    }
  }

  @Test func `differences are told`() throws {
    let manager = try DatastoreManager.inMemory()
    let (first, second) = (try manager.datastore(named: "first"), try manager.datastore(named: "second"))
    for store in [first, second] {
      try store.write { transaction in
        for (id, revision) in [("body", "1-a"), ("leaves", "1-a"), ("same", "1-a"), ("attachments", "1-a")] {
          let isFirst = store === first
          var body: JSONObject = ["x": 1, "y": 2]
          if id == "same", isFirst { body = ["y": 2, "x": 1] }
          if id == "body", isFirst { body = ["x": 2, "y": 2] }
          var document = DocumentRevision(id: id, revisionID: try #require(RevisionID(revision)), body: body)
          if id == "attachments", isFirst {
            document.attachments["f"] = DocumentAttachment(data: Data([1]), name: "f", contentType: "a/b")
          }
          try transaction.forceInsert(document)
        }
      }
    }
    try first.createDocument(from: DocumentDraft(id: "only first", body: [:]))
    try second.createDocument(from: DocumentDraft(id: "only second", body: [:]))
    try first.write { transaction in
      let revisions = ["2-b", "1-a"].compactMap { RevisionID($0) }
      try transaction.forceInsert(
        DocumentRevision(id: "leaves", revisionID: revisions[0], body: [:]), history: revisions)
    }
    var differences: [StoreDifference] = []
    let count = try first.compare(with: second) { differences.append($0) }
    #expect(count == 6)
    let (one, two) = (try #require(RevisionID("1-a")), try #require(RevisionID("2-b")))
    #expect(
      differences.map(\.kind) == [
        .attachments(one), .body(one), .leaves(missing: [two], added: [one]), .missing, .added,
      ])
    manager.close()
  }

  private func withStore(
    _ encryption: Encryption? = nil, _ body: (Datastore, _ directory: String) throws -> Void
  ) throws {
    try withTemporaryDirectory(inMemory: true) { directory in
      let manager = try DatastoreManager.inMemory(options: DatastoreOptions(encryption: encryption))
      defer { manager.close() }
      try body(manager.datastore(named: "store"), "\(directory)/backup")
    }
  }
}

extension Datastore {
  /// The directory of the manager.
  fileprivate var manager: String { URL(filePath: directory).deletingLastPathComponent().path }
}

extension DatastoreManager {
  /// Closes all datastores.
  fileprivate func close() {
    for name in (try? datastoreNames()) ?? [] { try? closeDatastore(named: name) }
  }
}
