public import CDTJSON

/// The condition of a query, which documents match or not.
///
/// ```swift
/// let adults = try QuerySelector(["age": ["$gte": 18], "pet": ["species": "cat"]])
/// try adults.matches(["age": 36, "pet": ["species": "cat"]])  // true
/// ```
///
/// A selector is fully validated when it is created, so it can always run. See <doc:QueryingDocuments#Selectors>.
public struct QuerySelector: Sendable, Hashable {
  /// The maximum nesting depth of clauses.
  package static let maximumDepth = 100

  /// The maximum number of clauses; the members of `$in` don't count.
  package static let maximumClauses = 10_000

  package let clause: Clause

  /// Parses a selector.
  ///
  /// - Throws: ``QueryError`` with the path of the invalid clause, such as `$or[1].age.$mod`, and the remedy.
  /// - Complexity: O(*n*) in the size of the selector; patterns of `$regex` are compiled here.
  public init(_ json: JSONObject) throws(QueryError) {
    try ValueCheck.check(json)
    var parser = SelectorParser()
    clause = try parser.parse(json)
  }

  /// Parses a selector that is a literal with variables.
  @_disfavoredOverload
  public init(_ literal: JSONLiteral) throws(QueryError) {
    try self.init(JSONObject(literal))
  }

  /// Parses a selector from its JSON text.
  ///
  /// - Throws: ``QueryError``, also if the text is not JSON or not an object.
  public init(parsing text: String) throws(QueryError) {
    let value = try JSONValue(parsing: text, as: "selector")
    guard case .object(let object) = value else { throw QueryError(.notAnObject(value), at: "") }
    try self.init(object)
  }

  package init(clause: Clause) {
    self.clause = clause
  }
}

extension JSONValue {
  /// Parses the text of a selector, or of another part of a request, which the message names.
  init(parsing text: String, as what: String) throws(QueryError) {
    do {
      self = try JSONValue(parsing: text)
    } catch {
      throw QueryError(.invalidJSON(error, what: what))
    }
  }
}
