public import CDTQuery

/// The things to do of one user, on disk.
///
/// ```swift
/// let store = try await ToDoStore(directory: "stores")
/// let milk = try await store.add("Buy milk", tags: ["shop"])
/// try await store.toggle(milk.id)
/// for try await open in try store.updates() { show(open) }
/// ```
///
/// It has no state of its own: what is on disk is the state, and a view is a query.
public struct ToDoStore: Sendable {
  /// The documents. Synchronization works with them as well.
  public let documents: Datastore

  /// Opens the store in a directory, creating it when it is missing.
  public init(directory: String) async throws {
    let manager = try DatastoreManager(directory: directory)
    documents = try await manager.datastore(named: "todos")
    try await documents.ensureIndexed(ToDo.self, \.isDone, \.title)
  }

  /// Adds a thing to do.
  @discardableResult
  public func add(_ title: String, tags: Set<String> = []) async throws -> ToDo {
    try await documents.save(ToDo(title: title, tags: tags.sorted()))
  }

  /// Marks a thing as done, or as open again, in one transaction. Members of the document that this version does not know stay.
  ///
  /// - Returns: The thing as it is now; `nil` when it was deleted meanwhile.
  @discardableResult
  public func toggle(_ id: ToDo.ID) async throws -> ToDo? {
    try await documents.write { transaction in
      let isThere =
        try transaction.update(ToDo.self, where: { $0.id == id }, .apply { $0.isDone.toggle() }) > 0
      return isThere ? try transaction.document(withID: id, as: ToDo.self) : nil
    }
  }

  /// Everything, open things first, each part by title.
  public func all() async throws -> [ToDo] {
    try await documents.find(ToDo.self, sort: \.isDone.ascending, \.title.ascending)
  }

  /// The things that have a tag, by title.
  public func tagged(_ tag: String) async throws -> [ToDo] {
    try await documents.find(ToDo.self, where: { $0.tags.contains(tag) }, sort: \.title.ascending)
  }

  /// The list as it is now, and again after every change, whoever makes it.
  public func updates() throws -> some AsyncSequence<[ToDo], any Error> {
    try documents.live(ToDo.self, sort: \.isDone.ascending, \.title.ascending).map(\.results)
  }

  /// Merges the versions of things that were changed in two places: done in one is done, and no tag is lost.
  ///
  /// - Returns: The number of things that had more than one version.
  @discardableResult
  public func resolveConflicts() async throws -> Int {
    try await documents.write { transaction in
      try transaction.resolveConflicts(ToDo.self) { versions in
        var merged = versions[0]  // the current one; the title is taken from it
        merged.isDone = versions.contains(where: \.isDone)
        merged.tags = Set(versions.flatMap(\.tags)).sorted()
        return merged
      }
    }
  }
}
