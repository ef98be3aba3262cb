import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB

/// The body of `_find`: our selectors, and the other members as CouchDB has them.
struct FindRequest: Sendable {
  let selector: JSONValue
  private(set) var limit = 25
  private(set) var fields: [String] = []
  private(set) var options = DocumentOptions()
  private(set) var wantsStatistics = false
  private var skip = 0
  private var sort: JSONValue?
  /// What the index that is named may be called: a name may have a slash, too.
  private var indexNames: [String] = []
  /// The index to use, if there is one of those names.
  private var index: String?
  private var allowsFallback = true
  /// The position after which the page begins, as text.
  private(set) var bookmark = "nil"
  private var start: Bookmark?

  init(_ body: JSONObject) throws(CouchError) {
    guard let selector = body["selector"] else {
      throw CouchError(400, "missing_required_key", "Missing required key: selector")
    }
    self.selector = selector
    for (name, value) in body {
      switch name {
      case "selector": break
      case "limit": limit = try Self.count(name, value)
      case "skip": skip = try Self.count(name, value)
      case "sort": sort = value
      case "fields":
        guard let fields = value.arrayValue?.compactMap(\.stringValue),
          fields.count == value.arrayValue?.count
        else {
          throw CouchError(
            400, "invalid_fields_json", "Fields must be an array of strings, not: \(value.text)")
        }
        self.fields = fields
      case "use_index": indexNames = try Self.indexNames(value)
      case "allow_fallback": allowsFallback = try Self.flag(name, value)
      case "bookmark": try setBookmark(value)
      case "conflicts": options.conflicts = try Self.flag(name, value)
      case "execution_stats": wantsStatistics = try Self.flag(name, value)
      // What a cluster decides by.
      case "r":
        guard let count = value.intValue, count > 0 else {
          throw CouchError(
            400, "invalid_pos_integer", "r: must be a positive integer, not \(value.text.prefix(100))")
        }
      case "update", "stable": _ = try Self.flag(name, value)
      case "stale", "partition": break
      default: throw CouchError(400, "invalid_key", "Invalid key \(name) for this request.")
      }
    }
  }

  private static func count(_ name: String, _ value: JSONValue) throws(CouchError) -> Int {
    guard let count = value.intValue, count >= 0 else {
      throw CouchError(
        400, "invalid_non_neg_integer",
        "\(name): must be a non-negative integer, not \(value.text.prefix(100))")
    }
    return count
  }

  private static func flag(_ name: String, _ value: JSONValue) throws(CouchError) -> Bool {
    guard let flag = value.boolValue else {
      throw CouchError(
        400, "invalid_boolean", "\(name): must be true or false, not \(value.text.prefix(100))")
    }
    return flag
  }

  /// The names of an index: of `"ddoc"`, `"_design/ddoc"`, `"ddoc/name"`, or `["ddoc", "name"]`.
  private static func indexNames(_ value: JSONValue) throws(CouchError) -> [String] {
    switch value {
    case .null, .array([]): return []
    case .string(let text): return names(text)
    case .array(let parts):
      guard let last = parts.last?.stringValue, parts.count <= 2 else { fallthrough }
      return parts.count == 1 ? names(last) : [last]
    default:
      throw CouchError(
        400, "invalid_key", "use_index must be a name or an array of a design document and a name.")
    }
  }

  private static func names(_ text: String) -> [String] {
    let path = text.afterBytePrefix(DocumentID.designPrefix) ?? text
    let parts = path.split(separator: "/", maxSplits: 1)
    return parts.count == 2 ? [path, String(parts[1])] : [path]
  }

  // MARK: The query

  /// The request with the index that it names, if there is one. An unknown one is not used, as at CouchDB.
  func resolved(in store: Datastore) async throws -> FindRequest {
    guard !indexNames.isEmpty else { return self }
    let known = try await store.listIndexes().map(\.name)
    var request = self
    request.index = indexNames.first(where: known.contains)
    return request
  }

