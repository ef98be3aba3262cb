extension Datastore {
  /// The model of a document.
  ///
  /// ```swift
  /// let milk = try store.document(withID: "milk", as: Task.self)
  /// ```
  ///
  /// - Throws: ``DatastoreError``: `.notFound` if the document does not exist or is deleted, as `document(withID:)`; `.undecodable` if it
  ///   is not a model.
  public func document<M: DocumentModel>(withID id: M.ID, as type: M.Type) throws -> M {
    try readDocuments { try $0.document(withID: id, as: type) }
  }

  /// The model of a document, read on one of the datastore's threads.
  public func document<M: DocumentModel>(withID id: M.ID, as type: M.Type) async throws -> M {
    try await readDocuments { try $0.document(withID: id, as: type) }
  }

  /// Saves several models in one transaction: all of them, or none if one can't be saved.
  ///
  /// ```swift
  /// let saved = try store.save([Task(title: "Buy milk"), Task(title: "Bake bread")])
  /// ```
  ///
  /// - Returns: The models as `save(_:merge:)` returns each, in the same order.
  /// - Throws: The errors of `save(_:merge:)`.
  @discardableResult
  public func save<M: DocumentModel>(_ models: [M]) throws -> [M] {
    try write { transaction in try models.map { try transaction.save($0) } }
  }

  /// Saves several models in one transaction, on one of the datastore's threads.
  @discardableResult
  public func save<M: DocumentModel>(_ models: [M]) async throws -> [M] {
    try await write { transaction in try models.map { try transaction.save($0) } }
  }
}

extension ReadTransaction {
  /// The model of a document. See `Datastore.document(withID:as:)`.
  public func document<M: DocumentModel>(withID id: M.ID, as type: M.Type) throws -> M {
    try document(withID: id.documentID).decode(type)
  }
}
