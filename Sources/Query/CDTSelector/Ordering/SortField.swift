public import CDTJSON

/// A field with a direction, in the sort of a query or in an index.
///
/// ```swift
/// let newest = try store.find(["type": "task"], sort: [.descending("created"), "name"])
/// try store.ensureIndexed(["type", .descending("created")])
/// ```
///
/// A string literal is a path in ascending order. The path is validated when it is used.
///
/// See <doc:QueryingDocuments#Sorting>.
public struct SortField: Sendable, Hashable {
  /// The direction of a sort.
  public enum Direction: String, Sendable, Hashable {
    /// The smallest value first.
    case ascending = "asc"
    /// The largest value first.
    case descending = "desc"
  }

  /// The field's path, as in a selector: `pet.species`.
  public let path: String
  /// The field's direction.
  public let direction: Direction
  /// Whether this is the score of a text search instead of a field.
  package let isScore: Bool
  /// The error of a field without a path, if it is a property that documents don't have.
  package let failure: QueryError?

  /// Creates a field with a direction.
  public init(_ path: String, _ direction: Direction = .ascending) {
    self.path = path
    self.direction = direction
    isScore = false
    failure = nil
  }

  /// Creates a field from the property of a model.
  package init(_ location: Result<FieldPath, QueryError>, _ direction: Direction) {
    self.direction = direction
    isScore = false
    switch location {
    case .success(let location): (path, failure) = (location.text, nil)
    case .failure(let error): (path, failure) = (error.path, error)
    }
  }

  private init(score: Void) {
    path = "$text"
    direction = .descending
    isScore = true
    failure = nil
  }

  /// A field in ascending order.
  public static func ascending(_ path: String) -> SortField { SortField(path, .ascending) }

  /// A field in descending order.
  public static func descending(_ path: String) -> SortField { SortField(path, .descending) }

  /// The score of the query's `$text`, best match first. It can't be combined with fields.
  public static let score = SortField(score: ())

  /// The field as in a request: `"age"`, `{"age": "desc"}`, `{"$text": "score"}`.
  public var json: JSONValue {
    if isScore { return ["$text": "score"] }
    guard direction == .descending else { return .string(path) }
    return .object(JSONObject([(path, .string(direction.rawValue))]))
  }
}

extension SortField: ExpressibleByStringLiteral {
  /// A field in ascending order.
  public init(stringLiteral path: String) {
    self.init(path)
  }
}

extension SortField {
  /// Parses a clause of a sort or an index in a request.
  ///
  /// - Parameter place: The clause's path for errors.
  package init(json value: JSONValue, at place: String) throws(QueryError) {
    switch value {
    case .string(let path): self.init(path)
    case .object(let object):
      guard object.count == 1, let (path, direction) = object.first(where: { _ in true }) else {
        throw QueryError(.directedFieldKeys(object.count), at: place)
      }
      switch direction {
      case "score" where path == "$text": self.init(score: ())
      case _ where path == "$text": throw QueryError(.scoreDirection(direction), at: place)
      case "asc": self.init(path, .ascending)
      case "desc": self.init(path, .descending)
      default: throw QueryError(.unknownDirection(direction, of: path), at: place)
      }
    default:
      throw QueryError(.notADirectedField(value), at: place)
    }
  }

  /// Parses the clauses of a sort or an index in a request.
  package static func fields(_ clauses: [JSONValue], at place: String) throws(QueryError) -> [SortField] {
    var fields: [SortField] = []
    for (number, clause) in clauses.enumerated() {
      fields.append(try SortField(json: clause, at: "\(place)[\(number)]"))
    }
    return fields
  }
}
