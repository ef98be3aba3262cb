public import CDTDatastore

// Shorthands for `read { try $0.find(ModelQuery(…)) }` and similar calls. The asynchronous forms call the closure of the condition
// where they are called, also on an actor, and read on one of the datastore's threads.
extension Datastore {
  /// Returns the models that meet a condition.
  ///
  /// ```swift
  /// let open = try store.find(Task.self, where: { !$0.isDone && $0.priority > 3 }, sort: \.due.descending)
  /// let all = try store.find(Task.self, sort: \.title.ascending, limit: 10)
  /// ```
  ///
  /// A store does not know the types of its documents: every document that meets the condition is decoded. If a store has
  /// documents of several types, give each a member for its type, and make it part of the condition.
  ///
  /// `undecodable` is called with the error of each document that is not a model, which is left out; `limit` counts it.
  /// The default throws the error.
  ///
  /// - Throws: ``QueryError`` for a property that documents don't have, before the query runs; `DatastoreError` with the code
  ///   `.undecodable` and the id of a document that is not a model.
  ///
  /// See <doc:StoringModels#Conditions>.
  public func find<Model: Decodable>(
    _ type: Model.Type, where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all },
    sort: KeyPath<ModelField<Model, Model>, SortField>..., skip: Int = 0, limit: Int? = nil,
    undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) throws -> [Model] {
    let query = try ModelQuery(condition, sort, skip, limit)
    return try readForQuery { try $0.find(query, undecodable: undecodable) }
  }

  /// Returns the models that meet a condition, on one of the datastore's threads.
  nonisolated(nonsending) public func find<Model: Decodable & Sendable>(
    _ type: Model.Type, where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all },
    sort: KeyPath<ModelField<Model, Model>, SortField>..., skip: Int = 0, limit: Int? = nil,
    undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) async throws -> [Model] {
    try await find(Model.self, ModelQuery(condition, sort, skip, limit).query, undecodable)
  }

  /// Returns the models that meet a condition, read on one of the datastore's threads and decoded where it is called, as the type can't
  /// be used elsewhere.
  nonisolated(nonsending) public func find<Model: Decodable>(
    _ type: Model.Type, where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all },
    sort: KeyPath<ModelField<Model, Model>, SortField>..., skip: Int = 0, limit: Int? = nil,
    undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) async throws -> [Model] {
    let query = try ModelQuery(condition, sort, skip, limit).query
    return try await readForQuery { try $0.find(query) }.compactMap { try $0.model(type, undecodable) }
  }

  /// Decodes on one of the datastore's threads, and calls `undecodable` where it is called itself.
  nonisolated(nonsending) func find<T: Decodable & Sendable>(
    _ type: T.Type, _ query: Query, _ undecodable: (DatastoreError) throws -> Void
  ) async throws -> [T] {
    let (values, errors) = try await readForQuery { transaction in
      var errors: [DatastoreError] = []
      let values = try transaction.find(type, query) { errors.append($0) }
      return (values, errors)
    }
    for error in errors { try undecodable(error) }
    return values
  }

  /// Returns the first model that meets a condition, or `nil` if none does.
  public func first<Model: Decodable>(
    _ type: Model.Type, where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all },
    sort: KeyPath<ModelField<Model, Model>, SortField>...
  ) throws -> Model? {
    let query = try ModelQuery(condition, sort)
    return try readForQuery { try $0.first(query) }
  }

  /// Returns the first model that meets a condition, read on one of the datastore's threads and decoded where it is called.
  nonisolated(nonsending) public func first<Model: Decodable>(
    _ type: Model.Type, where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all },
    sort: KeyPath<ModelField<Model, Model>, SortField>...
  ) async throws -> Model? {
    let query = try ModelQuery(condition, sort).query
    return try await readForQuery { try $0.firstDocument(query) }?.decode(type)
  }

  /// The number of documents that meet a condition on a model's properties; without one, of all. They are not decoded.
  ///
  /// ```swift
  /// let count = try store.count(Task.self, where: { !$0.isDone })
  /// ```
  public func count<Model: Decodable>(
    _ type: Model.Type, where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all }
  ) throws -> Int {
    let query = try ModelQuery(condition).query
    return try readForQuery { try $0.count(query) }
  }

  /// The number of documents that meet a condition, counted on one of the datastore's threads.
  nonisolated(nonsending) public func count<Model: Decodable>(
    _ type: Model.Type, where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all }
  ) async throws -> Int {
    let query = try ModelQuery(condition).query
    return try await readForQuery { try $0.count(query) }
  }
}

extension ReadTransaction {
  /// Returns the models that match a typed query.
  ///
  /// ```swift
  /// let tasks = try store.read { try $0.find(ModelQuery(Task.self)) { print($0.message) } }
  /// ```
  public func find<Model>(
    _ query: ModelQuery<Model>, undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) throws -> [Model] {
    try find(Model.self, query.query, undecodable: undecodable)
  }

  /// The first model that matches a typed query, or `nil` if none matches.
  public func first<Model>(_ query: ModelQuery<Model>) throws -> Model? {
    try firstDocument(query.query)?.decode(Model.self)
  }

  /// Returns the models that meet a condition, in this transaction.
  ///
  /// ```swift
  /// try store.write { transaction in
  ///   for task in try transaction.find(Task.self, where: { $0.isDone }) { try transaction.delete(task) }
  /// }
  /// ```
  ///
  /// See `Datastore.find(_:where:sort:skip:limit:undecodable:)`.
  public func find<Model: Decodable>(
    _ type: Model.Type, where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all },
    sort: KeyPath<ModelField<Model, Model>, SortField>..., skip: Int = 0, limit: Int? = nil,
    undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) throws -> [Model] { try find(ModelQuery(condition, sort, skip, limit), undecodable: undecodable) }

  /// Returns the first model that meets a condition, or `nil` if none does.
  public func first<Model: Decodable>(
    _ type: Model.Type, where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all },
    sort: KeyPath<ModelField<Model, Model>, SortField>...
  ) throws -> Model? { try first(ModelQuery(condition, sort)) }

  /// The number of documents that meet a condition on a model's properties; without one, of all. They are not decoded.
  public func count<Model: Decodable>(
    _ type: Model.Type, where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all }
  ) throws -> Int { try count(ModelQuery(condition).query) }
}
