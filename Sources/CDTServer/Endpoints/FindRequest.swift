import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB
import FoundationEssentials

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
  /// The number of results before this page.
  private var offset = 0

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
      case "allow_fallback": allowsFallback = value.boolValue ?? true
      case "bookmark": offset = try Self.offset(value)
      case "conflicts": options.conflicts = value.boolValue ?? false
      case "execution_stats": wantsStatistics = value.boolValue ?? false
      // What a cluster decides by.
      case "r", "update", "stable", "stale", "partition": break
      default: throw CouchError(400, "invalid_key", "Invalid key \(name) for this request.")
      }
    }
  }

  private static func count(_ name: String, _ value: JSONValue) throws(CouchError) -> Int {
    guard let count = value.intValue, count >= 0 else {
      throw CouchError(
        400, "invalid_non_neg_integer", "\(name): must be a non-negative integer, not \(value.text)")
    }
    return count
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

  /// The number of results before the page. As at CouchDB, `skip` counts from the bookmark.
  private var start: Int {
    let (start, overflow) = offset.addingReportingOverflow(skip)
    return overflow ? .max : start
  }

  func query() throws -> Query {
    var request: JSONObject = ["selector": selector]
    if let sort { request["sort"] = sort }
    var query = try Query(request: request)
    query.skip = start
    query.limit = limit
    query.fields = fields
    query.useIndex = index
    if let unusedIndex, !allowsFallback { throw CouchError(400, "invalid_index", unusedIndex) }
    return query
  }

  /// What to say of an index that is named and unknown; `nil` if there is none.
  private var unusedIndex: String? {
    guard index == nil, let name = indexNames.first else { return nil }
    return "_design/\(name) was not used because it does not contain a valid index for this query."
  }

  func warning(lacksIndex: Bool) -> String? {
    if let unusedIndex { return unusedIndex }
    return lacksIndex
      ? "No matching index found, create an index to optimize query time." : nil
  }

  // MARK: Results

  /// Calls `body` with the text of each result.
  func forEachText(
    _ cursor: Cursor, _ transaction: ReadTransaction, _ body: ([UInt8]) throws -> Void
  ) throws {
    // A cursor can't be told that there is no result.
    if limit == 0 { return }
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
      "use_index": index.map { .array([.string($0)]) } ?? [], "bookmark": "nil", "limit": .int(Int64(limit)),
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

  /// A bookmark is the number of results before the next page, as text that clients can't take for one.
  func bookmark(after count: Int) -> String {
    if count == 0, offset == 0 { return "nil" }
    let end = count == 0 ? offset : start.addingReportingOverflow(count).partialValue
    return Data("g\(end)".utf8).base64EncodedString()
  }

  private static func offset(_ value: JSONValue) throws(CouchError) -> Int {
    guard case .string(let text) = value else {
      throw CouchError(400, "invalid_bookmark", "Invalid bookmark value: \(value.text)")
    }
    if text == "nil" || text.isEmpty { return 0 }
    guard let data = Data(base64Encoded: text), data.first == UInt8(ascii: "g"),
      let offset = Int(String(decoding: data.dropFirst(), as: UTF8.self)), offset >= 0
    else { throw CouchError(400, "invalid_bookmark", "Invalid bookmark value: \(text.prefix(100))") }
    return offset
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
      case .invalidRequest: "invalid_sort_json"
      case .unknownIndex, .invalidIndex: "invalid_index"
      case .indexConflict: "conflict"
      case .matchLimit, .timedOut: "timeout"
      default: "bad_request"
      }
    self.init(error.code == .timedOut ? 503 : error.code == .indexConflict ? 409 : 400, name, "\(error)")
  }
}
