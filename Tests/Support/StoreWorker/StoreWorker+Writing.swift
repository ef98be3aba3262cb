import CDTDatastore
import CDTImport
import CDTJSON
import Foundation

extension StoreWorker {
  mutating func raise(_ store: Datastore) throws {
    let counter = Int.random(in: 0..<Self.counters, using: &random)
    try store.updateDocument(withID: "counter-\(counter)") { document in
      document.body["n"] = (document.body["n"]?.intValue ?? 0) + 1
    }
    raised[counter] += 1
  }

  /// Reads and saves apart, so that others come between, and a conflict says so.
  mutating func raiseWhatWasRead(_ store: Datastore) throws {
    let counter = Int.random(in: 0..<Self.counters, using: &random)
    while true {
      var document = try store.document(withID: "counter-\(counter)")
      document.body["n"] = (document.body["n"]?.intValue ?? 0) + 1
      do {
        try store.updateDocument(from: document)
        raised[counter] += 1
        return
      } catch let error as DatastoreError where error.code == .conflict {
        continue
      }
    }
  }

  mutating func transfer(_ store: Datastore) throws {
    let payer = Int.random(in: 0..<Self.accounts, using: &random)
    let payee = (payer + Int.random(in: 1..<Self.accounts, using: &random)) % Self.accounts
    try store.write { transaction in
      try transaction.updateDocument(withID: "account-\(payer)") { document in
        document.body["balance"] = (document.body["balance"]?.intValue ?? 0) - 1
      }
      try transaction.updateDocument(withID: "account-\(payee)") { document in
        document.body["balance"] = (document.body["balance"]?.intValue ?? 0) + 1
      }
    }
  }

  mutating func newDocument() -> (id: String, group: Int64, draft: DocumentDraft) {
    created += 1
    let (id, group) = ("own-\(number)-\(created)", Int64.random(in: 0..<10, using: &random))
    let body: JSONObject = [
      "group": .int(group), "worker": .int(Int64(number)), "tags": ["a", .string("tag-\(group)")],
      "note": .string("a note of group\(group)"),
    ]
    return (id, group, DocumentDraft(id: id, body: body))
  }

  mutating func create(_ store: Datastore) throws {
    let new = newDocument()
    try store.createDocument(from: new.draft)
    own.append((new.id, new.group))
  }

  mutating func createSeveral(_ store: Datastore) throws {
    let new = (0..<20).map { _ in newDocument() }
    try store.write { transaction in
      for each in new { try transaction.createDocument(from: each.draft) }
    }
    own += new.map { ($0.id, $0.group) }
  }

