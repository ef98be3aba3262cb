public import CDTDatastore
import CDTJSON

extension Datastore {
  /// Returns one row for each value of a property, decoded.
  ///
  /// ```swift
  /// struct CityRow: Decodable { var city: String?, tasks: Int, hours: Double }
  /// let rows = try store.group(
  ///   Task.self, by: \.owner.city, .count(as: \.tasks), .sum(\.hours, as: \.hours), as: CityRow.self,
  ///   where: { !$0.isDone }, having: { $0.tasks > 1 }, sort: \.hours.descending, limit: 10)
  /// ```
  ///
  /// A row has the value of the property under the last name of its path, `city` for `owner.city`. Documents without the property are
  /// a group whose row lacks the member, so let it be optional.
  ///
  /// - Parameters:
  ///   - type: The type of the models.
  ///   - property: The property whose values make the groups. `.and(\.kind)` among the columns adds another property.
  ///   - columns: The values to compute for each group.
  ///   - row: The type of the rows.
  ///   - condition: The condition on the models.
  ///   - having: The condition on the rows.
  ///   - sort: The order of the rows; in the order of the property by default.
  ///   - skip: The number of rows to skip.
  ///   - limit: The maximum number of rows, or `nil` for all.
  /// - Throws: ``QueryError``, with the code `.undecodable` and the row that does not fit the type; `DatastoreError`.
  ///
  /// See <doc:StoringModels#Groups>.
  public func group<Model: Decodable, Value, Row: Decodable>(
    _ type: Model.Type, by property: KeyPath<ModelField<Model, Model>, ModelField<Model, Value>>,
    _ columns: GroupColumn<Model, Row>..., as row: Row.Type = Row.self,
    where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all },
    having: (ModelField<Row, Row>) -> QueryCondition<Row> = { _ in .all },
    sort: KeyPath<ModelField<Row, Row>, SortField>..., skip: Int = 0, limit: Int? = nil
  ) throws -> [Row] {
    let documents = try ModelQuery(condition), rows = try ModelQuery(having, sort, skip, limit)
    let query = try GroupQuery(documents, by: ModelField.path(of: property), columns, rows)
    return try readForQuery { try $0.group(row, query) }
  }

  /// Returns one row for each value of a property, computed on one of the datastore's threads and decoded where it is called.
  nonisolated(nonsending) public func group<Model: Decodable, Value, Row: Decodable>(
    _ type: Model.Type, by property: KeyPath<ModelField<Model, Model>, ModelField<Model, Value>>,
    _ columns: GroupColumn<Model, Row>..., as row: Row.Type = Row.self,
    where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all },
    having: (ModelField<Row, Row>) -> QueryCondition<Row> = { _ in .all },
    sort: KeyPath<ModelField<Row, Row>, SortField>..., skip: Int = 0, limit: Int? = nil
  ) async throws -> [Row] {
    let documents = try ModelQuery(condition), rows = try ModelQuery(having, sort, skip, limit)
    let query = try GroupQuery(documents, by: ModelField.path(of: property), columns, rows)
    return try await readForQuery { try $0.group(query) }.map { try $0.decodeRow(row) }
  }

  /// Returns the distinct values of a property, in the order of values.
  ///
  /// ```swift
  /// let cities = try store.distinct(Task.self, \.owner.city, where: { !$0.isDone })  // [String]
  /// ```
  ///
  /// A missing member has no value, and null is left out.
  ///
  /// - Throws: ``QueryError``, with the code `.undecodable` and the value that does not fit the type; `DatastoreError`.
  public func distinct<Model: Decodable, Value: Decodable>(
    _ type: Model.Type, _ property: KeyPath<ModelField<Model, Model>, ModelField<Model, Value>>,
    where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all }
  ) throws -> [Value] {
    try distinct(
      ModelField.path(of: property).get().text, where: condition(ModelField(isDocument: true)).selector.get()
    ).decoded()
  }

  /// Returns the distinct values of a property, found on one of the datastore's threads and decoded where it is called.
  nonisolated(nonsending) public func distinct<Model: Decodable, Value: Decodable>(
    _ type: Model.Type, _ property: KeyPath<ModelField<Model, Model>, ModelField<Model, Value>>,
    where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all }
  ) async throws -> [Value] {
    try await distinct(
      ModelField.path(of: property).get().text, where: condition(ModelField(isDocument: true)).selector.get()
    ).decoded()
  }

  /// Returns the distinct elements of the arrays, or the sets, that a property has.
  ///
  /// ```swift
  /// let tags = try store.distinct(Task.self, \.tags)  // [String]
  /// ```
  public func distinct<Model: Decodable, Elements: Collection & ExpressibleByArrayLiteral>(
    _ type: Model.Type, _ property: KeyPath<ModelField<Model, Model>, ModelField<Model, Elements>>,
    where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all }
  ) throws -> [Elements.Element] where Elements.Element: Decodable {
    try distinct(
      ModelField.path(of: property).get().text, where: condition(ModelField(isDocument: true)).selector.get()
    ).decoded()
  }

  /// Returns the distinct elements of the arrays, or the sets, that a property has, found on one of the datastore's threads.
  nonisolated(nonsending) public func distinct<
    Model: Decodable, Elements: Collection & ExpressibleByArrayLiteral
  >(
    _ type: Model.Type, _ property: KeyPath<ModelField<Model, Model>, ModelField<Model, Elements>>,
    where condition: (ModelField<Model, Model>) -> QueryCondition<Model> = { _ in .all }
  ) async throws -> [Elements.Element] where Elements.Element: Decodable {
    try await distinct(
      ModelField.path(of: property).get().text, where: condition(ModelField(isDocument: true)).selector.get()
    ).decoded()
  }
}

extension [JSONValue] {
  /// The values but null.
  fileprivate func decoded<Value: Decodable>() throws -> [Value] {
    try filter { $0 != .null }.map { value in
      do {
        return try value.decode(Value.self)
      } catch let error as DecodingError {
        throw QueryError(.undecodableValue(value, Value.self, error.text))
      }
    }
  }
}
