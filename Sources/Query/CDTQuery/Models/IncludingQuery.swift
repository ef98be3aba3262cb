public import CDTDatastore
import CDTJSON

/// A typed query whose results come with the models whose ids they have.
///
/// ```swift
/// let query = try ModelQuery(Tool.self, where: { $0.name == "Saw" }).including(\.owner)
/// let (tools, people) = try store.read { try $0.find(query) }
/// for tool in tools { print(tool.name, people[tool.owner]?.name ?? "nobody") }
///
/// let more = try ModelQuery(Tool.self, where: { $0.owner != nil }).including(\.owner).including(\.users)
/// let (all, owners, users) = try store.read { try $0.find(more) }
/// ```
///
/// A property that is a `Reference`, or an array of them, says what to include. For ids that are strings, name the type: `including(\.ownerID,
/// as: Person.self)`.
///
/// With a second `including`, `find` returns a third value, and so on. The compiler takes three in one expression; assign the
/// result to a constant before the fourth.
///
/// See <doc:StoringModels#Linked-models>.
public struct IncludingQuery<Model: Decodable, each Other: Decodable & Sendable>: Sendable {
  /// The query for documents.
  public let query: Query
  /// The names of the includes, which are their paths.
  fileprivate let names: [String]

  fileprivate init(_ query: Query, _ names: [String], _ path: String) throws(QueryError) {
    self.names = names + [path]
    var query = query
    query.include[path] = path
    _ = try ResolvedQuery(query)
    self.query = query
  }

  /// Also includes the models to which a property refers.
  public func including<Next: DocumentModel>(
    _ property: KeyPath<ModelField<Model, Model>, ModelField<Model, Reference<Next>>>
  ) throws(QueryError) -> IncludingQuery<Model, repeat each Other, Next> {
    try including(property, as: Next.self)
  }

  /// Also includes the models to which the elements of a property refer.
  public func including<Next: DocumentModel, References: Sequence<Reference<Next>>>(
    _ property: KeyPath<ModelField<Model, Model>, ModelField<Model, References>>
  ) throws(QueryError) -> IncludingQuery<Model, repeat each Other, Next> {
    try including(property, as: Next.self)
  }

  /// Also includes the models whose ids a property has: a string, or an array of strings.
  public func including<Value, Next>(
    _ property: KeyPath<ModelField<Model, Model>, ModelField<Model, Value>>, as type: Next.Type
  ) throws(QueryError) -> IncludingQuery<Model, repeat each Other, Next> {
    try including(ModelField.path(of: property).get().text, as: type)
  }

  /// Also includes the models whose ids are at a path, such as `items[].product`.
  public func including<Next>(
    _ path: String, as type: Next.Type
  ) throws(QueryError) -> IncludingQuery<Model, repeat each Other, Next> {
    try IncludingQuery<Model, repeat each Other, Next>(query, names, path)
  }
}

extension ModelQuery {
  /// Includes the models to which a property refers.
  public func including<Other: DocumentModel>(
    _ property: KeyPath<ModelField<Model, Model>, ModelField<Model, Reference<Other>>>
  ) throws(QueryError) -> IncludingQuery<Model, Other> {
    try including(property, as: Other.self)
  }

  /// Includes the models to which the elements of a property refer.
  public func including<Other: DocumentModel, References: Sequence<Reference<Other>>>(
    _ property: KeyPath<ModelField<Model, Model>, ModelField<Model, References>>
  ) throws(QueryError) -> IncludingQuery<Model, Other> {
    try including(property, as: Other.self)
  }

  /// Includes the models whose ids a property has: a string, or an array of strings.
  public func including<Value, Other>(
    _ property: KeyPath<ModelField<Model, Model>, ModelField<Model, Value>>, as type: Other.Type
  ) throws(QueryError) -> IncludingQuery<Model, Other> {
    try including(ModelField.path(of: property).get().text, as: type)
  }

  /// Includes the models whose ids are at a path, such as `items[].product`.
  public func including<Other>(
    _ path: String, as type: Other.Type
  ) throws(QueryError) -> IncludingQuery<Model, Other> {
    try IncludingQuery<Model, Other>(query, [], path)
  }
}

extension ReadTransaction {
  /// Returns the models that match a typed query, and by their ids the models that these link.
  ///
  /// - Parameters:
  ///   - query: The query, made by `including(_:as:)`.
  ///   - undecodable: Called with the error of each document that is not a model of its type, which is left out.
  public func find<Model, each Other>(
    _ query: IncludingQuery<Model, repeat each Other>,
    undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) throws -> ([Model], repeat Linked<each Other>) {
    let page = try page(query.query)
    func linked<T: Decodable>(_ name: String, _ type: T.Type) throws -> Linked<T> {
      try (page.included[name] ?? Linked()).mapped { try $0.model(type, undecodable) }
    }
    var names = query.names.makeIterator()
    return (
      try page.documents.compactMap { try $0.model(Model.self, undecodable) },
      repeat try linked(names.next() ?? "", (each Other).self)
    )
  }
}