  /// By a file, in one transaction.
  mutating func importSeveral(_ store: Datastore) throws {
    let new = (0..<20).map { _ in newDocument() }
    let lines = new.map { "{\"_id\":\"\($0.id)\",\($0.draft.body.text.dropFirst())" }
    let path = "\(directory)/lines-\(number)"
    try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: path))
    let report = try DocumentImporter(into: store).run([path])
    if report.imported != new.count { failures.append("import: \(report)") }
    own += new.map { ($0.id, $0.group) }
  }

  /// Keeps its own documents to a hundred.
  mutating func delete(_ store: Datastore) throws {
    guard own.count > 100 else { return }
    own.shuffle(using: &random)
    let gone = own.suffix(own.count - 60).map(\.id)
    try store.deleteDocument(withID: gone[0])
    own.removeAll { $0.id == gone[0] }
    try store.write { transaction in
      for id in gone.dropFirst() { try transaction.deleteDocument(withID: id) }
    }
    own.removeLast(gone.count - 1)
  }

  /// Creates, changes or deletes a document that the others do the same to. Who comes late is told so.
  mutating func changeShared(_ store: Datastore) throws {
    let id = "shared-\(Int.random(in: 0..<Self.sharedDocuments, using: &random))"
    let body: JSONObject = ["group": .int(Int64.random(in: 0..<10, using: &random)), "worker": -1]
    let kind = Int.random(in: 0..<3, using: &random)
    try allowing(.conflict, .notFound) { _ in
      switch kind {
      case 0: try store.createDocument(from: DocumentDraft(id: id, body: body))
      case 1: try store.updateDocument(withID: id) { $0.body = body }
      default: try store.deleteDocument(withID: id)
      }
    }
  }

  mutating func changeLocal(_ store: Datastore) throws {
    let id = "local-\(number)"
    let found = try store.read { try $0.localDocument(withID: id) }
    if found != local {
      failures.append("local: \(found?.text ?? "nothing"), not \(local?.text ?? "nothing")")
    }
    let body: JSONObject? =
      local != nil && Bool.random(using: &random)
      ? nil : ["n": .int(Int64.random(in: 0...1_000, using: &random))]
    try store.write { try $0.setLocalDocument(body, withID: id) }
    local = body
  }

  /// Inserts a revision as a replicator does, which makes a conflict.
  mutating func insertRival(_ store: Datastore) throws {
    let id = "rival-\(Int.random(in: 0..<Self.conflictedDocuments, using: &random))"
    let digits = String(UInt64.random(in: 0...(.max), using: &random), radix: 16)
    guard let revision = RevisionID("1-\(String(repeating: "0", count: 32 - digits.count))\(digits)") else {
      return
    }
    let body: JSONObject = ["group": .int(Int64.random(in: 0..<10, using: &random)), "worker": -1]
    try store.write { try $0.forceInsert(DocumentRevision(id: id, revisionID: revision, body: body)) }
    rivals.append([id, revision.description])
  }

  mutating func resolve(_ store: Datastore) throws {
    let id = "rival-\(Int.random(in: 0..<Self.conflictedDocuments, using: &random))"
    try allowing(.notFound) { worker in
      try store.write {
        try $0.resolveConflicts(for: id) { _, leaves in
          var kept = leaves.randomElement(using: &worker.random)
          if Bool.random(using: &worker.random) {
            kept?.body["group"] = .int(Int64.random(in: 0..<10, using: &worker.random))
          }
          return kept
        }
      }
      if try store.read({ try $0.currentRevisions(ofDocument: id) }).isEmpty {
        worker.failures.append("resolve: \(id) is gone")
      }
    }
  }

  // MARK: Attachments

  /// The body says what the attachment must have.
  mutating func attach(_ store: Datastore) throws {
    let id = "attached-\(Int.random(in: 0..<10, using: &random))"
    // Few contents, so that documents share some.
    let text = String(repeating: "\(Int.random(in: 0..<20, using: &random)) ", count: 500)
    let body: JSONObject = ["content": .string(text)]
    let attachment = DocumentAttachment(data: Data(text.utf8), name: "content", contentType: "text/plain")
    do {
      try store.updateDocument(withID: id) { ($0.body, $0.attachments) = (body, [attachment]) }
    } catch let error as DatastoreError where error.code == .notFound {
      try allowing(.conflict) { _ in
        try store.createDocument(from: DocumentDraft(id: id, body: body, attachments: [attachment]))
      }
    }
  }

  mutating func readAttachment(_ store: Datastore) throws {
    let id = "attached-\(Int.random(in: 0..<10, using: &random))"
    try allowing(.notFound) { worker in
      try store.read { snapshot in
        let document = try snapshot.document(withID: id)
        let data = try document.attachments["content"]?.data()
        if data.map({ .string(String(decoding: $0, as: UTF8.self)) }) != document.body["content"] {
          worker.failures.append("read attachment: that of \(id) is another than its body says")
        }
      }
    }
  }

  // MARK: A datastore that comes and goes

  mutating func usePassing() throws {
    let store = try shared.manager.datastore(named: "passing")
    try store.ensureIndexed(["n"], name: "by_n")
    let n = Int.random(in: 0..<100, using: &random)
    try store.createDocument(from: DocumentDraft(body: ["n": .int(Int64(n))]))
    for document in try store.find(["n": ["$lt": .int(Int64(n))]])
    where (document.body["n"]?.intValue ?? n) >= n {
      failures.append("passing: \(document.body) is not below \(n)")
    }
  }

  mutating func deletePassing() throws {
    try allowing(.notFound) { try $0.shared.manager.deleteDatastore(named: "passing") }
  }
}
