public import CDTDatastore

extension Datastore {
  /// The results of a typed query that includes linked models, now and after every commit that changes them or the linked documents.
  ///
  /// ```swift
  /// let query = try ModelQuery(Tool.self, where: { $0.owner != nil }, sort: \.name.ascending).including(\.owner)
  /// for try await update in store.live(query) {
  ///   let people = try update.linked(\.owner)
  ///   for tool in update.results { print(tool.name, people[tool.owner]?.name ?? "nobody") }
  /// }
  /// ```
  public func live<Model, each Other>(
    _ query: IncludingQuery<Model, repeat each Other>,
    undecodable: @escaping @Sendable (DatastoreError) throws -> Void = { _ in }
  ) -> LiveQuery<Model> {
    live(ModelQuery(Model.self, query.query), undecodable: undecodable)
  }
}

extension LiveUpdate where Item: Decodable {
  /// The models whose ids a property of the results has, by their ids, if the query includes them. For a `Reference`, leave out the type.
  ///
  /// ```swift
  /// let people = try update.linked(\.helperID, as: Person.self)
  /// ```
  ///
  /// - Throws: ``QueryError`` if the query does not include them; `DatastoreError` with the code `.undecodable` for a document that is
  ///   not a model, unless `undecodable` takes the error.
  public func linked<Value, Other: Decodable>(
    _ property: KeyPath<ModelField<Item, Item>, ModelField<Item, Value>>, as type: Other.Type,
    undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) throws -> Linked<Other> {
    try included.models(at: ModelField.path(of: property).get().text, type, undecodable)
  }

  /// The models to which a property of the results refers, by their ids, if the query includes them.
  public func linked<Other>(
    _ property: KeyPath<ModelField<Item, Item>, ModelField<Item, Reference<Other>>>,
    undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) throws -> Linked<Other> { try linked(property, as: Other.self, undecodable: undecodable) }

  /// The models to which the elements of a property refer, by their ids, if the query includes them.
  public func linked<Other, References: Sequence<Reference<Other>>>(
    _ property: KeyPath<ModelField<Item, Item>, ModelField<Item, References>>,
    undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) throws -> Linked<Other> { try linked(property, as: Other.self, undecodable: undecodable) }
}

extension LiveResults where Item: Decodable {
  /// The models whose ids a property of the results has, by their ids, if the query includes them; none until the query has run the first
  /// time. See ``LiveUpdate/linked(_:as:undecodable:)``.
  public func linked<Value, Other: Decodable>(
    _ property: KeyPath<ModelField<Item, Item>, ModelField<Item, Value>>, as type: Other.Type,
    undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) throws -> Linked<Other> {
    if included.isEmpty, difference == nil { return Linked() }
    return try included.models(at: ModelField.path(of: property).get().text, type, undecodable)
  }

  /// The models to which a property of the results refers, by their ids. See ``linked(_:as:undecodable:)``.
  ///
  /// ```swift
  /// let tools = LiveResults(store.live(query), immediately: true)
  /// let people = try tools.linked(\.owner)
  /// ```
  public func linked<Other>(
    _ property: KeyPath<ModelField<Item, Item>, ModelField<Item, Reference<Other>>>,
    undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) throws -> Linked<Other> { try linked(property, as: Other.self, undecodable: undecodable) }

  /// The models to which the elements of a property refer, by their ids. See ``linked(_:as:undecodable:)``.
  public func linked<Other, References: Sequence<Reference<Other>>>(
    _ property: KeyPath<ModelField<Item, Item>, ModelField<Item, References>>,
    undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) throws -> Linked<Other> { try linked(property, as: Other.self, undecodable: undecodable) }
}

extension IncludedDocuments {
  fileprivate func models<Other: Decodable>(
    at path: String, _ type: Other.Type, _ undecodable: (DatastoreError) throws -> Void
  ) throws -> Linked<Other> {
    guard let documents = self[path] else { throw QueryError(.notIncluded(path), at: path) }
    return try documents.mapped { try $0.model(type, undecodable) }
  }
}
