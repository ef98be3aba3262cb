public import CDTQuery

/// The things to do of one user, on disk.
///
/// ```swift
/// let store = try await ToDoStore(directory: "stores")
/// let milk = try await store.add("Buy milk", tags: ["shop"])
/// try await store.toggle(milk.id)
/// for try await open in store.updates() { show(open) }
/// ```
///
/// It has no state of its own: what is on disk is the state, and a view is a query.
public struct ToDoStore: Sendable {
  /// Keeps the store open, which closes with its manager.
  private let manager: DatastoreManager
  /// The documents. Synchronization works with them as well.
  public let documents: Datastore

  /// Opens the store in a directory, creating it when it is missing.
  public init(directory: String) async throws {
    manager = try DatastoreManager(directory: directory)
    documents = try await manager.datastore(named: "todos")
    try await documents.ensureIndexed(["isDone", "title"])
  }

  /// Adds a thing to do.
  @discardableResult
  public func add(_ title: String, tags: Set<String> = []) async throws -> ToDo {
    let content = Content(title: title, isDone: false, tags: tags.sorted())
    return try ToDo(await documents.createDocument(from: DocumentDraft(encoding: content)))
  }

  /// Marks a thing as done, or as open again.
  ///
  /// Reading and saving are one transaction, so no other change is lost. Members of the document that this version does
  /// not know stay.
  ///
  /// - Returns: The thing as it is now; `nil` when it was deleted meanwhile.
  @discardableResult
  public func toggle(_ id: ToDo.ID) async throws -> ToDo? {
    do {
      return try ToDo(
        await documents.updateDocument(withID: id) { document in
          document.body["isDone"] = document.body["isDone"]?.boolValue != true
        })
    } catch let error as DatastoreError where error.code == .notFound {
      return nil
    }
  }

  /// Everything, open things first, each part by title.
  public func all() async throws -> [ToDo] {
    try await documents.find([:], sort: ["isDone", "title"]).map(ToDo.init)
  }

  /// The things that have a tag, by title.
  public func tagged(_ tag: String) async throws -> [ToDo] {
    try await documents.find(["tags": .string(tag)], sort: ["title"]).map(ToDo.init)
  }

  /// The list as it is now, and again after every change, whoever makes it.
  ///
  /// Changes that come while the consumer is busy give one list. As long as nothing was ever added, there is none.
  public func updates() -> some AsyncSequence<[ToDo], any Error> {
    documents.liveChanges().map { [self] _ in try await all() }
  }

  /// Merges the versions of things that were changed in two places: done in one is done, and no tag is lost.
  ///
  /// - Returns: How many things had more than one version.
  @discardableResult
  public func resolveConflicts() async throws -> Int {
    let ids = try await documents.read { try $0.conflictedDocumentIDs() }
    for id in ids {
      try await documents.write { transaction in
        try transaction.resolveConflicts(for: id) { _, versions in
          var merged = versions[0]  // the winner; the title is taken from it
          let contents = try versions.map { try $0.decode(Content.self) }
          merged.body["isDone"] = contents.contains(where: \.isDone)
          merged.body["tags"] = Set(contents.flatMap(\.tags)).sorted()
          return merged
        }
      }
    }
    return ids.count
  }
}

/// The body of a document. Its id is not in it, but the document's.
private struct Content: Codable {
  var title: String
  var isDone: Bool
  var tags: [String]
}

extension ToDo {
  fileprivate init(_ document: DocumentRevision) throws {
    let content = try document.decode(Content.self)
    self.init(id: document.id, title: content.title, isDone: content.isDone, tags: Set(content.tags))
  }
}
