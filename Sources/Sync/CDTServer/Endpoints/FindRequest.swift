import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB

/// The body of `_find`: our selectors, and the other members as CouchDB has them.
struct FindRequest: Sendable {
  /// The valid members.
  private let body: JSONObject
  /// The query for the engine. It has no page if the results are chosen by ``filter``, and no fields if it ``needsWhole`` documents.
  private(set) var query: Query
  private(set) var fields: [String] = []
  private(set) var options = DocumentOptions()
  /// The index to use.
  private(set) var index: NamedIndex?
  /// Decides on the members of the selector that the server adds; `nil` if there are none.
  let filter: AddedMemberFilter?

  init(_ body: JSONObject) throws {
    guard let selector = body["selector"] else {
      throw CouchError(400, "missing_required_key", "Missing required key: selector")
    }
    if body["group"] != nil { try Self.checkGroup(body) }
    self.body = body
    filter = try AddedMemberFilter(selector)
    query = try Query(selector: filter?.others ?? selector)
    for (name, value) in body { try set(name, to: value) }
    _ = try ResolvedQuery(query)
    guard filter == nil || !query.isBackward && query.include.isEmpty else {
      throw CouchError.notTogether(
        "`backward` or `include` for what `_attachments` or `_conflicts` select", instead: "other members")
    }
    query.bookmark = try Self.bookmark(body["bookmark"])
    if !needsWhole { query.fields = fields }
    if filter == nil { (query.skip, query.limit) = (page.skip, page.limit) }
  }

  private mutating func set(_ name: String, to value: JSONValue) throws {
    switch name {
    case "selector", "group", "bookmark": break
    case "sort", "collation", "snippets", "distance", "include": try query.set(name, to: value)
    case "limit", "skip": try Self.checkCount(name, value)
    case "fields":
      guard let fields = value.arrayValue?.compactMap(\.stringValue), fields.count == value.arrayValue?.count
      else {
        throw CouchError(400, "invalid_fields_json", "Fields must be an array of strings, not: \(value.text)")
      }
      self.fields = fields
    case "use_index": index = try NamedIndex(value)
    case "backward": query.isBackward = try Self.flag(name, value)
    case "conflicts": options.conflicts = try Self.flag(name, value)
    // The last two are options of a cluster; Cloudant's clients send `update` as a string.
    case "update" where ["true", "false", "lazy"].contains(value): break
    case "allow_fallback", "execution_stats", "stable", "update": _ = try Self.flag(name, value)
    case "r":
      guard let count = value.intValue, count > 0 else {
        throw Self.refusal("invalid_pos_integer", name, value, wanted: "a positive integer")
      }
    case "partition" where value != "":
      throw CouchError.unsupported("A partition", instead: "a selector on the field that divides documents")
    case "stale" where value != "ok" && value != false:
      throw Self.refusal("invalid_ok_or_false", name, value, wanted: "\"ok\" or false")
    case "stale", "partition": break
    default:
      throw CouchError(
        400, "invalid_key",
        "Invalid key \(name.prefix(100)) for this request: its keys are \(Self.members.joined(separator: ", "))."
      )
    }
  }

  /// The members of a request.
  static let members = [
    "selector", "limit", "skip", "sort", "fields", "use_index", "allow_fallback", "bookmark", "backward",
    "execution_stats", "conflicts", "group", "collation", "snippets", "distance", "include", "r", "stable",
    "update",
    "stale", "partition",
  ]

  /// Throws if a request for groups has members of one for documents.
  private static func checkGroup(_ body: JSONObject) throws(CouchError) {
    for name in ["fields", "bookmark", "backward", "conflicts", "allow_fallback", "include"]
    where body[name] != nil {
      throw CouchError(
        400, "invalid_key", "\(name) can't be combined with group: the results are rows, not documents.")
    }
  }

  private static func checkCount(_ name: String, _ value: JSONValue) throws(CouchError) {
    guard let count = value.intValue, count >= 0 else {
      throw refusal("invalid_non_neg_integer", name, value, wanted: "a non-negative integer")
    }
  }

  private static func flag(_ name: String, _ value: JSONValue) throws(CouchError) -> Bool {
    guard let flag = value.boolValue else {
      throw refusal("invalid_boolean", name, value, wanted: "true or false")
    }
    return flag
  }

  private static func refusal(
    _ error: String, _ name: String, _ value: JSONValue, wanted: String
  ) -> CouchError {
    CouchError(400, error, "\(name): must be \(wanted), not \(value.text.prefix(100))")
  }

  private static func bookmark(_ value: JSONValue?) throws(CouchError) -> Bookmark? {
    // A reply without results has "nil". Clients have the others before the first page.
    guard let value, !["nil", "", .null].contains(value) else { return nil }
    do throws(QueryError) {
      return try Bookmark(value.stringValue ?? "")
    } catch {
      throw CouchError(400, "invalid_bookmark", "Invalid bookmark value: \(value.text.prefix(100))")
    }
  }

  // MARK: Members

  var selector: JSONValue { body["selector"] ?? [:] }
  /// The fields by which the documents are grouped; `nil` for a request for documents.
  var group: JSONValue? { body["group"] }
  /// The limit as the client has it: 0 means none.
  var limit: Int { body["limit"]?.intValue ?? 25 }
  /// The part of the results to return. Groups have no limit unless it is given.
  var page: ResultPage {
    let isLimited = limit > 0 && (group == nil || body["limit"] != nil)
    return ResultPage(skip: body["skip"]?.intValue ?? 0, limit: isLimited ? limit : nil)
  }
  var wantsStatistics: Bool { body["execution_stats"] == true }
  var allowsFallback: Bool { body["allow_fallback"] != false }
  /// Whether the reply has the bookmark of the first result.
  var hasFirstBookmark: Bool { body["backward"] != nil }
  /// The position after which the page begins, as the client has it.
  var bookmark: JSONValue { query.bookmark.flatMap { _ in body["bookmark"] } ?? "nil" }
  /// Whether each result has its revision.
  var showsRevisions: Bool { fields.isEmpty || fields.contains("_rev") }
  /// Whether the engine must give whole documents, as the selector or the fields name members that the server adds.
  var needsWhole: Bool { filter != nil || fields.contains(where: AddedMemberFilter.isAdded) }

  /// The members with their defaults, as CouchDB's `_explain` lists them.
  var opts: JSONObject {
    [
      "use_index": index.map { [.string($0.text)] } ?? [], "bookmark": bookmark, "limit": .int(Int64(limit)),
      "skip": .int(Int64(page.skip)), "sort": body["sort"] ?? [:],
      "fields": .array(fields.map { .string($0) }),
      "partition": "", "r": 1, "conflicts": .bool(options.conflicts), "stale": false, "update": true,
      "stable": false, "execution_stats": .bool(wantsStatistics), "allow_fallback": .bool(allowsFallback),
    ]
  }
}
