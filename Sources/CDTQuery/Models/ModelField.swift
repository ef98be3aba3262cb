import CDTDatastore
import CDTJSON

/// A property of a model, in the closure of a typed query.
///
/// ```swift
/// let urgent = try store.find(Task.self, where: { $0.priority > 3 && $0.tags.contains("home") }, sort: \.due.descending)
/// let nearby = try store.find(Task.self) { $0.owner.city == "Bern" && !$0.isDone }
/// ```
///
/// Properties of inner models are reached with a dot, also through optionals. Values are compared as they are encoded:
/// a `Date` as its string, an enumeration as its raw value. A wrong name or a value of another type does not compile.
/// A computed property, which documents don't have, is refused with ``QueryError`` and the code `.invalidPath`.
///
/// Source: `docs/models.md`, Conditions.
@dynamicMemberLookup
public struct ModelField<Model, Value>: Sendable {
  /// The field's path; none for the model itself.
  let location: Result<FieldPath, QueryError>
  /// Whether this is a whole document, which has an id and a revision.
  private let isDocument: Bool

  init(isDocument: Bool) {
    self.init(location: .success(FieldPath(segments: [])), isDocument: isDocument)
  }

  private init(location: Result<FieldPath, QueryError>, isDocument: Bool) {
    (self.location, self.isDocument) = (location, isDocument)
  }

  private func location(of property: KeyPath<Value, some Any>) -> Result<FieldPath, QueryError> {
    Result { () throws(QueryError) in
      let name = try PropertyName.of(property, isDocument: isDocument)
      return try location.get().appending(FieldPath(segments: [.init(name: Array(name.utf8))]))
    }
  }

  /// A property.
  public subscript<Member>(dynamicMember property: KeyPath<Value, Member>) -> ModelField<Model, Member> {
    ModelField<Model, Member>(location: location(of: property), isDocument: false)
  }

  /// An optional property, as what it wraps.
  public subscript<Member>(dynamicMember property: KeyPath<Value, Member?>) -> ModelField<Model, Member> {
    ModelField<Model, Member>(location: location(of: property), isDocument: false)
  }

  /// The condition that a property is true.
  @_disfavoredOverload
  public subscript(dynamicMember property: KeyPath<Value, Bool>) -> QueryCondition<Model> {
    self[dynamicMember: property] as ModelField<Model, Bool> == true
  }

  /// The condition that an optional property is true.
  @_disfavoredOverload
  public subscript(dynamicMember property: KeyPath<Value, Bool?>) -> QueryCondition<Model> {
    self[dynamicMember: property] as ModelField<Model, Bool> == true
  }

  /// A sort by the field, smallest value first.
  public var ascending: SortField { SortField(location, .ascending) }

  /// A sort by the field, largest value first.
  public var descending: SortField { SortField(location, .descending) }
}

// MARK: Conditions

extension ModelField {
  /// A condition with an operator of selectors.
  private func `is`(_ name: String, _ argument: @autoclosure () throws -> JSONValue) -> QueryCondition<Model>
  {
    QueryCondition { () throws(QueryError) in
      let path = try location.get().text
      do {
        return JSONObject([(path, .object(JSONObject([(name, try argument())])))])
      } catch {
        throw .notEncodable(error, at: path)
      }
    }
  }
}

extension ModelField where Value: Encodable & Equatable {
  /// The field equals a value, or is null or missing if the value is `nil`.
  public static func == (field: ModelField, value: Value?) -> QueryCondition<Model> {
    guard let value else { return !(field != nil) }
    return field.is("$eq", try JSONValue(encoding: value))
  }

  /// The field does not equal a value, or is neither null nor missing if the value is `nil`.
  public static func != (field: ModelField, value: Value?) -> QueryCondition<Model> {
    guard let value else { return field.is("$gt", .null) }
    return field.is("$ne", try JSONValue(encoding: value))
  }

  /// The field equals one of several values.
  public func `in`(_ values: [Value]) -> QueryCondition<Model> {
    self.is("$in", .array(try values.map { try JSONValue(encoding: $0) }))
  }
}

extension ModelField where Value: Encodable & Comparable {
  /// The field is less than a value.
  public static func < (field: ModelField, value: Value) -> QueryCondition<Model> {
    field.is("$lt", try JSONValue(encoding: value))
  }

  /// The field is at most a value.
  public static func <= (field: ModelField, value: Value) -> QueryCondition<Model> {
    field.is("$lte", try JSONValue(encoding: value))
  }

  /// The field is greater than a value.
  public static func > (field: ModelField, value: Value) -> QueryCondition<Model> {
    field.is("$gt", try JSONValue(encoding: value))
  }

  /// The field is at least a value.
  public static func >= (field: ModelField, value: Value) -> QueryCondition<Model> {
    field.is("$gte", try JSONValue(encoding: value))
  }
}

extension ModelField where Value == String {
  /// The string begins with a prefix.
  public func hasPrefix(_ prefix: String) -> QueryCondition<Model> {
    self.is("$beginsWith", .string(prefix))
  }

  /// A regular expression of PCRE2 matches the string somewhere.
  public func matches(_ pattern: String) -> QueryCondition<Model> {
    self.is("$regex", .string(pattern))
  }
}

extension ModelField where Value: Sequence {
  /// The array contains an element.
  public func contains(_ element: Value.Element) -> QueryCondition<Model>
  where Value.Element: Encodable & Equatable {
    self.is("$elemMatch", ["$eq": try JSONValue(encoding: element)])
  }

  /// The array contains an element that meets a condition.
  public func contains(
    where condition: (ModelField<Value.Element, Value.Element>) -> QueryCondition<Value.Element>
  ) -> QueryCondition<Model> where Value.Element: Decodable {
    let element = condition(ModelField<Value.Element, Value.Element>(isDocument: false))
    return self.is("$elemMatch", .object(try element.selector.get()))
  }
}

extension ModelField where Model == Value {
  /// The words of a text search occur in the document. See `docs/query.md`, Text search.
  public func search(for words: String) -> QueryCondition<Model> {
    QueryCondition { () throws(QueryError) in ["$text": ["$search": .string(words)]] }
  }
}

extension QueryError {
  fileprivate static func notEncodable(_ error: any Error, at path: String) -> QueryError {
    if let error = error as? QueryError { return error }
    return QueryError(
      .invalidArgument, at: path, "the value can't be encoded: \(error); compare with another value")
  }
}
