/// A query whose results are decoded as a model.
///
/// ```swift
/// let query = try ModelQuery(Task.self, where: { $0.priority > 3 }, sort: \.due.descending, limit: 10)
/// print(query)  // {"selector":{"priority":{"$gt":3}},"sort":[{"due":"desc"}],"limit":10}
/// let tasks = try store.read { try $0.find(query) }
/// ```
///
/// See <doc:StoringModels#Queries-as-values>.
public struct ModelQuery<Model: Decodable>: Sendable, Hashable {
  /// The query for documents.
  public var query: Query

  /// Creates a typed query from any query.
  public init(_ type: Model.Type = Model.self, _ query: Query) {
    self.query = query
  }

  /// Creates a query from the parameters of `find`.
  ///
  /// - Throws: ``QueryError``: `.invalidPath` for a property that documents don't have, `.invalidArgument` for a value that
  ///   can't be encoded or compared.
  public init(
    _ type: Model.Type = Model.self,
    where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all },
    sort: KeyPath<ModelField<Model, Model>, SortField>..., skip: Int = 0, limit: Int? = nil
  ) throws(QueryError) {
    try self.init(condition, sort, skip, limit)
  }

  init(
    _ condition: (ModelField<Model, Model>) -> QueryCondition<Model>,
    _ sort: [KeyPath<ModelField<Model, Model>, SortField>] = [],
    _ skip: Int = 0, _ limit: Int? = nil
  ) throws(QueryError) {
    let document = ModelField<Model, Model>(isDocument: true)
    query = try Query(
      condition(document).selector.get(), skip: skip, limit: limit, sort: sort.map { document[keyPath: $0] })
  }
}

extension ModelField where Model == Value {
  /// The path of a property in documents.
  static func path<Member>(
    of property: KeyPath<ModelField, ModelField<Model, Member>>
  ) -> Result<FieldPath, QueryError> {
    ModelField(isDocument: true)[keyPath: property].storedPath
  }
}

extension ModelQuery: CustomStringConvertible {
  /// The query as JSON.
  public var description: String { query.description }
}
