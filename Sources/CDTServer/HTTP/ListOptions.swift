import CDTJSON
import CouchDB

/// The options of resources that list rows in the order of their keys, from the query of a request or from its body.
struct ListOptions: Sendable {
  private(set) var start: Key?
  private var end: Key?
  private var isEndIncluded = true
  private(set) var isDescending = false
  private(set) var keys: [JSONValue]?
  private(set) var limit: Int?
  private(set) var skip = 0
  private(set) var includesDocuments = false
  private(set) var includesSequence = false
  private(set) var documents = DocumentOptions()

  /// - Parameter body: The members of a request's body. Those of its query override them, as at CouchDB.
  init(_ parameters: Parameters, body: JSONObject = [:]) throws(CouchError) {
    try take(body)
    try take(parameters.members(areJSON: ["key", "keys", "startkey", "start_key", "endkey", "end_key"]))
    if keys?.isEmpty == false, start != nil || end != nil { throw .keysWithRange }
  }

  /// Takes some options. Unknown ones are ignored.
  private mutating func take(_ members: JSONObject) throws(CouchError) {
    for (name, value) in members {
      switch name {
      case "keys":
        guard case .array(let keys) = value else { throw .badRequest("`keys` must be an array.") }
        self.keys = keys
      case "startkey", "start_key": start = Key(value)
      case "endkey", "end_key": end = Key(value)
      case "inclusive_end": isEndIncluded = try Self.flag(name, value)
      case "descending": isDescending = try Self.flag(name, value)
      case "include_docs": includesDocuments = try Self.flag(name, value)
      case "update_seq": includesSequence = try Self.flag(name, value)
      case "conflicts": documents.conflicts = try Self.flag(name, value)
      case "attachments": documents.attachments = try Self.flag(name, value)
      case "limit": limit = try Self.count(name, value)
      case "skip": skip = try Self.count(name, value)
      default: break
      }
    }
    if let key = members["key"] { (start, end) = (Key(key), Key(key)) }
  }

  private static func flag(_ name: String, _ value: JSONValue) throws(CouchError) -> Bool {
    guard let flag = value.boolValue else {
      throw .invalidParameter(name, value.text, expected: "true or false")
    }
    return flag
  }

  private static func count(_ name: String, _ value: JSONValue) throws(CouchError) -> Int {
    guard let count = value.intValue, count >= 0 else {
      throw .invalidParameter(name, value.text, expected: "a number that is not negative")
    }
    return count
  }

  // MARK: The range

  /// Where a JSON value is in the order of ids: CouchDB sorts null, booleans and numbers before strings, and arrays and
  /// objects after them.
  enum Key: Sendable {
    case before, after
    case id(String)

    init(_ value: JSONValue) {
      switch value {
      case .string(let id): self = .id(id)
      case .array, .object: self = .after
      default: self = .before
      }
    }
  }

  /// The lowest key, and whether it is in the range; `nil` for no bound.
  var lower: (key: Key, isIncluded: Bool)? {
    isDescending ? end.map { ($0, isEndIncluded) } : start.map { ($0, true) }
  }

  /// The highest key, and whether it is in the range; `nil` for no bound.
  var upper: (key: Key, isIncluded: Bool)? {
    isDescending ? start.map { ($0, true) } : end.map { ($0, isEndIncluded) }
  }

  /// The keys whose rows are wanted, in the order of their rows; `nil` if the request names none.
  var wantedKeys: [JSONValue]? {
    keys.map { Array((isDescending ? $0.reversed() : $0).dropFirst(skip).prefix(limit ?? .max)) }
  }

  /// The wanted part of some names, which are keys.
  ///
  /// - Parameter names: In ascending order of their bytes.
  func page(of names: [String]) -> [String] {
    let wanted = keys.map { Set($0.compactMap(\.stringValue).map(KeyBytes.init)) }
    let page = names.filter { contains($0) && wanted?.contains(KeyBytes($0)) != false }
    return Array((isDescending ? page.reversed() : page).dropFirst(skip).prefix(limit ?? .max))
  }

  private func contains(_ name: String) -> Bool {
    switch lower {
    case (.after, _)?: return false
    case (.id(let id), let isIncluded)?:
      if name.precedes(id) || !isIncluded && name.hasSameBytes(as: id) { return false }
    case (.before, _)?, nil: break
    }
    switch upper {
    case (.before, _)?: return false
    case (.id(let id), let isIncluded)?:
      return !id.precedes(name) && (isIncluded || !name.hasSameBytes(as: id))
    case (.after, _)?, nil: return true
    }
  }
}

extension Exchange {
  /// The options of a list that is asked for by GET, or by POST with a body.
  func listOptions() async throws -> ListOptions {
    switch method {
    case .get, .head: try ListOptions(parameters)
    case .post: try ListOptions(parameters, body: await jsonObject())
    default: throw methodNotAllowed("GET,HEAD,POST")
    }
  }

  /// The options of several lists that are asked for at once, by `{"queries": [{…}, …]}`.
  func listQueries() async throws -> [ListOptions] {
    guard method == .post else { throw methodNotAllowed("POST") }
    guard case .array(let queries)? = try await jsonObject()["queries"] else {
      throw CouchError.badRequest("`queries` member must exist and be an array.")
    }
    return try queries.map { query in
      guard case .object(let object) = query else {
        throw CouchError.badRequest("A query must be an object.")
      }
      return try ListOptions(parameters, body: object)
    }
  }
}

extension CouchError {
  fileprivate static let keysWithRange = CouchError(
    400, "query_parse_error", "`keys` is incompatible with `key`, `start_key` and `end_key`")
}

extension String {
  /// Whether the string comes before another in the order of ids, which is that of their bytes.
  func precedes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
