/// An error in a query, sort, projection or index definition, or an error during a query.
///
/// ```swift
/// do {
///   _ = try store.find(["$or": [["age": ["$gtt": 18]]]])
/// } catch let error as QueryError {
///   error.code     // .unknownOperator
///   error.path     // "$or[0].age.$gtt"
///   error.message  // unknown operator "$gtt" (did you mean "$gt"?)
/// }
/// ```
///
/// An invalid query never runs: nothing was read, and nothing changed.
public struct QueryError: Error, Hashable, Sendable {
  /// The kind of error, for programs. New codes may be added.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, as `cdtquery find --batch` prints it.
    public let description: String

    package init(_ name: String) { description = name }

    /// A key that begins with `$` is not an operator, or the operator is not allowed in this place.
    public static let unknownOperator = Code("unknownOperator")
    /// An operator's argument has the wrong type or range.
    public static let invalidArgument = Code("invalidArgument")
    /// A selector is malformed, such as operators beside names, or an empty clause.
    public static let invalidSelector = Code("invalidSelector")
    /// A field's path has an empty segment or an unescaped `$`.
    public static let invalidPath = Code("invalidPath")
    /// A pattern does not compile.
    public static let invalidRegex = Code("invalidRegex")
    /// A request has an unknown key, or its sort, limit, skip or projection is malformed.
    public static let invalidRequest = Code("invalidRequest")
    /// The nesting exceeds its limit.
    public static let tooDeep = Code("tooDeep")
    /// The number of clauses, or of the fields of a sort, exceeds its limit.
    public static let tooLarge = Code("tooLarge")
    /// A change does not fit the field of a document, or changes one of the document's own fields.
    public static let invalidChange = Code("invalidChange")
    /// The index does not exist.
    public static let unknownIndex = Code("unknownIndex")
    /// An index definition is invalid.
    public static let invalidIndex = Code("invalidIndex")
    /// Another index has the same name.
    public static let indexConflict = Code("indexConflict")
    /// A text search can't be run.
    public static let textSearch = Code("textSearch")
    /// A row of groups does not fit its type.
    public static let undecodable = Code("undecodable")
    /// A pattern exceeded the match limit on a document.
    public static let matchLimit = Code("matchLimit")
    /// The result set is closed.
    public static let closed = Code("closed")
    /// Another call is reading the result set.
    public static let inUse = Code("inUse")
    /// The query exceeded its time limit.
    public static let timedOut = Code("timedOut")
  }

  /// The kind of error, for programs.
  public let code: Code

  /// The path of the invalid clause, such as `$or[1].age.$mod`, `sort[0]` or `limit`; empty for the whole query.
  public let path: String

  /// The message: the problem, then the remedy.
  public let message: String

  package init(_ code: Code, at path: String, _ message: String) {
    self.code = code
    self.path = path.boundedMessage
    self.message = message.boundedMessage
  }

  /// The same error in a member of a request, such as `having`.
  package func below(_ member: String) -> QueryError {
    QueryError(code, at: path.isEmpty ? member : "\(member).\(path)", message)
  }
}

extension QueryError: CustomStringConvertible {
  /// The path and the message, as in `age.$gtt: unknown operator "$gtt" (did you mean "$gt"?)`.
  public var description: String {
    path.isEmpty ? message : "\(path): \(message)"
  }
}
