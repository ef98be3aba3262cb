import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTSelector

extension ModelField {
  /// A condition with an operator of selectors.
  func `is`(_ name: String, _ argument: @autoclosure () throws -> JSONValue) -> QueryCondition<Model> {
    holds { path in
      let argument = try argument()
      return compared == .count && argument != .null
        ? Self.count(name, argument, at: path) : [path: .object(JSONObject([(name, argument)]))]
    }
  }

  /// A condition with a selector of a path. A missing value is decoded as its default, so it meets the conditions that the default meets.
  func holds(_ selector: (_ path: String) throws -> JSONObject) -> QueryCondition<Model> {
    QueryCondition { () throws(QueryError) in
      let path = try path.get().text
      do {
        let stored = try selector(path)
        guard let standIn else { return stored }
        let test = try QuerySelector(selector(pathInStandIn))
        let accepts = try test.matches(["member": standIn])
        let others: [JSONObject] = replacesNull ? [[:], ["member": nil]] : [[:]]
        if try others.allSatisfy({ try test.matches($0) == accepts }) { return stored }
        let isThere: JSONObject = replacesNull ? ["$gt": nil] : ["$exists": true]
        let place = try location.get().text
        let members: [JSONValue] = [
          .object(stored), [place: .object(accepts ? ["$not": .object(isThere)] : isThere)],
        ]
        return [(accepts ? "$or" : "$and"): .array(members)]
      } catch {
        throw .notEncodable(error, at: path)
      }
    }
  }

  /// A value as it is stored. An id is the text of its key.
  fileprivate func json(_ value: some Encodable) throws -> JSONValue {
    if compared == .documentID, let key = value as? any DocumentKey { return .string(key.documentID) }
    return try JSONValue(encoding: value)
  }

  /// A condition with an operator that depends on the order of the values.
  fileprivate func compares(_ name: String, _ value: some Encodable) -> QueryCondition<Model> {
    self.is(name, try ordered { try json(value) })
  }

  /// A condition that the value, encoded, is equal. The elements of a set are stored in any order.
  fileprivate func equals(_ value: some Encodable) -> QueryCondition<Model> {
    guard Value.self is any UnorderedValue.Type else { return self.is("$eq", try json(value)) }
    return holds { path in
      let elements = try json(value).arrayValue ?? []
      var condition: JSONObject = ["$size": JSONValue(elements.count)]
      if !elements.isEmpty { condition["$all"] = .array(elements) }
      return [path: .object(condition)]
    }
  }

  /// The condition that a boolean is true or, for false, that it is not. Only a missing optional is neither.
  fileprivate func `is`(_ flag: Bool) -> QueryCondition<Model> { self.is(flag ? "$eq" : "$ne", true) }
}

/// A type whose elements are stored in any order.
private protocol UnorderedValue {}
extension Set: UnorderedValue {}

extension ModelField where Value: Encodable & Equatable {
  /// The field equals a value, or is null or missing if the value is `nil`.
  ///
  /// ```swift
  /// let tasks = try store.find(Task.self) { $0.place == "home" || $0.owner == nil || $0.due != nil }
  /// ```
  public static func == (field: ModelField, value: Value?) -> QueryCondition<Model> {
    guard let value else { return !field.is("$gt", .null) }
    if !field.isOptional, let flag = value as? Bool { return field.is(flag) }
    return field.equals(value)
  }

  /// The field does not equal a value, or is neither null nor missing if the value is `nil`.
  public static func != (field: ModelField, value: Value?) -> QueryCondition<Model> {
    guard let value else { return field.is("$gt", .null) }
    if !field.isOptional, let flag = value as? Bool { return field.is(!flag) }
    return Value.self is any UnorderedValue.Type
      ? !field.equals(value) : field.is("$ne", try field.json(value))
  }

  /// The field equals one of several values.
  public func `in`(_ values: [Value]) -> QueryCondition<Model> {
    if Value.self is any UnorderedValue.Type { return values.reduce(!.all) { $0 || equals($1) } }
    let isOne = self.is("$in", .array(try values.map(json)))
    // A missing member is nil, too.
    let isNil = values.contains { ($0 as? any OptionalValue)?.isNil == true }
    return isNil ? isOne || !self.is("$gt", .null) : isOne
  }
}

private protocol OptionalValue { var isNil: Bool { get } }
extension Optional: OptionalValue { fileprivate var isNil: Bool { self == nil } }

extension ModelField {
  /// The field is null or missing.
  @_disfavoredOverload
  public static func == (field: ModelField, none: _OptionalNilComparisonType) -> QueryCondition<Model> {
    !field.is("$gt", .null)
  }

