/// A query, a sort, a projection or an index definition that was refused, or a query that failed while it ran.
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
/// A refused query has not run at all: nothing was read, and nothing changed.
public struct QueryError: Error, Hashable, Sendable {
  /// What went wrong, for programs; codes may be added.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Name: String {
      case unknownOperator, invalidArgument, invalidSelector, invalidPath, invalidRegex, invalidRequest,
        tooDeep,
        tooLarge, unknownIndex, invalidIndex, indexConflict, textSearch, matchLimit, closed, inUse, cancelled,
        timedOut
    }
    private let name: Name

    private init(_ name: Name) {
      self.name = name
    }

    /// The code's name, as `cdtquery find --batch` prints it.
    public var description: String { name.rawValue }

    /// A key that begins with `$` and is no operator, or one that may not stand where it stands.
    public static let unknownOperator = Code(.unknownOperator)
    /// An operator whose argument has the wrong type or range.
    public static let invalidArgument = Code(.invalidArgument)
    /// A selector whose shape is wrong: operators beside names, an empty clause.
    public static let invalidSelector = Code(.invalidSelector)
    /// A field's path with an empty segment or an unescaped `$`.
    public static let invalidPath = Code(.invalidPath)
    /// A pattern that does not compile.
    public static let invalidRegex = Code(.invalidRegex)
    /// A request with an unknown key, or a sort, limit, skip or projection that is malformed.
    public static let invalidRequest = Code(.invalidRequest)
    /// Nested deeper than the bound.
    public static let tooDeep = Code(.tooDeep)
    /// More clauses than the bound.
    public static let tooLarge = Code(.tooLarge)
    /// An index of that name does not exist.
    public static let unknownIndex = Code(.unknownIndex)
    /// An index definition that is refused.
    public static let invalidIndex = Code(.invalidIndex)
    /// Another index has the same name.
    public static let indexConflict = Code(.indexConflict)
    /// A text search that can't be run.
    public static let textSearch = Code(.textSearch)
    /// A pattern needed more work on a document than any match is given.
    public static let matchLimit = Code(.matchLimit)
    /// The result set was closed.
    public static let closed = Code(.closed)
    /// The result set is being read by another call.
    public static let inUse = Code(.inUse)
    /// The query was cancelled while it ran.
    public static let cancelled = Code(.cancelled)
    /// The query took longer than its time limit.
    public static let timedOut = Code(.timedOut)
  }

  /// What went wrong, for programs.
  public let code: Code

  /// Where: the way to the offending clause, such as `$or[1].age.$mod`, `sort[0]` or `limit`; empty for the whole.
  public let path: String

  /// What went wrong and what to do about it, for people.
  public let message: String

  package init(_ code: Code, at path: String, _ message: String) {
    self.code = code
    self.path = path
    self.message = message
  }
}

extension QueryError: CustomStringConvertible {
  /// The path and the message, as in `age.$gtt: unknown operator "$gtt" (did you mean "$gt"?)`.
  public var description: String {
    path.isEmpty ? message : "\(path): \(message)"
  }
}
