public import CDTDatastore

/// A change of one property of models, for `update(_:where:_:)`.
///
/// ```swift
/// try store.update(Task.self, where: { $0.isDone }, .set(\.due, nil), .increment(\.edits), .append(\.tags, "archived"))
/// try store.update(Task.self, where: { $0.tags.contains("x") }, .remove(\.tags, "x"), .apply { $0.owner?.city = "Bern" })
/// try store.update(Task.self, where: { $0.place == nil }, .rename(from: "location", to: \.place))
/// ```
///
/// A property inside an optional is changed by `apply`.
///
/// See <doc:StoringModels#Changing-many>.
public struct ModelChange<Model: DocumentModel>: Sendable {
  /// The change of the body, before it is decoded.
  let field: Result<FieldChange, QueryError>?
  let apply: @Sendable (inout Model) throws -> Void

  private init(
    field: Result<FieldChange, QueryError>? = nil, _ apply: @escaping @Sendable (inout Model) throws -> Void
  ) {
    (self.field, self.apply) = (field, apply)
  }

  /// Assigns a value. An optional property that is set to `nil` is stored as `save` stores it: the member is removed.
  public static func set<Value: Sendable>(
    _ property: any WritableKeyPath<Model, Value> & Sendable, _ value: Value
  ) -> ModelChange {
    ModelChange { $0[keyPath: property] = value }
  }

  /// Adds to a number.
  ///
  /// An integer that would exceed its type is an error, ``QueryError`` with the code `.invalidChange`.
  public static func increment<Number: Numeric & Sendable>(
    _ property: any WritableKeyPath<Model, Number> & Sendable, by amount: Number = 1
  ) -> ModelChange {
    ModelChange { model in
      guard let sum = sum(model[keyPath: property], amount) else {
        throw QueryError(
          .misfit("the sum exceeds \(Number.self); set the property", documentID: model.id.documentID))
      }
      model[keyPath: property] = sum
    }
  }

  /// Adds an element at the end of an array.
  public static func append<Elements: RangeReplaceableCollection & SendableMetatype>(
    _ property: any WritableKeyPath<Model, Elements> & Sendable, _ element: Elements.Element
  ) -> ModelChange where Elements.Element: Sendable {
    ModelChange { $0[keyPath: property].append(element) }
  }

  /// Removes the elements of an array that equal a value.
  public static func remove<Elements: RangeReplaceableCollection & SendableMetatype>(
    _ property: any WritableKeyPath<Model, Elements> & Sendable, _ element: Elements.Element
  ) -> ModelChange where Elements.Element: Equatable & Sendable {
    ModelChange { model in model[keyPath: property].removeAll { $0 == element } }
  }

  /// Moves the value of a member that the model does not have, such as an earlier name of a property, to a property.
  ///
  /// It is done before all other changes, so the document need not be a model before. A document without the member stays as it is.
  public static func rename<Value>(
    from name: String, to property: KeyPath<ModelField<Model, Model>, ModelField<Model, Value>>
  ) -> ModelChange {
    ModelChange(field: ModelField.path(of: property).map { .rename(name, to: $0.text) }) { _ in }
  }

  /// Changes the model by a closure.
  public static func apply(_ change: @escaping @Sendable (inout Model) throws -> Void) -> ModelChange {
    ModelChange(change)
  }

  /// The sum of two numbers; `nil` if an integer would overflow.
  private static func sum<Number: Numeric>(_ left: Number, _ right: Number) -> Number? {
    func exactly<Integer: FixedWidthInteger>(_ left: Integer) -> Number? {
      guard let right = right as? Integer else { return nil }
      let (sum, overflow) = left.addingReportingOverflow(right)
      return overflow ? nil : sum as? Number
    }
    if let left = left as? any FixedWidthInteger { return exactly(left) }
    return left + right
  }
}

