import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB

/// The options of resources that list rows in the order of their keys, from the query of a request or from its body.
struct ListOptions: Sendable {
  private(set) var startKey: JSONValue?
  private(set) var endKey: JSONValue?
  private(set) var isEndIncluded = true
  private(set) var isDescending = false
  private(set) var keys: [JSONValue]?
  private(set) var page = ResultPage()
  private(set) var includesDocuments = false
  private(set) var includesSequence = false
  private(set) var documents = DocumentOptions()
  /// Whether the groups of a view are wanted, if it has a function that reduces.
  private(set) var reduces: Bool?
  /// The number of fields of the keys of groups; 0 for one group.
  private(set) var groupLevel = 0

  var start: Key? { startKey.map(Key.init) }
  private var end: Key? { endKey.map(Key.init) }

  /// - Parameter body: The members of a request's body. Those of its query override them, as at CouchDB.
  init(_ parameters: QueryParameters, body: JSONObject = [:]) throws(CouchError) {
    try take(body)
    try take(parameters.members(areJSON: ["key", "keys", "startkey", "start_key", "endkey", "end_key"]))
    if keys?.isEmpty == false, startKey != nil || endKey != nil { throw .keysWithRange }
  }

  /// Takes some options. Unknown ones are ignored.
  private mutating func take(_ members: JSONObject) throws(CouchError) {
    for (name, value) in members {
      switch name {
      case "keys":
        guard case .array(let keys) = value else { throw .badRequest("`keys` must be an array.") }
        self.keys = keys
      case "startkey", "start_key": startKey = value
      case "endkey", "end_key": endKey = value
      case "inclusive_end": isEndIncluded = try Self.flag(name, value)
      case "descending": isDescending = try Self.flag(name, value)
      case "include_docs": includesDocuments = try Self.flag(name, value)
      case "update_seq": includesSequence = try Self.flag(name, value)
      case "conflicts": documents.conflicts = try Self.flag(name, value)
      case "attachments": documents.attachments = try Self.flag(name, value)
      case "limit": page.limit = try Self.count(name, value)
      case "reduce": reduces = try Self.flag(name, value)
      case "group": groupLevel = try Self.flag(name, value) ? .max : 0
      case "group_level": groupLevel = try Self.count(name, value)
      case "skip": page.skip = try Self.count(name, value)
      default: break
      }
    }
    if let key = members["key"] { (startKey, endKey) = (key, key) }
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

  /// The position of a JSON value in the order of ids: CouchDB sorts null, booleans and numbers before strings, and arrays and
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

  /// The part of a range that the options request; `nil` if it is empty.
  func range(within whole: DocumentRange) -> DocumentRange? {
    var range = whole
    range.isDescending = isDescending
    switch isDescending ? end.map({ ($0, isEndIncluded) }) : start.map({ ($0, true) }) {
    case nil, (.before, _)?: break
    case (.after, _)?: return nil
    case (.id(let id), let isIncluded)?:
      if range.lower.map({ $0.id.precedes(id) }) ?? true { range.lower = .init(id, isIncluded: isIncluded) }
    }
    switch isDescending ? start.map({ ($0, true) }) : end.map({ ($0, isEndIncluded) }) {
    case nil, (.after, _)?: break
    case (.before, _)?: return nil
    case (.id(let id), let isIncluded)?:
      if range.upper.map({ id.precedes($0.id) }) ?? true { range.upper = .init(id, isIncluded: isIncluded) }
    }
    return range
  }

  /// The keys whose rows are wanted, in the order of their rows; `nil` if the request names none.
  var wantedKeys: [JSONValue]? {
    keys.map { Array(page.part(of: isDescending ? $0.reversed() : $0)) }
  }

  /// The wanted part of some names, which are keys.
  ///
  /// - Parameter names: In ascending order of their bytes.
  func page(of names: [String]) -> [String] {
    let wanted = keys.map { Set($0.compactMap(\.stringValue).map(KeyBytes.init)) }
    guard let range = range(within: DocumentRange()) else { return [] }
    let found = names.filter { range.contains($0) && wanted?.contains(KeyBytes($0)) != false }
    return Array(page.part(of: isDescending ? found.reversed() : found))
  }
}

extension DocumentRange {
  fileprivate func contains(_ name: String) -> Bool {
    if let lower, name.precedes(lower.id) || !lower.isIncluded && name.hasSameBytes(as: lower.id) {
      return false
    }
    guard let upper else { return true }
    return !upper.id.precedes(name) && (upper.isIncluded || !name.hasSameBytes(as: upper.id))
  }
}

extension QueryParameters {
  /// The page that `skip` and `limit` choose; without them, the first rows up to a limit.
  func page(limit: Int? = nil) throws(CouchError) -> ResultPage {
    ResultPage(skip: try count("skip") ?? 0, limit: try count("limit") ?? limit)
  }
}

extension RequestContext {
  /// The options of a list that is asked for by GET, or by POST with a body.
  func listOptions() async throws -> ListOptions {
    try ListOptions(parameters, body: method == .post ? await jsonObject() : [:])
  }

  /// The options of several lists that are asked for at once, by `{"queries": [{…}, …]}`.
  func listQueries() async throws -> [ListOptions] {
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
