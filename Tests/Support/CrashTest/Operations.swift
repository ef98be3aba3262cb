import CDTDatastore
import CDTImport
import CDTJSON
import CDTQuery
import CDTRecovery
import CDTTestSupport
import CDTWorkloads
import Foundation

/// An operation of the public API, in which calls fail.
struct Operation: Sendable {
  let name: String
  /// Whether it opens the datastore itself; otherwise it is open before.
  var opens = false
  /// Whether an error leaves the datastore unchanged.
  var isAtomic = true
  /// Whether an answer is right, too, when a call has failed.
  var isRightWithFault: @Sendable (_ answer: String) -> Bool = { _ in false }
  /// The fixture of an earlier version that it works on, instead of the store of ``FaultRun``.
  var fixture: String?
  /// Does it, and gives its answer as text.
  let run: @Sendable (inout Use) throws -> String

  init(
    _ name: String, opens: Bool = false, isAtomic: Bool = true, fixture: String? = nil,
    isRightWithFault: @escaping @Sendable (String) -> Bool = { _ in false },
    _ run: @escaping @Sendable (inout Use) throws -> String
  ) {
    self.name = name
    self.opens = opens
    self.isAtomic = isAtomic
    self.isRightWithFault = isRightWithFault
    self.fixture = fixture
    self.run = run
  }

  /// The store and files that an operation works on.
  struct Use {
    let directory: String
    /// Files outside of the directory, in which nothing fails.
    let files: String
    var options = DatastoreOptions()
    var session: Session?

    var store: Datastore {
      get throws {
        guard let session else { throw Faults.Missing() }
        return session.store
      }
    }

    mutating func open() throws -> Datastore {
      let session = try Session(directory, options: options)
      self.session = session
      return session.store
    }
  }
}

extension Operation {
  static let all = opening + writing + attaching + reading + querying + indexing + maintaining

  private static let opening = [
    Operation("open", opens: true) { "\(try $0.open().read { try $0.documentCount() })" },
    // A directory that can't be looked into is left out.
    Operation("open and list", opens: true, isRightWithFault: \.isEmpty) { use in
      try DatastoreManager(directory: use.directory, options: use.options).datastoreNames().joined()
    },
    Operation("delete the datastore", opens: true) { use in
      try DatastoreManager(directory: use.directory, options: use.options).deleteDatastore(
        named: Session.name)
      return ""
    },
    Operation("encrypt the datastore anew", opens: true) { use in
      try DatastoreManager(directory: use.directory, options: use.options).reencryptDatastore(
        named: Session.name, with: Session.key)
      return ""
    },
    Operation("create another datastore", opens: true) { use in
      let manager = try DatastoreManager(directory: use.directory, options: use.options)
      try manager.datastore(named: "other").createDocument(from: DocumentDraft(body: [:]))
      try manager.closeDatastore(named: "other")
      try manager.deleteDatastore(named: "other")
      return ""
    },
    Operation("close", opens: true) { use in
      let count = try use.open().read { try $0.documentCount() }
      try use.session?.close()
      use.session = nil
      return "\(count)"
    },
    Operation("upgrade version 1", opens: true, fixture: "schema-v1") {
      "\(try $0.open().read { try $0.documentCount() })"
    },
    Operation("upgrade version 2", opens: true, fixture: "schema-v2") {
      "\(try $0.open().read { try $0.documentCount() })"
    },
    Operation("upgrade version 3", opens: true, fixture: "schema-v3") {
      "\(try $0.open().read { try $0.documentCount() })"
    },
    Operation("upgrade version 4", opens: true, fixture: "schema-v4") {
      "\(try $0.open().read { try $0.documentCount() })"
    },
    Operation("upgrade version 6", opens: true, fixture: "schema-v6") {
      "\(try $0.open().read { try $0.documentCount() })"
    },
    Operation("upgrade version 5", opens: true, fixture: "schema-v5") { use in
      let store = try use.open()
      try store.compact()
      return "\(try store.read { try $0.documentCount() })"
    },
  ]

  private static let body: JSONObject = ["n": 7, "kind": "red", "tags": ["blue"], "text": "a new word"]