extension WriteTransaction {
  /// Changes the models that meet a condition. See `Datastore.update(_:where:_:)`.
  @discardableResult
  public func update<Model: DocumentModel>(
    _ type: Model.Type, where condition: (ModelField<Model, Model>) -> QueryCondition<Model>,
    _ changes: ModelChange<Model>...
  ) throws -> Int {
    try update(ModelQuery(condition), changes)
  }

  fileprivate func update<Model>(_ query: ModelQuery<Model>, _ changes: [ModelChange<Model>]) throws -> Int {
    let fields = try FieldChange.Program(changes.compactMap { try $0.field?.get() })
    return try documentIDs(query.query).count { id in
      var known: RevisionID?
      let saved = try updateDocument(withID: id) { document in
        known = document.revisionID
        try fields.apply(to: &document.body, id: id)
        try document.change(Model.self) { model in
          for change in changes { try change.apply(&model) }
        }
      }
      return saved.revisionID != known
    }
  }

  /// Deletes the documents that meet a condition. See `Datastore.delete(_:where:)`.
  @discardableResult
  public func delete<Model: Decodable>(
    _ type: Model.Type, where condition: (ModelField<Model, Model>) -> QueryCondition<Model>
  ) throws -> Int {
    try delete(matching: ModelQuery(condition).query)
  }
}

extension Datastore {
  /// Changes the models that meet a condition, in one transaction.
  ///
  /// ```swift
  /// let count = try store.update(Task.self, where: { $0.due < .now }, .set(\.due, nil), .increment(\.postponed))
  /// try store.update(Task.self, where: { $0.id == "milk" }, .apply { $0.isDone.toggle() })
  /// ```
  ///
  /// Each document is decoded, changed, and saved as `save` does: members that the model does not know, and attachments, are kept. A
  /// document that the changes leave as it is gets no new revision. The condition alone selects the documents, as it does for `find`.
  ///
  /// - Returns: The number of documents that were changed.
  /// - Throws: ``QueryError`` for an invalid property; `DatastoreError` with the code `.undecodable` for a document that is not a model
  ///   before or after the changes; the errors of a closure. Then nothing is changed.
  @discardableResult
  public func update<Model: DocumentModel>(
    _ type: Model.Type, where condition: (ModelField<Model, Model>) -> QueryCondition<Model>,
    _ changes: ModelChange<Model>...
  ) throws -> Int {
    let query = try ModelQuery(condition)
    return try write { try $0.update(query, changes) }
  }

  /// Changes the models that meet a condition, in one transaction on one of the datastore's threads.
  @discardableResult
  nonisolated(nonsending) public func update<Model: DocumentModel>(
    _ type: Model.Type, where condition: (ModelField<Model, Model>) -> QueryCondition<Model>,
    _ changes: ModelChange<Model>...
  ) async throws -> Int {
    let query = try ModelQuery(condition)
    return try await write { try $0.update(query, changes) }
  }

  /// Deletes the documents that meet a condition, in one transaction. They are not decoded.
  ///
  /// ```swift
  /// let count = try store.delete(Task.self, where: { $0.isDone })
  /// ```
  ///
  /// The condition alone selects the documents; `{ _ in .all }` deletes every document but design documents. If a document has a
  /// conflict, its other version becomes the current one.
  ///
  /// - Returns: The number of documents that were deleted.
  /// - Throws: ``QueryError`` for an invalid property; `DatastoreError`. Then nothing is deleted.
  @discardableResult
  public func delete<Model: Decodable>(
    _ type: Model.Type, where condition: (ModelField<Model, Model>) -> QueryCondition<Model>
  ) throws -> Int {
    let query = try ModelQuery(condition).query
    return try write { try $0.delete(matching: query) }
  }

  /// Deletes the documents that meet a condition, in one transaction on one of the datastore's threads.
  @discardableResult
  nonisolated(nonsending) public func delete<Model: Decodable>(
    _ type: Model.Type, where condition: (ModelField<Model, Model>) -> QueryCondition<Model>
  ) async throws -> Int {
    let query = try ModelQuery(condition).query
    return try await write { try $0.delete(matching: query) }
  }
}
