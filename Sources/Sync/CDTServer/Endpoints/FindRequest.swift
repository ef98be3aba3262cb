import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB

/// The body of `_find`: our selectors, and the other members as CouchDB has them.
struct FindRequest: Sendable {
  let selector: JSONValue
  /// Whether it asks for groups of documents.
  var isForGroups: Bool { group != nil }
  /// The limit as the client has it: 0 means none.
  private(set) var limit = 25
  private var pageLimit: Int? { limit > 0 ? limit : nil }
  private var hasLimit = false
  private(set) var fields: [String] = []
  private(set) var options = DocumentOptions()
  private(set) var wantsStatistics = false
  private(set) var skip = 0
  private var sort: JSONValue?
  /// Members that are those of a `Query`.
  private var ours = JSONObject()
  /// The fields by which the documents are grouped.
  private var group: JSONValue?
  /// The index to use.
  private var index: NamedIndex?
  private var allowsFallback = true
  /// The position after which the page begins, as text.
  private(set) var bookmark = "nil"
  private var start: Bookmark?
  /// Whether the page is read backwards; `nil` if the request does not say, and then the reply has no bookmark of the first result.
  private(set) var isBackward: Bool?
  /// Decides on the members of the selector that the server adds; `nil` if there are none.
  private let filter: AddedMemberFilter?
  /// Whether the engine must give whole documents, as the selector or the fields name members that the server adds.
  private var needsWhole: Bool { filter != nil || fields.contains(where: AddedMemberFilter.isAdded) }

  init(_ body: JSONObject) throws {
    guard let selector = body["selector"] else {
      throw CouchError(400, "missing_required_key", "Missing required key: selector")
    }
    self.selector = selector
    filter = try AddedMemberFilter(selector)
    if body["group"] != nil { try Self.checkGroup(body) }
    for (name, value) in body {
      switch name {
      case "selector": break
      case "limit": (limit, hasLimit) = (try Self.count(name, value), true)
      case "skip": skip = try Self.count(name, value)
      case "sort": sort = value
      case "collation", "snippets", "include": ours[name] = value
      case "group": group = value
      case "fields":
        guard let fields = value.arrayValue?.compactMap(\.stringValue),
          fields.count == value.arrayValue?.count
        else {
          throw CouchError(
            400, "invalid_fields_json", "Fields must be an array of strings, not: \(value.text)")
        }
        self.fields = fields
      case "use_index": index = try NamedIndex(value)
      case "allow_fallback": allowsFallback = try Self.flag(name, value)
      case "bookmark": try setBookmark(value)
      case "backward": isBackward = try Self.flag(name, value)
      case "conflicts": options.conflicts = try Self.flag(name, value)
      case "execution_stats": wantsStatistics = try Self.flag(name, value)
      // An option of a cluster.
      case "r":
        guard let count = value.intValue, count > 0 else {
          throw CouchError(
            400, "invalid_pos_integer", "r: must be a positive integer, not \(value.text.prefix(100))")
        }
      case "stable": _ = try Self.flag(name, value)
      // Cloudant's clients send it as a string.
      case "update" where ["true", "false", "lazy"].contains(value): break
      case "update": _ = try Self.flag(name, value)
      case "partition" where value != "":
        throw CouchError.unsupported("A partition", instead: "a selector on the field that divides documents")
      case "stale" where value != "ok" && value != false:
        throw CouchError(
          400, "invalid_ok_or_false", "stale: must be \"ok\" or false, not \(value.text.prefix(100))")
      case "stale", "partition": break
      default:
        throw CouchError(
          400, "invalid_key",
          "Invalid key \(name.prefix(100)) for this request: its keys are \(Self.members.joined(separator: ", "))."
        )
      }
    }
  }

  /// The members of a request.
  static let members = [
    "selector", "limit", "skip", "sort", "fields", "use_index", "allow_fallback", "bookmark", "backward",
    "execution_stats", "conflicts", "group", "collation", "snippets", "include", "r", "stable", "update",
    "stale",
    "partition",
  ]

