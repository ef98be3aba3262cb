// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CDTDatastore

// A condition that is a `Bool` of Swift has an error with the remedy, instead of one about the types of closures.

@available(
  *, unavailable, message: "a condition compares properties; for a Bool write isAll ? .all : $0.age > 3"
)
extension QueryCondition {
  public static func && (left: QueryCondition, right: Bool) -> QueryCondition { left }
  public static func && (left: Bool, right: QueryCondition) -> QueryCondition { right }
  public static func || (left: QueryCondition, right: Bool) -> QueryCondition { left }
  public static func || (left: Bool, right: QueryCondition) -> QueryCondition { right }
}

@available(
  *, unavailable, message: "a condition compares properties; for a Bool write isAll ? .all : $0.age > 3"
)
extension Datastore {
  public typealias Flag<M> = (ModelField<M, M>) -> Bool
  public typealias Property<M, V> = KeyPath<ModelField<M, M>, ModelField<M, V>>
  public typealias Sort<M> = KeyPath<ModelField<M, M>, SortField>

  public func find<M>(_: M.Type, where _: Flag<M>, sort: Sort<M>..., limit: Int = 0) throws -> [M] { [] }
  public func first<M>(_: M.Type, where _: Flag<M>, sort: Sort<M>...) throws -> M? { nil }
  public func live<M: Decodable & Sendable>(
    _: M.Type, where _: Flag<M>, sort: Sort<M>..., limit: Int = 0
  ) throws -> LiveQuery<M> { live(try ModelQuery()) }
  public func count<M>(_: M.Type, where _: Flag<M>) throws -> Int { 0 }
  @discardableResult public func delete<M>(_: M.Type, where _: Flag<M>) throws -> Int { 0 }
  @discardableResult
  public func update<M>(_: M.Type, where _: Flag<M>, _: ModelChange<M>...) throws -> Int { 0 }
  public func distinct<M, V>(_: M.Type, _: Property<M, V>, where _: Flag<M>) throws -> [V] { [] }
  public func group<M, V, R>(
    _: M.Type, by _: Property<M, V>, _: GroupColumn<M, R>..., as _: R.Type = R.self, where _: Flag<M>,
    sort: Sort<R>..., limit: Int = 0
  ) throws -> [R] { [] }
}
