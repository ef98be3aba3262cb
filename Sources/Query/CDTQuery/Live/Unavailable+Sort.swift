// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CDTDatastore

// A sort without its direction has an error with the remedy, instead of one about the types of key paths.

@available(*, unavailable, message: "write the direction, as in \\.title.ascending or \\.title.descending")
extension Datastore {
  public typealias Condition<M> = (ModelField<M, M>) -> QueryCondition<M>

  public func find<M, V>(
    _: M.Type, where _: Condition<M> = { _ in .all }, sort: Property<M, V>..., limit: Int? = nil
  ) throws -> [M] { [] }
  public func first<M, V>(
    _: M.Type, where _: Condition<M> = { _ in .all }, sort: Property<M, V>...
  ) throws -> M? { nil }
  public func live<M: Decodable & Sendable, V>(
    _: M.Type, where _: Condition<M> = { _ in .all }, sort: Property<M, V>..., limit: Int? = nil
  ) throws -> LiveQuery<M> { live(try ModelQuery()) }
}

@available(*, unavailable, message: "write the direction, as in \\.title.ascending or \\.title.descending")
extension ModelQuery {
  public init<V>(
    _: Model.Type = Model.self, where _: Datastore.Condition<Model> = { _ in .all },
    sort: Datastore.Property<Model, V>..., limit: Int? = nil
  ) throws(QueryError) { try self.init() }
}
