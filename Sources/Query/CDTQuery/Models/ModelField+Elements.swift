import CDTJSON
import CDTPlatform

extension ModelField where Value: Sequence {
  /// The array contains an element.
  ///
  /// ```swift
  /// let tasks = try store.find(Task.self) { $0.tags.contains("home") }
  /// ```
  public func contains(_ element: Value.Element) -> QueryCondition<Model>
  where Value.Element: Encodable & Equatable {
    array { [$0: ["$elemMatch": ["$eq": try JSONValue(encoding: element)]]] }
  }

  /// The array contains an element that meets a condition.
  public func contains(
    where condition: (ModelField<Value.Element, Value.Element>) -> QueryCondition<Value.Element>
  ) -> QueryCondition<Model> where Value.Element: Decodable {
    let selector = condition(ModelField<Value.Element, Value.Element>(isDocument: false)).selector
    return array { path in
      let selector = try selector.get()
      return [path: ["$elemMatch": .object(try selector.ofElement ?? selector)]]
    }
  }

  /// Every element of the array meets a condition, which is true of an empty array.
  ///
  /// ```swift
  /// let tasks = try store.find(Task.self) { $0.steps.allSatisfy { $0.isDone } }
  /// ```
  public func allSatisfy(
    _ condition: (ModelField<Value.Element, Value.Element>) -> QueryCondition<Value.Element>
  ) -> QueryCondition<Model> where Value.Element: Decodable {
    let selector = condition(ModelField<Value.Element, Value.Element>(isDocument: false)).selector
    return array { path in
      let selector = try selector.get()
      let other: JSONObject =
        try selector.ofElement.map { ["$not": .object($0)] } ?? ["$nor": [.object(selector)]]
      return [path: ["$type": "array", "$not": ["$elemMatch": .object(other)]]]
    }
  }

  private func array(_ selector: (_ path: String) throws -> JSONObject) -> QueryCondition<Model> {
    holds { path in
      if Value.self == Data.self { throw QueryError.notAnArray(Value.self) }
      return try selector(path)
    }
  }
}

extension JSONObject {
  /// The operators of a condition on an element that has no members, `{"$gt": 3}` for `{"": {"$gt": 3}}`; `nil` for another condition.
  fileprivate var ofElement: JSONObject? {
    get throws {
      guard let (name, value) = first else { return ["$exists": true] }
      switch name {
      case "": return value.objectValue
      case "$not": return try value.objectValue?.ofElement.map { ["$not": .object($0)] }
      case "$and", "$or":
        let members = try value.arrayValue?.map { try $0.objectValue?.ofElement } ?? []
        if members.isEmpty { return ["$in": []] }
        if members.allSatisfy({ $0 == nil }) { return nil }
        return try members.reduce(into: JSONObject()) { all, member in
          guard name == "$and", let member else { throw QueryError.elementConditions }
          try all.merge(member) { _, _ in throw QueryError.elementConditions }
        }
      default: return nil
      }
    }
  }
}

extension ModelField where Value: Collection {
  /// The array, set, dictionary or data is empty.
  ///
  /// ```swift
  /// let tasks = try store.find(Task.self) { $0.tags.isEmpty || $0.steps.count > 2 }
  /// ```
  public var isEmpty: QueryCondition<Model> {
    holds { path in
      if Value.self == Data.self { return [path: ["$eq": ""]] }
      let isEmpty: JSONObject = [path: ["$size": 0]]
      return Value.self is any KeyedValue.Type ? ["$or": [.object(isEmpty), [path: ["$eq": [:]]]]] : isEmpty
    }
  }

  /// The number of elements of the array or set, to compare with a number.
  public var count: ModelField<Model, Int> {
    Value.self == Data.self || Value.self is any KeyedValue.Type
      ? refused(.notAnArray(Value.self)) : self.as(.count)
  }
}

/// A type that is stored as an object.
private protocol KeyedValue {}
extension Dictionary: KeyedValue {}

extension ModelField where Value: RangeReplaceableCollection {
  /// The first element of the array.
  ///
  /// ```swift
  /// let tasks = try store.find(Task.self) { $0.tags.first == "home" && $0.tags[1] == "shop" }
  /// ```
  public var first: ModelField<Model, Value.Element> { self[0] }

  /// The element of the array at a position.
  public subscript(position: Int) -> ModelField<Model, Value.Element> {
    Value.self == Data.self ? refused(.notAnArray(Value.self)) : within("\(position)")
  }
}

extension ModelField {
  /// The selector of a condition on the number of elements: an array has more than two if it has an element at position 2.
  static func count(_ name: String, _ argument: JSONValue, at path: String) -> JSONObject {
    let number = argument.intValue ?? 0
    func isAtLeast(_ number: Int, _ isNot: Bool = false) -> JSONObject {
      let isArray: JSONObject = [path: ["$type": "array"]]
      if number < 1 { return isNot ? ["$or": []] : isArray }
      // A name with more digits is not a position.
      let element = "\(path).\(Swift.min(number - 1, 999_999_999_999_999_999))"
      return ["$and": [.object(isArray), [element: ["$exists": .bool(!isNot)]]]]
    }
    let next = number == .max ? number : number + 1
    return switch name {
    case "$gt": isAtLeast(next)
    case "$gte": isAtLeast(number)
    case "$lt": isAtLeast(number, true)
    case "$lte": isAtLeast(next, true)
    case "$in": ["$or": .array((argument.arrayValue ?? []).map { [path: ["$size": $0]] })]
    case "$ne": ["$not": [path: ["$size": argument]]]
    default: [path: ["$size": argument]]
    }
  }
}
