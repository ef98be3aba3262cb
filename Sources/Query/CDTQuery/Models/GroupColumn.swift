import CDTJSON

/// A member of the rows of `group(_:by:_:as:where:having:sort:skip:limit:)`: a value that is computed of each group, or another
/// property by which models are grouped.
///
/// ```swift
/// struct PlaceRow: Decodable { var city: String?, isDone: Bool, tasks: Int, mean: Double?, first: Date?, last: Date? }
/// let rows = try store.group(
///   Task.self, by: \.owner.city, .and(\.isDone), .count(as: \.tasks), .average(\.hours, as: \.mean),
///   .minimum(\.due, as: \.first), .maximum(\.due, as: \.last), as: PlaceRow.self)
/// ```
///
/// The values are those of ``GroupQuery/Aggregate``.
public struct GroupColumn<Model, Row>: Sendable {
  /// `nil` for a property by which models are grouped.
  fileprivate let function: GroupQuery.Aggregate.Function?
  fileprivate let path: Result<FieldPath, QueryError>?
  /// The row's member; `nil` for a property by which models are grouped.
  fileprivate let member: Result<FieldPath, QueryError>?

  private init(
    _ function: GroupQuery.Aggregate.Function?, _ path: Result<FieldPath, QueryError>?,
    _ member: Result<FieldPath, QueryError>?
  ) {
    (self.function, self.path, self.member) = (function, path, member)
  }

  /// Another property by which models are grouped.
  public static func and<Value>(
    _ property: KeyPath<ModelField<Model, Model>, ModelField<Model, Value>>
  ) -> GroupColumn {
    GroupColumn(nil, ModelField.path(of: property), nil)
  }

  /// The number of documents.
  public static func count(as member: KeyPath<ModelField<Row, Row>, ModelField<Row, Int>>) -> GroupColumn {
    GroupColumn(.count, nil, ModelField.path(of: member))
  }

  /// The sum of the numbers of a property.
  public static func sum<Number: Numeric>(
    _ property: KeyPath<ModelField<Model, Model>, ModelField<Model, Number>>,
    as member: KeyPath<ModelField<Row, Row>, ModelField<Row, Number>>
  ) -> GroupColumn {
    GroupColumn(.sum, ModelField.path(of: property), ModelField.path(of: member))
  }

  /// The average of the numbers of a property, null if there are none.
  public static func average<Number: Numeric>(
    _ property: KeyPath<ModelField<Model, Model>, ModelField<Model, Number>>,
    as member: KeyPath<ModelField<Row, Row>, ModelField<Row, Double>>
  ) -> GroupColumn {
    GroupColumn(.average, ModelField.path(of: property), ModelField.path(of: member))
  }

  /// The least value of a property, null if there is none.
  public static func minimum<Value>(
    _ property: KeyPath<ModelField<Model, Model>, ModelField<Model, Value>>,
    as member: KeyPath<ModelField<Row, Row>, ModelField<Row, Value>>
  ) -> GroupColumn {
    GroupColumn(.minimum, ModelField.path(of: property), ModelField.path(of: member))
  }

  /// The greatest value of a property, null if there is none.
  public static func maximum<Value>(
    _ property: KeyPath<ModelField<Model, Model>, ModelField<Model, Value>>,
    as member: KeyPath<ModelField<Row, Row>, ModelField<Row, Value>>
  ) -> GroupColumn {
    GroupColumn(.maximum, ModelField.path(of: property), ModelField.path(of: member))
  }
}

extension GroupQuery {
  /// - Parameters:
  ///   - documents: The documents.
  ///   - first: The first property by which models are grouped.
  ///   - rows: The condition, the order and the page of the rows.
  init<Model, Row>(
    _ documents: ModelQuery<Model>, by first: Result<FieldPath, QueryError>,
    _ columns: [GroupColumn<Model, Row>], _ rows: ModelQuery<Row>
  ) throws(QueryError) {
    var fields = [try first.get()]
    var aggregates: [Aggregate] = []
    for column in columns {
      if let function = column.function, let name = try column.member?.get().text {
        aggregates.append(Aggregate(function, of: try column.path?.get().text, as: name))
      } else if let path = try column.path?.get() {
        fields.append(path)
      }
    }
    let names = fields.map { String(decoding: $0.segments.last?.name ?? [], as: UTF8.self) }
    var query = rows.query
    query.selector = documents.query.selector
    try self.init(query, by: fields.map(\.text), named: names, aggregates, having: rows.query.selector)
  }
}
