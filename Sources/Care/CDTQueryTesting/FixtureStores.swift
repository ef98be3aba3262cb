import CDTDatastore
import CDTJSON
import CDTQuery

/// Datastores with a fixture's documents and every set of its indexes.
struct FixtureStores {
  private let fixture: QueryFixture
  private let directory: String
  private static let storeName = "fixture"

  init(_ fixture: QueryFixture, directory: String) {
    self.fixture = fixture
    self.directory = directory
  }

  /// Calls a closure with each datastore and a description of it.
  ///
  /// Every set includes the text index, which text searches need.
  func forEach(_ body: (_ way: String, _ store: Datastore) throws -> Void) throws {
    try withStore { store in
      try store.write { transaction in
        for document in fixture.documents { try transaction.createDocument(from: document.draft) }
      }
      if let text = fixture.textIndex { _ = try store.ensure(text, isNamed: false, stop: nil) { _ in } }
      try body("without an index", store)
    }
    for indexes in indexSets {
      let name = indexes.count > 1 ? "every index" : "the index \(Self.spelling(of: indexes[0]))"
      try withStore { store in
        try fillWithUpdates(store, indexes)
        try body("with \(name), after updates", store)
        try store.updateIndexes()
        try body("with \(name)", store)
      }
    }
  }

  /// Each index alone, then all of them.
  private var indexSets: [[IndexDefinition]] {
    let text = fixture.textIndex.map { [$0] } ?? []
    let ordered = fixture.indexes.filter { $0.type != .text }
    let single = ordered.map { [$0] + text } + (text.isEmpty ? [] : [text])
    return ordered.count > 1 ? single + [ordered + text] : single
  }

  private static func spelling(of index: IndexDefinition) -> String {
    let fields = index.fields.map { $0.isDescending ? "\($0.path):desc" : $0.path }
    let others =
      (index.type == .text ? ["by words"] : []) + (index.collation.map { ["by", $0.rawValue] } ?? [])
    return (fields + others).joined(separator: " ")
  }

  private func withStore(_ body: (Datastore) throws -> Void) throws {
    var options = DatastoreOptions()
    options.durability = .normal
    let manager = try DatastoreManager(directory: directory, options: options)
    let store = try manager.datastore(named: Self.storeName)
    defer { try? manager.deleteDatastore(named: Self.storeName) }
    try body(store)
  }

  /// Leaves the indexes outdated: when they are built, each document has another document's body, and there is one
  /// more document, which is deleted before the query.
  private func fillWithUpdates(_ store: Datastore, _ indexes: [IndexDefinition]) throws {
    let documents = fixture.documents
    let late = documents.count / 3
    var revisions = try store.write { transaction in
      try documents.dropFirst(late).enumerated().map { number, document in
        var other = document.draft
        other.body = documents[number].body
        return try transaction.createDocument(from: other)
      }
    }
    let passing = try store.createDocument(
      from: DocumentDraft(id: "of the past", body: documents.last?.body ?? [:]))
    for index in indexes { _ = try store.ensure(index, isNamed: false, stop: nil) { _ in } }
    try store.deleteDocument(from: passing)
    try store.write { transaction in
      for (number, document) in documents.dropFirst(late).enumerated() {
        revisions[number].body = document.body
        try transaction.updateDocument(from: revisions[number])
      }
      for document in documents.prefix(late) { try transaction.createDocument(from: document.draft) }
    }
  }
}

extension DocumentRevision {
  fileprivate var draft: DocumentDraft { DocumentDraft(id: id, body: body) }
}

extension QueryFixture {
  var textIndex: IndexDefinition? { indexes.first { $0.type == .text } }
}
