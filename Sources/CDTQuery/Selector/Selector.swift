public import JSON

/// A query's condition: which documents match.
///
/// ```swift
/// let adults = try Selector(["age": ["$gte": 18], "pet": ["species": "cat"]])
/// try adults.matches(["age": 36, "pet": ["species": "cat"]])  // true
/// ```
///
/// A selector is checked whole when it is made, so one that exists can be run. Source: `docs/query.md`, Selectors.
public struct Selector: Sendable, Hashable {
  /// How deep clauses may nest.
  public static let maximumDepth = 100

  /// How many clauses a selector may have; the members of `$in` do not count.
  public static let maximumClauses = 10_000

  package let clause: Clause

  /// Parses a selector.
  ///
  /// - Throws: ``QueryError`` that names the offending clause, such as `$or[1].age.$mod`, and the remedy.
  /// - Complexity: O(*n*) in the size of the selector; patterns of `$regex` are compiled here.
  public init(_ json: JSONObject) throws(QueryError) {
    try ValueCheck.check(json)
    var parser = SelectorParser()
    clause = try parser.parse(json)
  }

  /// Parses a selector from its JSON text.
  ///
  /// - Throws: ``QueryError``, also for text that is not JSON or not an object.
  public init(parsing text: String) throws(QueryError) {
    let value: JSONValue
    do {
      value = try JSONValue(parsing: text)
    } catch {
      throw .invalidJSON(error, what: "selector")
    }
    guard case .object(let object) = value else { throw .notAnObject(value, at: "") }
    try self.init(object)
  }

  package init(clause: Clause) {
    self.clause = clause
  }
}