  func query() throws -> Query {
    var request: JSONObject = ["selector": selector]
    if let sort { request["sort"] = sort }
    var query = try Query(request: request)
    query.skip = skip
    query.limit = limit
    query.bookmark = start
    query.hidesDesignDocuments = true
    query.fields = fields
    query.useIndex = index
    return query
  }

  /// The query with its results, and a warning if it names an index that does not serve it. Another is then used.
  ///
  /// - Throws: `CouchError` if that is not allowed, or if no index serves and only an index may.
  func cursor(by engine: QueryEngine) throws -> (query: Query, cursor: Cursor, warning: String?) {
    var query = try query()
    var cursor = try engine.cursor(query)
    var warning: String?
    if let name = indexNames.first, index == nil || !cursor.isServed {
      let unused = "_design/\(name) was not used because it does not contain a valid index for this query."
      guard allowsFallback else { throw CouchError(400, "invalid_index", unused) }
      warning = unused
      if index != nil {
        query.useIndex = nil
        cursor = try engine.cursor(query)
      }
    }
    guard allowsFallback || cursor.isServed else {
      throw CouchError(
        400, "no_usable_index",
        "No index serves this query, and `allow_fallback` is false. Create one with POST _index.")
    }
    return (query, cursor, warning)
  }

  // MARK: Results

  /// Calls `body` with the text of each result.
  func forEachText(
    _ cursor: Cursor, _ transaction: ReadTransaction, _ body: ([UInt8]) throws -> Void
  ) throws {
    guard fields.isEmpty, !options.needsTree else {
      let text = DocumentText(transaction, options)
      while let document = try cursor.nextDocument() {
        try body(fields.isEmpty ? try text.text(of: document) : projected(document))
      }
      return
    }
    try cursor.forEachText(attachmentsJSON: { DocumentText.stubs($0) }) { text in
      try body(Array(text))
      return true
    }
  }

  var opts: JSONObject {
    [
      "use_index": index.map { .array([.string($0)]) } ?? [], "bookmark": .string(bookmark),
      "limit": .int(Int64(limit)),
      "skip": .int(Int64(skip)), "sort": sort ?? [:], "fields": .array(fields.map { .string($0) }),
      "partition": "", "r": 1, "conflicts": .bool(options.conflicts), "stale": false, "update": true,
      "stable": false, "execution_stats": .bool(wantsStatistics), "allow_fallback": .bool(allowsFallback),
    ]
  }

  /// A result with the wanted fields alone. As at CouchDB, `_id` and `_rev` are fields like others.
  func projected(_ document: DocumentRevision) -> [UInt8] {
    var kept = JSONObject()
    if fields.contains("_id") { kept["_id"] = .string(document.id) }
    if fields.contains("_rev") { kept["_rev"] = .string(document.revisionID.description) }
    for (name, value) in document.body { kept[name] = value }
    return kept.utf8Text
  }

  // MARK: Bookmarks

  private mutating func setBookmark(_ value: JSONValue) throws(CouchError) {
    if case .string("nil") = value { return }
    if case .string("") = value { return }
    do throws(QueryError) {
      start = try Bookmark(value.stringValue ?? "")
      bookmark = value.stringValue ?? ""
    } catch {
      throw CouchError(400, "invalid_bookmark", "Invalid bookmark value: \(value.text.prefix(100))")
    }
  }
}

extension CouchError {
  /// An error of a query in CouchDB's words.
  init(_ error: QueryError) {
    let name =
      switch error.code {
      case .unknownOperator: "invalid_operator"
      case .invalidArgument, .invalidRegex: "bad_arg"
      case .invalidSelector, .invalidPath, .tooDeep, .tooLarge: "invalid_selector_json"
      case .invalidRequest: error.path == "bookmark" ? "invalid_bookmark" : "invalid_sort_json"
      case .unknownIndex, .invalidIndex: "invalid_index"
      case .indexConflict: "conflict"
      case .matchLimit, .timedOut: "timeout"
      default: "bad_request"
      }
    self.init(error.code == .timedOut ? 503 : error.code == .indexConflict ? 409 : 400, name, "\(error)")
  }
}