  private static let writing = [
    Operation("create") { use in
      try use.store.createDocument(from: DocumentDraft(id: "new", body: body)).revisionID.description
    },
    Operation("update") {
      try $0.store.updateDocument(withID: "d1") { $0.body = body }.revisionID.description
    },
    Operation("delete") { "\(try $0.store.deleteDocument(withID: "d1").count)" },
    Operation("write") { use in
      try use.store.write { transaction in
        for number in 3..<6 { try transaction.updateDocument(withID: "d\(number)") { $0.body = body } }
        try transaction.deleteDocument(withID: "d1")
        try transaction.createDocument(from: DocumentDraft(id: "new", body: body))
        try transaction.setLocalDocument(body, withID: "l0")
        return "\(try transaction.documentCount())"
      }
    },
    Operation("force insert") { use in
      let suffix = String(repeating: "f", count: 32)
      let revision = DocumentRevision(
        id: "d2", revisionID: RevisionID(generation: 1, suffix: suffix), body: body)
      return "\(try use.store.write { try $0.forceInsert(revision) })"
    },
    Operation("resolve") { use in
      try use.store.write { try $0.resolveConflicts(for: "conflict") { _, leaves in leaves.last } }?
        .revisionID.description
        ?? ""
    },
    Operation("set a local document") { use in
      try use.store.write { try $0.setLocalDocument(body, withID: "l0") }
      return ""
    },
    Operation("import", isAtomic: false) { use in
      var importer = DocumentImporter(into: try use.store)
      importer.onConflict = .replace
      importer.batchSize = 3
      return "\(try importer.run(["\(use.files)/lines.jsonl"]).written)"
    },
    Operation("import from TouchDB", isAtomic: false) { use in
      try TouchDBFixture.run(into: try use.store)
      return ""
    },
  ]

  private static let attaching = [
    Operation("attach data") { use in
      let data = Data(String(repeating: "new content ", count: 700).utf8)
      return try use.store.updateDocument(withID: "d1") { document in
        document.attachments["a"] = DocumentAttachment(data: data, name: "a", contentType: "text/plain")
        document.attachments["b"] = DocumentAttachment(
          data: data + data, name: "b", contentType: "text/plain")
      }.revisionID.description
    },
    Operation("attach a file") { use in
      let attachment = DocumentAttachment(file: "\(use.files)/content", name: "a", contentType: "text/plain")
      return try use.store.createDocument(
        from: DocumentDraft(id: "new", body: [:], attachments: [attachment])
      )
      .revisionID.description
    },
    Operation("read an attachment") { use in
      "\(try use.store.document(withID: "d0").attachments["a0"]?.data().count ?? 0)"
    },
    Operation("write an attachment out") { use in
      let target = "\(use.directory)/written"
      try use.store.document(withID: "d0").attachments["a0"]?.write(toFile: target)
      return "\(size(of: target))"
    },
  ]

  /// By a call that does not fail.
  private static func size(of path: String) -> Int {
    guard let file = fopen(path, "r") else { return -1 }
    defer { fclose(file) }
    fseek(file, 0, SEEK_END)
    return ftell(file)
  }

  private static let reading = [
    Operation("read") { try $0.store.document(withID: "d1").body.text },
    Operation("read all") { "\(try $0.store.read { try $0.allDocuments() }.map(\.body.text))" },
    Operation("read a local document") {
      try $0.store.read { try $0.localDocument(withID: "l0") }?.text ?? ""
    },
    Operation("changes") { "\(try $0.store.changes().documents.map(\.id))" },
    Operation("history") { use in
      let store = try use.store
      return
        "\(try store.read { try $0.revisionHistory(of: store.document(withID: "d0")) }.map(\.revisionID))"
    },
    Operation("conflicts") { use in
      let store = try use.store
      return
        "\(try store.read { try $0.conflictedDocumentIDs() }) \(try store.read { try $0.currentRevisions(ofDocument: "conflict") }.count)"
    },
    Operation("count documents") {
      "\(try $0.store.read { try $0.documentCount() }) \(try $0.store.read { try $0.attachmentCount() })"
    },
    Operation("export", opens: true) { use in
      try use.open().read { "\(try $0.allDocuments().map { [$0.json, try $0.attachments.inlineJSON()] })" }
    },
  ]