  /// Throws if a request for groups has members of one for documents.
  private static func checkGroup(_ body: JSONObject) throws(CouchError) {
    for name in ["fields", "bookmark", "backward", "conflicts", "allow_fallback", "include"]
    where body[name] != nil {
      throw CouchError(
        400, "invalid_key", "\(name) can't be combined with group: the results are rows, not documents.")
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

  // MARK: Indexes

  /// The name of an index in a request: of its design document, by its own name, or by both.
  private enum NamedIndex {
    case either(String)
    case both(document: String, name: String)

    init?(_ value: JSONValue) throws(CouchError) {
      let texts = value.stringValue.map { [$0] } ?? value.arrayValue?.compactMap(\.stringValue) ?? []
      switch (value, texts.count) {
      case (.null, _), (.array([]), _): return nil
      case (.string, _): self = .either(texts[0])
      case (.array(let parts), 1) where parts.count == 1: self = .either(texts[0])
      case (.array(let parts), 2) where parts.count == 2: self = .both(document: texts[0], name: texts[1])
      default:
        throw CouchError(
          400, "invalid_key", "use_index must be a name or an array of a design document and a name.")
      }
    }

    func names(_ index: IndexDefinition) -> Bool {
      let (own, document) = (index.ownName, index.designDocument.map(Self.short))
      switch self {
      case .either(let text):
        let text = Self.short(text)
        return text.hasSameBytes(as: own)
          || document.map { text.hasSameBytes(as: $0) || text.hasSameBytes(as: "\($0)/\(own)") } ?? false
      case .both(let wanted, let name):
        // One that an app made has no document.
        return name.hasSameBytes(as: own) && document.map { $0.hasSameBytes(as: Self.short(wanted)) } ?? true
      }
    }

    private static func short(_ id: String) -> String {
      id.afterBytePrefix(DocumentID.designPrefix).map { String($0) } ?? id
    }

    /// As CouchDB's warnings show it.
    var text: String {
      switch self {
      case .either(let text): "_design/\(Self.short(text))"
      case .both(let document, let name): "_design/\(Self.short(document)), \(name)"
      }
    }
  }

  // MARK: The query

  /// The query for the engine. If members that the server adds decide, it gives whole documents and no page.
  func query() throws -> Query {
    var request: JSONObject = ["selector": filter?.others ?? selector]
    if let sort { request["sort"] = sort }
    for (name, value) in ours { request[name] = value }
    var query = try Query(request: request)
    query.bookmark = start
    query.isBackward = isBackward ?? false
    guard filter == nil || !query.isBackward && query.include.isEmpty else {
      throw CouchError.notTogether(
        "`backward` or `include` for what `_attachments` or `_conflicts` select", instead: "other members")
    }
    if !needsWhole { query.fields = fields }
    guard filter == nil else { return query }
    query.skip = skip
    query.limit = pageLimit
    return query
  }

  /// The query for groups, if the request is one. Its rows have no limit unless it is given.
  ///
  /// - Throws: `CouchError` if the selector names members that the server adds, which the engine does not see.
  func groupQuery(_ engine: QueryEngine) throws -> GroupQuery? {
    guard let group else { return nil }
    guard filter == nil else {
      throw CouchError.notTogether(
        "A group of documents that `_attachments` or `_conflicts` select", instead: "other members")
    }
    var query = try query()
    query.limit = hasLimit ? pageLimit : nil
    // A partial index is used if the selector implies its filter, also without being named.
    query.useIndex =
      engine.indexes.catalog.entries.map(\.definition).first {
        index?.names($0) == true && $0.filter == nil
          && ($0.type == .json || query.selector.clause.textSearch != nil)
      }?.name
    do throws(QueryError) {
      return try GroupQuery(query, group: group)
    } catch {
      throw CouchError(400, "invalid_group_json", "\(error)")
    }
  }

  /// The query of a live feed.
  ///
  /// - Throws: `CouchError` if the results depend on members that the server adds.
  func liveQuery() throws -> Query {
    guard group == nil else {
      throw CouchError.notTogether("A feed of groups", instead: "`_find` without `feed`")
    }
    guard !needsWhole, !options.needsTree else {
      throw CouchError.notTogether(
        "A feed whose results depend on `_attachments` or `_conflicts`", instead: "`_find` without `feed`")
    }
    return try query()
  }

  /// A result of a live feed.
  func text(of document: DocumentRevision) -> [UInt8] {
    fields.isEmpty ? Self.whole(document).utf8Text : projected(document)
  }

  /// A document of a live feed.
  static func whole(_ document: DocumentRevision) -> JSONObject {
    var json = document.json
    for (name, value) in DocumentText.attachmentMembers(of: document) { json[name] = value }
    return json
  }

  /// The results, and a warning if the query names an index that does not serve it. Another is then used.
  ///
  /// - Throws: `CouchError` if that is not allowed, or if no index serves and only an index may.
  func cursor(by engine: QueryEngine) throws -> (cursor: Cursor, warning: String?) {
    var query = try query()
    for definition in engine.indexes.catalog.entries.map(\.definition)
    where index?.names(definition) == true {
      query.useIndex = definition.name
      do {
        let cursor = try engine.cursor(query)
        if cursor.isServed { return (cursor, nil) }
      } catch let error as QueryError where error.path == "use_index" {
        // It is a text index, or has been deleted.
      }
    }
    query.useIndex = nil
    let warning = index.map {
      "\($0.text) was not used because it does not contain a valid index for this query.".boundedMessage
    }
    if let warning, !allowsFallback { throw CouchError(400, "invalid_index", warning) }
    let cursor = try engine.cursor(query)
    guard allowsFallback || cursor.isServed else {
      throw CouchError(
        400, "no_usable_index",
        "No index serves this query, and `allow_fallback` is false. Create one with POST _index.")
    }
    return (cursor, warning)
  }

  /// The plan of the engine for the request, with what a run of it has met if the request asks for statistics.
  func explanation(by engine: QueryEngine) throws -> Explanation {
    if let groups = try groupQuery(engine) { return try engine.explain(groups, measuring: wantsStatistics) }
    let cursor = try cursor(by: engine).cursor
    defer { cursor.end() }
    return try cursor.explanation(measuring: wantsStatistics)
  }

  /// The reasons why the request may find nothing, as `cdtquery find` says them.
  func hints(by engine: QueryEngine) throws -> [String] {
    var hints = QueryHints()
    return hints.messages(about: try query(), foundNothing: true) { query, body in
      let cursor = try engine.cursor(query)
      defer { cursor.end() }
      try cursor.forEachText(attachmentsJSON: { DocumentText.stubs($1) }) { text in
        try body(text)
        return true
      }
    }
  }

  /// The plan of the engine with the clauses that the engine does not see.
  func completed(_ plan: JSONObject) -> JSONObject {
    guard let filter else { return plan }
    var plan = plan
    let residual = plan["residual"]?.stringValue ?? "nothing"
    plan["residual"] = .string(residual == "nothing" ? filter.own.text : "\(residual) and \(filter.own.text)")
    return plan
  }

  // MARK: Results

  /// Calls `body` with the text of each result.
  func forEachText(
    _ cursor: Cursor, _ transaction: ReadTransaction, _ body: ([UInt8]) throws -> Void
  ) throws {
    if let filter {
      return try forEachText(cursor, transaction, accepted: filter, body)
    }
    guard fields.isEmpty, !options.needsTree else {
      let (text, projection, needsWhole) = (DocumentText(transaction, options), try projection, needsWhole)
      while let document = try cursor.nextDocument() {
        let written = needsWhole || fields.isEmpty ? try text.text(of: document) : projected(document)
        try body(
          Self.withSnippets(
            of: document, needsWhole ? projection.apply(to: JSONObject(parsing: written)).utf8Text : written))
      }
      return
    }
    try cursor.forEachText(attachmentsJSON: { DocumentText.stubs($1) }) { text in
      try body(Array(text))
      return true
    }
  }

  /// The same, of the results that a filter accepts.
  private func forEachText(
    _ cursor: Cursor, _ transaction: ReadTransaction, accepted filter: AddedMemberFilter,
    _ body: ([UInt8]) throws -> Void
  ) throws {
    let (text, projection) = (DocumentText(transaction, options), try projection)
    var page = ResultPage(skip: skip, limit: pageLimit)
    while !page.isComplete, let document = try cursor.nextDocument() {
      let bytes = try text.text(of: document)
      let written = try JSONObject(parsing: bytes)
      guard try filter.accepts(document, written: written), page.take() else { continue }
      try body(
        Self.withSnippets(
          of: document, projection.isEverything ? bytes : projection.apply(to: written).utf8Text))
    }
  }

  /// The text of a result that was written from the stored document, with the snippets that the engine has found.
  private static func withSnippets(of document: DocumentRevision, _ text: [UInt8]) throws -> [UInt8] {
    guard let snippets = document.body[TextSnippet.member] else { return text }
    var json = try JSONObject(parsing: text)
    json[TextSnippet.member] = snippets
    return json.utf8Text
  }

  /// The listed part of whole documents.
  private var projection: Projection {
    get throws {
      var wanted = try Query(request: ["selector": [:]])
      wanted.fields = fields
      return try ResolvedQuery(wanted).projection
    }
  }

  var opts: JSONObject {
    [
      "use_index": index.map { [.string($0.text)] } ?? [], "bookmark": .string(bookmark),
      "limit": .int(Int64(limit)),
      "skip": .int(Int64(skip)), "sort": sort ?? [:], "fields": .array(fields.map { .string($0) }),
      "partition": "", "r": 1, "conflicts": .bool(options.conflicts), "stale": false, "update": true,
      "stable": false, "execution_stats": .bool(wantsStatistics), "allow_fallback": .bool(allowsFallback),
    ]
  }

  /// Whether each result has its revision.
  var showsRevisions: Bool { fields.isEmpty || fields.contains("_rev") }

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
    // The one of a reply without results, and what a client has before the first page.
    if ["nil", .null].contains(value) { return }
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
      case .invalidRequest:
        switch error.path.prefix(while: { $0 != "." && $0 != "[" }) {
        case let member where ["bookmark", "collation", "snippets", "include", "read"].contains(member):
          "invalid_\(member)"
        case "sort": "invalid_sort_json"
        default: "bad_request"
        }
      case .unknownIndex, .invalidIndex: "invalid_index"
      case .indexConflict: "conflict"
      case .matchLimit, .timedOut: "timeout"
      default: "bad_request"
      }
    let request = #" with POST _index: {"index": {"fields": ["FIELD"]}, "type": "text"}"#
    self.init(
      error.code == .timedOut ? 503 : error.code == .indexConflict ? 409 : 400, name,
      error.lacksTextIndex ? "\(error)\(request)" : "\(error)")
  }
}

