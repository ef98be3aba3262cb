import ArgumentParser
import CDTJSON
import CDTQuery

/// The order and the page of results.
struct PageOptions: ParsableArguments {
  // The error for a value that begins with - says how to sort in descending order.
  @Option(
    parsing: .unconditional, help: SharedArgument.sort.option, completion: Completions.fields)
  var sort: String?
  @Option(help: SharedArgument.limit.option) var limit: Int?
  @Option(help: SharedArgument.skip.option) var skip: Int?
  @Option(help: SharedArgument.useIndex.option) var useIndex: String?

  init() {}

  var isEmpty: Bool { sort == nil && limit == nil && skip == nil && useIndex == nil }

  func validate() throws {
    let sort = sort ?? ""
    try refuse([
      "--limit must be a whole number, 0 or more": (limit ?? 0) < 0,
      "--sort needs fields, as in --sort name,age:desc": sort.hasPrefix("--"),
      "to sort in descending order, write --sort \(sort.dropFirst()):desc": sort.hasPrefix("-"),
      "--skip must be a whole number, 0 or more": (skip ?? 0) < 0,
    ])
  }

  /// The query with the options applied.
  func query(_ query: Query) throws -> Query {
    var query = query
    if let skip { query.skip = skip }
    if let limit { query.limit = limit > 0 ? limit : nil }
    if let sort {
      query.sort = try Self.words(sort).enumerated().map { number, word in
        word == "$text:score" ? .score : try SortField(word: word, at: "sort[\(number)]")
      }
    }
    if let useIndex { query.useIndex = useIndex }
    return query
  }

  /// Throws if an index is named for what has none to choose from.
  func checkIndex(for database: DatabaseArgument) throws {
    try refuse([
      "--use-index is for stores; a server chooses the index itself": useIndex != nil && database.isURL,
      "--use-index is for stores; a file has no indexes": useIndex != nil && database.isFile,
    ])
  }

  /// The names in a list: `name, age:desc` has spaces around them at most. JSON is left whole.
  static func words(_ list: String) -> [String] {
    isJSON(list) ? [list] : list.splitBytes(at: ",").map(\.withoutOuterSpaces)
  }

  static func isJSON(_ list: String) -> Bool {
    list.utf8.first { $0 != UInt8(ascii: " ") }.map { "{[\"".utf8.contains($0) } ?? false
  }
}

/// The page that the bookmark of another page names.
struct BookmarkOptions: ParsableArguments {
  @Option(help: SharedArgument.bookmark.option) var bookmark: String?
  @Flag(help: "End before the bookmark, or without one with the last match.") var backward = false
  @Flag(help: "Print the page's bookmarks on standard error, as JSON.") var bookmarks = false

  init() {}

  var isEmpty: Bool { bookmark == nil && !backward && !bookmarks }

  /// The query with the options applied.
  func query(_ query: Query) throws -> Query {
    var query = query
    if let bookmark { query.bookmark = try Bookmark(bookmark) }
    if backward { query.isBackward = true }
    return query
  }

  /// Prints the bookmarks of results that were read, if that is asked for.
  func write(of results: any QueryResults) throws {
    guard bookmarks, let results = results as? ResultSet else { return }
    let json: JSONObject = [
      "bookmark": try results.bookmark().map { .string($0.text) } ?? .null,
      "first_bookmark": try results.firstBookmark().map { .string($0.text) } ?? .null,
    ]
    try Output.standard.flush()
    Message.write(json.text)
  }
}

/// The options of a query besides its selector.
struct QueryOptions: ParsableArguments {
  @OptionGroup var page: PageOptions
  @Option(help: SharedArgument.fields.option, completion: Completions.fields) var fields: String?
  @Option(help: SharedArgument.include.option) var include: [String] = []
  @Option(help: SharedArgument.collation.option) var collation: Collation?
  @Option(help: "Print the text around what $text finds, with so many words on each side.") var snippets: Int?
  @Option(help: "Mark what $text finds in its snippets: one mark, or two as in <b>,</b>.") var highlight:
    String?
  @Flag(help: SharedArgument.distance.option) var distance = false

  init() {}

  var isEmpty: Bool {
    page.isEmpty && fields == nil && include.isEmpty && collation == nil && snippets == nil
      && highlight == nil && !distance
  }

  /// The query with the options applied.
  func query(_ query: Query) throws -> Query {
    var query = try page.query(query)
    if let collation { query.collation = collation }
    if snippets != nil || highlight != nil {
      var options = query.snippets ?? SnippetOptions()
      if let snippets { options.words = snippets }
      if let highlight {
        let marks = highlight.splitBytes(at: ",")
        (options.before, options.after) = marks.count == 2 ? (marks[0], marks[1]) : (highlight, highlight)
      }
      query.snippets = options
    }
    if distance { query.returnsDistance = true }
    if let fields {
      guard !PageOptions.isJSON(fields) else {
        throw ToolError(
          .usage, "--fields \(fields): this is JSON; write the names of fields, as in name,pet.species")
      }
      query.fields = PageOptions.words(fields)
    }
    if !include.isEmpty { query.include = [:] }
    for word in include {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, query.include.updateValue(parts[1], forKey: parts[0]) == nil else {
        throw ToolError(
          .usage, "--include \(word): write a name and a path, as in owner=ownerId, and each name once")
      }
    }
    return query
  }
}
