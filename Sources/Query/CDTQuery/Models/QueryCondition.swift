import CDTJSON

/// The condition of a typed query. `&&`, `||` and `!` combine conditions.
///
/// ```swift
/// func due(before date: Date, tag: String?) throws -> ModelQuery<Task> {
///   try ModelQuery { task in
///     let isDue = !task.isDone && task.due < date
///     return if let tag { isDue && task.tags.contains(tag) } else { isDue }
///   }
/// }
/// ```
///
/// It is a selector, which `print` shows. See <doc:StoringModels#Conditions>.
public struct QueryCondition<Model>: Sendable, Hashable {
  let selector: Result<JSONObject, QueryError>

  init(_ selector: () throws(QueryError) -> JSONObject) {
    self.selector = Result(catching: selector)
  }

  /// The condition that every document meets.
  public static var all: QueryCondition { QueryCondition { () throws(QueryError) in [:] } }

  /// Both conditions hold.
  public static func && (left: QueryCondition, right: QueryCondition) -> QueryCondition {
    QueryCondition { () throws(QueryError) in
      let (left, right) = (try left.selector.get(), try right.selector.get())
      if left.isEmpty || right.isEmpty { return left.isEmpty ? right : left }
      return combined("$and", left, right)
    }
  }

  /// One of the conditions holds, or both.
  public static func || (left: QueryCondition, right: QueryCondition) -> QueryCondition {
    QueryCondition { () throws(QueryError) in
      let (left, right) = (try left.selector.get(), try right.selector.get())
      if left.isEmpty || right.isEmpty { return [:] }
      return combined("$or", left, right)
    }
  }

  /// The condition does not hold.
  public static prefix func ! (condition: QueryCondition) -> QueryCondition {
    QueryCondition { () throws(QueryError) in
      let selector = try condition.selector.get()
      return selector.isEmpty ? ["$or": []] : ["$not": .object(selector)]
    }
  }

  /// The condition holds, or for `false` does not.
  ///
  /// ```swift
  /// let tasks = try store.find(Task.self) { $0.tags.contains("home") == false }
  /// ```
  public static func == (condition: QueryCondition, holds: Bool) -> QueryCondition {
    holds ? condition : !condition
  }

  /// A chain of the same operator is one array, so that long chains are not nested deeply.
  private static func combined(_ name: String, _ left: JSONObject, _ right: JSONObject) -> JSONObject {
    func members(_ selector: JSONObject) -> [JSONValue] {
      selector[name]?.arrayValue.flatMap { $0.isEmpty ? nil : $0 } ?? [.object(selector)]
    }
    return JSONObject([(name, .array(members(left) + members(right)))])
  }
}

extension QueryCondition: CustomStringConvertible {
  /// The selector as JSON, or the error of an invalid condition.
  public var description: String {
    switch selector {
    case .success(let selector): selector.text
    case .failure(let error): error.description
    }
  }
}