/// Decides on the clauses of a selector that name members which the server adds to a document: `_attachments`, and `_conflicts` if
/// they are asked for. The engine, whose documents do not have them, gives the candidates of the other clauses.
///
///     {"type": "photo", "_attachments": {"$exists": true}}   →   {"type": "photo"}  and  {"_attachments": {"$exists": true}}
struct AddedMemberFilter: Sendable {
  /// The clauses that the engine can decide.
  let others: JSONValue
  /// The clauses that the filter decides.
  let own: JSONValue
  private let filter: SelectorFilter

  private static let names = ["_attachments", "_conflicts"]

  /// - Returns: `nil` for a selector that names no such member.
  init?(_ selector: JSONValue) throws {
    guard case .object(let clauses) = selector, Self.isNamed(in: selector) else { return nil }
    var (others, own) = (JSONObject(), JSONObject())
    for (name, value) in clauses {
      if Self.isNamed(in: .object([name: value])) { own[name] = value } else { others[name] = value }
    }
    self.others = .object(others)
    self.own = .object(own)
    filter = try SelectorFilter(QuerySelector(own))
  }

  private static func isNamed(in selector: JSONValue) -> Bool {
    guard case .object(let clauses) = selector else { return false }
    return clauses.contains { name, value in
      switch name {
      case "$and", "$or", "$nor": value.arrayValue?.contains(where: isNamed) == true
      case "$not": isNamed(in: value)
      default: isAdded(name)
      }
    }
  }

  /// Whether a path is of such a member, or in one.
  static func isAdded(_ path: String) -> Bool {
    names.contains { path.hasSameBytes(as: $0) || path.hasBytePrefix("\($0).") }
  }

  /// Whether the filter accepts a document.
  ///
  /// - Parameter written: The document as the server writes it.
  func accepts(_ document: DocumentRevision, written: JSONObject) throws -> Bool {
    var members = JSONObject()
    for name in Self.names { members[name] = written[name] }
    return try filter.matches(document, with: members)
  }
}
