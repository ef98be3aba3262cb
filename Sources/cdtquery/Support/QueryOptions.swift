import ArgumentParser
import CDTJSON
import CDTQuery

/// The options of a query besides its selector.
struct QueryOptions: ParsableArguments {
  @Option(help: "Fields to sort by, as in name,age:desc.") var sort: String?
  @Option(help: "Fields to print, as in name,pet.species.") var fields: String?
  @Option(help: "The maximum number of results; 0 means no limit.") var limit: Int?
  @Option(help: "The number of matches to skip.") var skip: Int?
  @Option(help: "The index to use.") var useIndex: String?

  var isEmpty: Bool {
    sort == nil && fields == nil && limit == nil && skip == nil && useIndex == nil
  }

  func validate() throws {
    guard (limit ?? 0) >= 0 else { throw ValidationError("--limit must be a whole number, 0 or more") }
    guard (skip ?? 0) >= 0 else { throw ValidationError("--skip must be a whole number, 0 or more") }
  }

  /// The query of a selector or a request, with the options applied.
  func query(_ text: String) throws -> Query {
    var query = try Query(parsing: text)
    if let skip { query.skip = skip }
    if let limit { query.limit = limit > 0 ? limit : nil }
    if let sort { query.sort = Self.split(sort).map { $0 == "$text:score" ? .score : SortField(word: $0) } }
    if let fields { query.fields = Self.split(fields) }
    if let useIndex { query.useIndex = useIndex }
    return query
  }

  private static func split(_ list: String) -> [String] {
    list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }
}