  /// The field is neither null nor missing.
  @_disfavoredOverload
  public static func != (field: ModelField, none: _OptionalNilComparisonType) -> QueryCondition<Model> {
    field.is("$gt", .null)
  }

  /// The field, with a value for a document in which it is null or missing.
  ///
  /// ```swift
  /// let tasks = try store.find(Task.self) { ($0.due ?? .distantFuture) > .now && !($0.isUrgent ?? false) }
  /// ```
  public static func ?? (field: ModelField, value: Value) -> ModelField where Value: Encodable {
    field.replacingNil { try field.json(value) }
  }
}

extension ModelField where Value == Bool {
  /// The condition that the field is true or, if it is null or missing, the value.
  public static func ?? (field: ModelField, value: Bool) -> QueryCondition<Model> {
    field.replacingNil { .bool(value) } == true
  }
}

extension ModelField where Value: Encodable & Comparable {
  /// The field is less than a value.
  public static func < (field: ModelField, value: Value) -> QueryCondition<Model> {
    field.compares("$lt", value)
  }

  /// The field is at most a value.
  public static func <= (field: ModelField, value: Value) -> QueryCondition<Model> {
    field.compares("$lte", value)
  }

  /// The field is greater than a value.
  public static func > (field: ModelField, value: Value) -> QueryCondition<Model> {
    field.compares("$gt", value)
  }

  /// The field is at least a value.
  public static func >= (field: ModelField, value: Value) -> QueryCondition<Model> {
    field.compares("$gte", value)
  }
}

extension ModelField where Value == String {
  /// The string begins with a prefix.
  ///
  /// ```swift
  /// let tasks = try store.find(Task.self) { $0.title.hasPrefix("Buy") || $0.title.hasSuffix("!") || $0.title.isEmpty }
  /// ```
  public func hasPrefix(_ prefix: String) -> QueryCondition<Model> {
    self.is("$beginsWith", .string(prefix))
  }

  /// The string ends with a suffix.
  public func hasSuffix(_ suffix: String) -> QueryCondition<Model> { matches(suffix.asPattern + "\\z") }

  /// The string contains a text, which is not a pattern.
  ///
  /// ```swift
  /// let tasks = try store.find(Task.self) { $0.title.contains("milk") }
  /// ```
  public func contains(_ part: String) -> QueryCondition<Model> { matches(part.asPattern) }

  /// A pattern matches the string somewhere.
  public func matches(_ pattern: String) -> QueryCondition<Model> {
    self.is("$regex", .string(pattern))
  }

  /// The string is empty.
  public var isEmpty: QueryCondition<Model> { self.is("$eq", "") }
}

extension String {
  /// A regular expression that matches this text.
  fileprivate var asPattern: String { "\\Q\(replacing("\\E", with: #"\E\\E\Q"#))\\E" }
}

extension ModelField where Value: RawRepresentable {
  /// The raw value, as which an enumeration is stored.
  ///
  /// ```swift
  /// let tasks = try store.find(Task.self) { $0.kind.rawValue == "errand" }
  /// ```
  public var rawValue: ModelField<Model, Value.RawValue> { self.as(compared) }
}

extension Sequence where Element: Encodable & Equatable {
  /// A field equals one of the elements.
  ///
  /// ```swift
  /// let tasks = try store.find(Task.self) { ["home", "shop"].contains($0.place) }
  /// ```
  @_disfavoredOverload
  public func contains<Model>(_ field: ModelField<Model, Element>) -> QueryCondition<Model> {
    field.in(Array(self))
  }
}

extension RangeExpression where Bound: Encodable {
  /// A field is in the range.
  ///
  /// ```swift
  /// let tasks = try store.find(Task.self) { (1...3).contains($0.priority) && (..<Date.now).contains($0.due) }
  /// ```
  public func contains<Model>(_ field: ModelField<Model, Bound>) -> QueryCondition<Model> {
    switch self {
    case let range as ClosedRange<Bound>: field >= range.lowerBound && field <= range.upperBound
    case let range as Range<Bound>: field >= range.lowerBound && field < range.upperBound
    case let range as PartialRangeFrom<Bound>: field >= range.lowerBound
    case let range as PartialRangeThrough<Bound>: field <= range.upperBound
    case let range as PartialRangeUpTo<Bound>: field < range.upperBound
    default: QueryCondition { () throws(QueryError) in throw .unknownRange(Self.self) }
    }
  }
}

extension ModelField where Model == Value {
  /// The words of a text search occur in the document. See `docs/query.md`, Text search.
  public func search(for words: String) -> QueryCondition<Model> {
    QueryCondition { () throws(QueryError) in ["$text": ["$search": .string(words)]] }
  }
}
