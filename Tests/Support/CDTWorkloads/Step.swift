package import CDTDatastore
import CDTImport
package import CDTJSON
package import CDTQuery
import CDTTestSupport
import Foundation

/// A change of one document, or of what belongs to it.
package enum Change: Sendable {
  case put(String, JSONObject, attachments: [String: String])
  case delete(String)
  /// A losing leaf, as a replicator writes it. The number makes its revision id.
  case rival(String, JSONObject, UInt64)
  /// The winner of a conflict is kept.
  case resolve(String)
  /// `nil` deletes the local document.
  case local(String, JSONObject?)
}

/// Something that a program does to a datastore. Each step can be done to a datastore, and to a model of one.
package enum Step: Sendable {
  /// A change by the datastore's own method, for which it makes a transaction.
  case change(Change)
  /// Changes in one transaction.
  case write([Change])
  case index(String, [SortField], IndexType)
  case dropIndex(String)
  case rebuildIndexes
  case compact
  case reopen
  case deleteDatastore
  /// Several transactions, one for every five documents.
  case importLines([String: JSONObject])
  /// Several transactions.
  case importTouchDB

  /// Whether a crash leaves all of it or nothing.
  package var isAtomic: Bool {
    switch self {
    case .importLines, .importTouchDB: false
    default: true
    }
  }
}

// MARK: On a model

extension Step {
  package func apply(to model: inout StoreModel) throws {
    switch self {
    case .change(let change): change.apply(to: &model)
    case .write(let changes): for change in changes { change.apply(to: &model) }
    case .index(let name, _, _): model.indexes.insert(name)
    case .dropIndex(let name): model.indexes.remove(name)
    case .rebuildIndexes, .compact, .reopen: break
    case .deleteDatastore: model = StoreModel()
    case .importLines(let documents):
      for (id, body) in documents {
        // Attachments are kept.
        Change.put(id, body, attachments: model.documents[id]?.attachments ?? [:]).apply(to: &model)
      }
    case .importTouchDB:
      let imported = try TouchDBFixture.content.get()
      model.documents.merge(imported.documents) { $1 }
      model.locals.merge(imported.locals) { old, _ in old }
    }
  }
}

extension Change {
  fileprivate func apply(to model: inout StoreModel) {
    switch self {
    case .put(let id, let body, let attachments):
      model.documents[id] = StoreModel.Document(
        body: body.text, attachments: attachments, rivals: model.documents[id]?.rivals ?? [])
    case .delete(let id): model.documents[id] = nil
    case .rival(let id, let body, _):
      let rivals = (model.documents[id]?.rivals ?? []) + [body.text]
      model.documents[id]?.rivals = rivals.sorted()
    case .resolve(let id): model.documents[id]?.rivals = []
    case .local(let id, let body): model.locals[id] = body?.text
    }
  }
}

// MARK: On a datastore

/// A datastore in use, with its manager.
package struct Session {
  package static let name = "store"

  package let manager: DatastoreManager
  package var store: Datastore

  /// The key of encrypted datastores.
  package static let key = Encryption.key([UInt8](repeating: 7, count: 32))

  /// Opens the datastore, also if it is encrypted.
  package init(_ directory: String, name: String = name, options: DatastoreOptions = .init()) throws {
    var options = options
    if FileManager.default.fileExists(atPath: "\(directory)/\(name)/encryption.json") {
      options.encryption = Self.key
    }
    manager = try DatastoreManager(directory: directory, options: options)
    store = try manager.datastore(named: name)
  }

  package func close() throws {
    try manager.closeDatastore(named: store.name)
  }

  /// The path to which the workload may write files of its own.
  fileprivate var scratch: String { "\(manager.directory).lines" }
}

