import CDTDatastore
import JSON

/// Datastores that hold a fixture's documents, with every set of its indexes.
struct FixtureStores {
  private let fixture: QueryFixture
  private let directory: String
  private static let storeName = "fixture"

  init(_ fixture: QueryFixture, directory: String) {
    self.fixture = fixture
    self.directory = directory
  }

  /// Calls a closure with each datastore and what to call it, one after the other.
  func forEach(_ body: (_ way: String, _ store: Datastore) throws -> Void) throws {
    try withStore { store in
      try store.write { transaction in
        for document in fixture.documents { try transaction.createDocument(from: document) }
      }
      try body("without an index", store)
    }
    for indexes in indexSets {
      let name = indexes.count > 1 ? "every index" : "the index \(Self.spelling(of: indexes[0]))"
      try withStore { store in
        try fillWithUpdates(store, indexes)
        try body("with \(name), after updates", store)
        try store.updateAllIndexes()
        try body("with \(name)", store)
      }
    }
  }

  /// Each index alone, then all of them.
  private var indexSets: [[[JSONValue]]] {
    let single = fixture.indexes.map { [$0] }
    return fixture.indexes.count > 1 ? single + [fixture.indexes] : single
  }

  private static func spelling(of fields: [JSONValue]) -> String {
    fields.map { $0.stringValue ?? $0.text }.joined(separator: " ")
  }

  private func withStore(_ body: (Datastore) throws -> Void) throws {
    var options = DatastoreOptions()
    options.durability = .normal
    let manager = try DatastoreManager(directory: directory, options: options)
    let store = try manager.datastore(named: Self.storeName)
    defer { try? manager.deleteDatastore(named: Self.storeName) }
    try body(store)
  }

  /// Leaves the indexes with entries of the wrong documents: each document has had another's body when they were made,
  /// and one more came in whose body is gone by the time of the query.
  private func fillWithUpdates(_ store: Datastore, _ indexes: [[JSONValue]]) throws {
    let documents = fixture.documents
    let late = documents.count / 3
    var revisions = try store.write { transaction in
      try documents.dropFirst(late).enumerated().map { number, document in
        var other = document
        other.body = documents[number].body
        return try transaction.createDocument(from: other)
      }
    }
    let passing = try store.createDocument(
      from: DocumentRevision(id: "of the past", body: documents.last?.body ?? [:]))
    for fields in indexes { try store.ensureIndexed(fields) }
    try store.deleteDocument(from: passing)
    try store.write { transaction in
      for (number, document) in documents.dropFirst(late).enumerated() {
        revisions[number].body = document.body
        try transaction.updateDocument(from: revisions[number])
      }
      for document in documents.prefix(late) { try transaction.createDocument(from: document) }
    }
  }
}