  private static let querying = [
    Operation("find") { "\(try $0.store.find(["n": ["$gt": 5]]).map(\.id).sorted())" },
    Operation("find sorted") { "\(try $0.store.find(["n": ["$gt": 5]], sort: ["n"]).map(\.id))" },
    Operation("find after opening", opens: true) {
      "\(try $0.open().find(["kind": "red"]).map(\.id).sorted())"
    },
    Operation("results") { use in
      let results = try use.store.results(for: Query(["tags": "blue"], sort: ["kind", .descending("n")]))
      defer { results.close() }
      var ids: [String] = []
      while let document = try results.next() { ids.append(document.id) }
      return "\(ids)"
    },
    Operation("count") { "\(try $0.store.count(["kind": "red"]))" },
    Operation("explain") { use in
      "\(try use.store.read { try $0.explain(Query(["_id": "d1"])) }.description.isEmpty)"
    },
    Operation("find in a write") { use in
      try use.store.write { transaction in
        try transaction.updateDocument(withID: "d1") { $0.body = body }
        return "\(try transaction.find(Query(["kind": "red"])).map(\.id).sorted())"
      }
    },
  ]

  private static let indexing = [
    Operation("create an index") { try $0.store.ensureIndexed(["more", "n"], name: "more") },
    Operation("create an index after opening", opens: true) {
      try $0.open().ensureIndexed(["more"], name: "more")
    },
    Operation("create a text index", isAtomic: false) { use in
      let store = try use.store
      if let text = try store.listIndexes().first(where: { $0.definition.type == .text }) {
        do {
          try store.deleteIndex(named: text.name)
        } catch let error as QueryError where error.code == .unknownIndex {
          // A deletion that failed was finished after the indexes were listed.
        }
      }
      return try store.ensureIndexed(["text", "kind"], .text, name: "texts")
    },
    Operation("delete an index") { use in
      let store = try use.store
      guard try store.listIndexes().contains(where: { $0.name == "by_n" }) else { return "" }
      try store.deleteIndex(named: "by_n")
      return ""
    },
    Operation("list indexes") { "\(try $0.store.listIndexes().map(\.name))" },
    Operation("update indexes") { use in
      try use.store.updateIndexes()
      return ""
    },
    Operation("rebuild indexes") { use in
      try use.store.rebuildIndexes()
      return ""
    },
    Operation("check indexes", isRightWithFault: isFinding) { "\(try $0.store.checkIndexes())" },
    Operation("check and repair indexes", isRightWithFault: isFinding) {
      "\(try $0.store.checkIndexes(repair: true))"
    },
  ]

  /// A check reports what it can't read.
  private static let isFinding: @Sendable (String) -> Bool = { $0 != "[]" }

  private static let maintaining = [
    Operation("compact") { use in
      try use.store.compact()
      return ""
    },
    Operation("check", isRightWithFault: isFinding) { "\(try $0.store.checkIntegrity())" },
    // What can't be read is a loss.
    Operation("recover", opens: true, isRightWithFault: { !$0.hasSuffix(", 0 losses") }) { use in
      let manager = try DatastoreManager(directory: use.directory, options: use.options)
      // Of an attempt that has failed.
      if try manager.datastoreNames().contains("saved") { try manager.deleteDatastore(named: "saved") }
      let saved = try manager.datastore(named: "saved")
      let report = try saved.recoverDocuments(from: "\(use.directory)/\(Session.name)")
      let losses = report.losses + (try saved.recoverIndexes(from: "\(use.directory)/\(Session.name)"))
      let indexes = try saved.listIndexes().count
      try manager.deleteDatastore(named: "saved")
      return "\(report.documents) documents, \(indexes) indexes, \(losses.count) losses"
    },
    Operation("size") { "\(try $0.store.sizeOnDisk() > 0)" },
  ]
}