extension Step {
  package func perform(in session: inout Session) throws {
    let store = session.store
    switch self {
    case .change(let change): try change.perform(on: store)
    case .write(let changes):
      try store.write { transaction in
        for change in changes { try change.perform(in: transaction) }
      }
    case .index(let name, let fields, let type):
      let options: IndexOptions =
        switch type {
        case .json: IndexOptions()
        case .place: .place
        case .text: .text
        case .vector: .vector(3)
        }
      try store.ensureIndexed(fields, options, name: name)
    case .dropIndex(let name): try store.deleteIndex(named: name)
    case .rebuildIndexes: try store.rebuildIndexes()
    case .compact: try store.compact()
    case .reopen:
      try session.close()
      session.store = try session.manager.datastore(named: Session.name)
    case .deleteDatastore:
      try session.manager.deleteDatastore(named: Session.name)
      session.store = try session.manager.datastore(named: Session.name)
    case .importLines(let documents):
      let lines = documents.sorted { $0.key < $1.key }.map { id, body in
        "{\"_id\":\(JSONValue.string(id).text),\(body.text.dropFirst())"
      }
      try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: session.scratch))
      var importer = DocumentImporter(into: store)
      importer.onConflict = .replace
      importer.batchSize = 5
      _ = try importer.run([session.scratch])
    case .importTouchDB: try TouchDBFixture.run(into: store)
    }
  }
}

extension Change {
  private static func saved(_ attachments: [String: String]) -> Attachments {
    Attachments(
      attachments.map {
        DocumentAttachment(data: Data($0.value.utf8), name: $0.key, contentType: "text/plain")
      })
  }

  private static func rival(_ id: String, _ body: JSONObject, _ number: UInt64) -> DocumentRevision {
    // Lower than any digest, so it loses.
    let digits = String(number, radix: 16)
    let suffix = String(repeating: "0", count: 32 - digits.count) + digits
    return DocumentRevision(id: id, revisionID: RevisionID(generation: 1, suffix: suffix), body: body)
  }

  fileprivate func perform(on store: Datastore) throws {
    switch self {
    case .put(let id, let body, let attachments):
      if try store.documents(withIDs: [id]).contains(where: { !$0.isDeleted }) {
        try store.updateDocument(withID: id) { document in
          document.body = body
          document.attachments = Self.saved(attachments)
        }
      } else {
        try store.createDocument(
          from: DocumentDraft(id: id, body: body, attachments: Self.saved(attachments)))
      }
    case .delete(let id): try store.deleteDocument(withID: id)
    case .rival(let id, let body, let number):
      try store.write { try $0.forceInsert(Self.rival(id, body, number)) }
    case .resolve(let id): try store.write { try $0.resolveConflicts(for: id) { _, leaves in leaves.first } }
    case .local(let id, let body): try store.write { try $0.setLocalDocument(body, withID: id) }
    }
  }

  fileprivate func perform(in transaction: WriteTransaction) throws {
    switch self {
    case .put(let id, let body, let attachments):
      if try transaction.documents(withIDs: [id]).contains(where: { !$0.isDeleted }) {
        try transaction.updateDocument(withID: id) { document in
          document.body = body
          document.attachments = Self.saved(attachments)
        }
      } else {
        try transaction.createDocument(
          from: DocumentDraft(id: id, body: body, attachments: Self.saved(attachments)))
      }
    case .delete(let id): try transaction.deleteDocument(withID: id)
    case .rival(let id, let body, let number): try transaction.forceInsert(Self.rival(id, body, number))
    case .resolve(let id): try transaction.resolveConflicts(for: id) { _, leaves in leaves.first }
    case .local(let id, let body): try transaction.setLocalDocument(body, withID: id)
    }
  }
}

/// The datastore of CDTDatastore 2.x that the tests have.
package enum TouchDBFixture {
  package static let path = Repository.root.appending(
    path: "Tests/CDTDatastoreTests/Import/Fixtures/touchdb/tasks.touchdb"
  ).path

  /// The content of the datastore.
  static let content = Result { () throws -> StoreModel in
    let directory = FileManager.default.temporaryDirectory.appending(path: "cdt-touchdb-\(UUID().uuidString)")
      .path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let session = try Session(directory)
    try run(into: session.store)
    let model = try StoreModel(reading: session.store)
    try session.close()
    return model
  }

  package static func run(into store: Datastore) throws {
    var importer = TouchDBImporter(into: store)
    importer.batchSize = 3
    _ = try importer.run(path)
  }
}
