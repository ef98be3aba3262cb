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
/// See <doc:StoringModels#Conditions>.
@dynamicMemberLookup
public struct ModelField<Model, Value>: Sendable {
  /// The field's path; none for the model itself.
  let location: Result<FieldPath, QueryError>
  /// Whether this is a whole document, which has an id and a revision.
  private let isDocument: Bool
  /// Whether the property, or one on the way to it, is optional.
  fileprivate var isOptional = false
  /// The value as which a missing member is decoded. See `HasDefaults`.
  fileprivate var standIn: JSONValue?

  init(isDocument: Bool) {
    self.init(location: .success(FieldPath(segments: [])), isDocument: isDocument)
  }

  private init(location: Result<FieldPath, QueryError>, isDocument: Bool) {
    (self.location, self.isDocument) = (location, isDocument)
  }

  /// A property of the value.
  private func member<Member>(_ property: PartialKeyPath<Value>, isOptional: Bool) -> ModelField<
    Model, Member
  > {
    let name = Result { () throws(QueryError) in try PropertyName.of(property, isDocument: isDocument) }
    var member = ModelField<Model, Member>(location: location(of: name), isDocument: false)
    member.isOptional = self.isOptional || isOptional
    if !member.isOptional, let name = try? name.get() {
      let defaults = Value.self as? any HasDefaults.Type
      member.standIn = (try? defaults?.defaultMember(name)) ?? standIn?.objectValue?[name]
    }
    return member
  }

  private func location(of name: Result<String, QueryError>) -> Result<FieldPath, QueryError> {
    Result { () throws(QueryError) in
      try location.get().appending(FieldPath(segments: [.init(name: Array(name.get().utf8))]))
    }
  }

  /// A property.
  public subscript<Member>(dynamicMember property: KeyPath<Value, Member>) -> ModelField<Model, Member> {
    member(property, isOptional: false)
  }

  /// An optional property, as what it wraps.
  public subscript<Member>(dynamicMember property: KeyPath<Value, Member?>) -> ModelField<Model, Member> {
    member(property, isOptional: true)
  }

  /// The value of a dictionary's key.
  public subscript<Member>(key: String) -> ModelField<Model, Member> where Value == [String: Member] {
    var member = ModelField<Model, Member>(location: location(of: .success(key)), isDocument: false)
    member.isOptional = true
    return member
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
        return try selector(of: path, JSONObject([(name, try argument())]))
      } catch {
        throw .notEncodable(error, at: path)
      }
    }
  }

  /// A missing member is decoded as its default, so it meets the conditions that the default meets.
  private func selector(of path: String, _ condition: JSONObject) throws -> JSONObject {
    let selector: JSONObject = JSONObject([(path, .object(condition))])
    guard let standIn else { return selector }
    let test = try QuerySelector(["member": .object(condition)])
    let (accepts, acceptsMissing) = (try test.matches(["member": standIn]), try test.matches([:]))
    if accepts == acceptsMissing { return selector }
    let exists = JSONObject([("$exists", .bool(!accepts))])
    let other = JSONValue.object(JSONObject([(path, .object(exists))]))
    return [(accepts ? "$or" : "$and"): [.object(selector), other]]
  }

  /// The condition that a boolean is true or, for false, that it is not. Only a missing optional is neither.
  fileprivate func `is`(_ flag: Bool) -> QueryCondition<Model> { self.is(flag ? "$eq" : "$ne", true) }
}

extension ModelField where Value: Encodable & Equatable {
  /// The field equals a value, or is null or missing if the value is `nil`.
  public static func == (field: ModelField, value: Value?) -> QueryCondition<Model> {
    guard let value else { return !(field != nil) }
    if !field.isOptional, let flag = value as? Bool { return field.is(flag) }
    return field.is("$eq", try JSONValue(encoding: value))
  }

  /// The field does not equal a value, or is neither null nor missing if the value is `nil`.
  public static func != (field: ModelField, value: Value?) -> QueryCondition<Model> {
    guard let value else { return field.is("$gt", .null) }
    if !field.isOptional, let flag = value as? Bool { return field.is(!flag) }
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

  /// A pattern matches the string somewhere.
  public func matches(_ pattern: String) -> QueryCondition<Model> {
    self.is("$regex", .string(pattern))
  }
}

extension ModelField where Value == String {
  /// Does not compile: the message names the remedy.
  @available(*, unavailable, message: "use matches(_:) with a regular expression, or search(for:) for words")
  public func contains(_ part: some StringProtocol) -> QueryCondition<Model> { matches("\(part)") }

  /// Does not compile: the message names the remedy.
  @available(*, unavailable, message: "use matches(_:) with a regular expression, or search(for:) for words")
  public func localizedStandardContains(_ part: some StringProtocol) -> QueryCondition<Model> {
    matches("\(part)")
  }

  /// Does not compile: the message names the remedy.
  @available(*, unavailable, message: "use matches(_:) with a regular expression that ends in $")
  public func hasSuffix(_ suffix: String) -> QueryCondition<Model> { matches("\(suffix)$") }
}

// A value of another type has an error of its own, instead of one about the operators of other types.
extension ModelField {
  /// Does not compile: the message names the remedy.
  @available(*, unavailable, message: "compare the property with a value of its own type")
  @_disfavoredOverload
  public static func == <Other>(field: ModelField, value: Other) -> QueryCondition<Model> { .all }

  /// Does not compile: the message names the remedy.
  @available(*, unavailable, message: "compare the property with a value of its own type")
  @_disfavoredOverload
  public static func != <Other>(field: ModelField, value: Other) -> QueryCondition<Model> { .all }

  /// Does not compile: the message names the remedy.
  @available(
    *, unavailable, message: "compare the property with a value of its own type that is not optional"
  )
  @_disfavoredOverload
  public static func < <Other>(field: ModelField, value: Other) -> QueryCondition<Model> { .all }

  /// Does not compile: the message names the remedy.
  @available(
    *, unavailable, message: "compare the property with a value of its own type that is not optional"
  )
  @_disfavoredOverload
  public static func <= <Other>(field: ModelField, value: Other) -> QueryCondition<Model> { .all }

  /// Does not compile: the message names the remedy.
  @available(
    *, unavailable, message: "compare the property with a value of its own type that is not optional"
  )
  @_disfavoredOverload
  public static func > <Other>(field: ModelField, value: Other) -> QueryCondition<Model> { .all }

  /// Does not compile: the message names the remedy.
  @available(
    *, unavailable, message: "compare the property with a value of its own type that is not optional"
  )
  @_disfavoredOverload
  public static func >= <Other>(field: ModelField, value: Other) -> QueryCondition<Model> { .all }
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
