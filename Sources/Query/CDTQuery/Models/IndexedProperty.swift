public import CDTDatastore

/// A property of a model in an index: `\.title`, or `\.due.descending`.
///
/// ```swift
/// try store.ensureIndexed(Task.self, \.title, \.due.descending)
/// ```
public protocol IndexedProperty: Sendable {
  /// The field of the index.
  var indexField: SortField { get }
}

extension ModelField: IndexedProperty {
  /// The field in ascending order.
  public var indexField: SortField { ascending }
}

extension SortField: IndexedProperty {
  /// The field in its direction.
  public var indexField: SortField { self }
}

extension Datastore {
  /// Creates an index on properties unless it exists, and builds it.
  ///
  /// ```swift
  /// try store.ensureIndexed(Task.self, \.title, \.due.descending)
  /// try store.ensureIndexed(Task.self, \.number, options: .unique, where: { !$0.isDone })
  /// try store.ensureIndexed(Task.self, \.owner.city, summing: \.hours)
  /// ```
  ///
  /// The index is that of `ensureIndexed(_:_:name:progress:)` with the properties' names in documents. It holds every document that
  /// meets the condition, not only documents that are models.
  ///
  /// - Parameters:
  ///   - type: The type of the models.
  ///   - properties: The properties, in the order of the index.
  ///   - options: The options of the index.
  ///   - condition: The documents that the index holds; all by default. Only queries whose condition implies it use the index.
  ///   - sums: The numbers that a summary sums.
  ///   - name: The name; `nil` to make one.
  ///   - progress: Called while the index is built.
  /// - Throws: ``QueryError`` for a property that documents don't have, an invalid definition, or if another definition has the name.
  @discardableResult
  public func ensureIndexed<Model: Decodable, each Property: IndexedProperty, each Sum>(
    _ type: Model.Type, _ properties: repeat KeyPath<ModelField<Model, Model>, each Property>,
    options: IndexOptions = IndexOptions(),
    where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all },
    summing sums: repeat KeyPath<ModelField<Model, Model>, ModelField<Model, each Sum>>,
    name: String? = nil, progress: (IndexProgress) -> Void = { _ in }
  ) throws -> String {
    let options = try options.with(condition, sums: repeat each sums)
    let fields = try ModelField.fields(repeat each properties)
    return try ensureIndexed(fields, options, name: name, progress: progress)
  }

  /// Creates an index on properties unless it exists, and builds it on one of the datastore's threads. If you cancel the task, completed
  /// work is kept.
  @discardableResult
  nonisolated(nonsending) public func ensureIndexed<
    Model: Decodable, each Property: IndexedProperty, each Sum
  >(
    _ type: Model.Type, _ properties: repeat KeyPath<ModelField<Model, Model>, each Property>,
    options: IndexOptions = IndexOptions(),
    where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all },
    summing sums: repeat KeyPath<ModelField<Model, Model>, ModelField<Model, each Sum>>,
    name: String? = nil, progress: @escaping @Sendable (IndexProgress) -> Void = { _ in }
  ) async throws -> String {
    let options = try options.with(condition, sums: repeat each sums)
    let fields = try ModelField.fields(repeat each properties)
    return try await ensureIndexed(fields, options, name: name, progress: progress)
  }
}

extension IndexOptions {
  /// The options for the documents that meet a condition, with the properties that are summed.
  fileprivate func with<Model, each Sum>(
    _ condition: (ModelField<Model, Model>) -> QueryCondition<Model>,
    sums properties: repeat KeyPath<ModelField<Model, Model>, ModelField<Model, each Sum>>
  ) throws(QueryError) -> IndexOptions {
    var options = self
    let filter = try condition(ModelField(isDocument: true)).selector.get()
    if !filter.isEmpty {
      let known = options.filter ?? [:]
      options.filter = known.isEmpty ? filter : ["$and": [.object(known), .object(filter)]]
    }
    for property in repeat each properties {
      options.sums = (options.sums ?? []) + [try ModelField.path(of: property).get().text]
    }
    return options
  }
}

extension ModelField where Model == Value {
  /// The fields of an index on properties.
  fileprivate static func fields<each Property: IndexedProperty>(
    _ properties: repeat KeyPath<ModelField, each Property>
  ) throws(QueryError) -> [SortField] {
    var fields: [SortField] = []
    for property in repeat each properties {
      let field = ModelField(isDocument: true)[keyPath: property].indexField
      if let failure = field.failure { throw failure }
      fields.append(field)
    }
    return fields
  }
}
