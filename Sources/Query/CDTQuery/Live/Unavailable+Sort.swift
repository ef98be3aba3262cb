public import CDTDatastore

// A sort without its direction has an error with the remedy, instead of one about the types of key paths.

extension Datastore {
  /// Does not compile: the message names the remedy.
  @available(*, unavailable, message: "write the direction, as in \\.title.ascending or \\.title.descending")
  public func find<Model: Decodable, Value>(
    _ type: Model.Type, where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all },
    sort: KeyPath<ModelField<Model, Model>, ModelField<Model, Value>>..., skip: Int = 0, limit: Int? = nil
  ) throws -> [Model] { [] }

  /// Does not compile: the message names the remedy.
  @available(*, unavailable, message: "write the direction, as in \\.title.ascending or \\.title.descending")
  public func first<Model: Decodable, Value>(
    _ type: Model.Type, where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all },
    sort: KeyPath<ModelField<Model, Model>, ModelField<Model, Value>>...
  ) throws -> Model? { nil }

  /// Does not compile: the message names the remedy.
  @available(*, unavailable, message: "write the direction, as in \\.title.ascending or \\.title.descending")
  public func live<Model: Decodable & Sendable, Value>(
    _ type: Model.Type, where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all },
    sort: KeyPath<ModelField<Model, Model>, ModelField<Model, Value>>..., skip: Int = 0, limit: Int? = nil
  ) throws(QueryError) -> LiveQuery<Model> { live(try ModelQuery(Model.self)) }
}

extension ModelQuery {
  /// Does not compile: the message names the remedy.
  @available(*, unavailable, message: "write the direction, as in \\.title.ascending or \\.title.descending")
  public init<Value>(
    _ type: Model.Type = Model.self,
    where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all },
    sort: KeyPath<ModelField<Model, Model>, ModelField<Model, Value>>..., skip: Int = 0, limit: Int? = nil
  ) throws(QueryError) { try self.init(condition) }
}
