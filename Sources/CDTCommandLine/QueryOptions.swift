package import ArgumentParser
import CDTJSON
package import CDTQuery

/// The options of a query besides its selector.
package struct QueryOptions: ParsableArguments {
  @Option(help: "Fields to sort by, as in name,age:desc.") package var sort: String?
  @Option(help: "Fields to print, as in name,pet.species.") package var fields: String?
  @Option(help: "The maximum number of results; 0 means no limit.") package var limit: Int?
  @Option(help: "The number of matches to skip.") package var skip: Int?
  @Option(help: "The index to use.") package var useIndex: String?

  package init() {}

  package var isEmpty: Bool {
    sort == nil && fields == nil && limit == nil && skip == nil && useIndex == nil
  }

  package func validate() throws {
    guard (limit ?? 0) >= 0 else { throw ValidationError("--limit must be a whole number, 0 or more") }
    guard (skip ?? 0) >= 0 else { throw ValidationError("--skip must be a whole number, 0 or more") }
  }

  /// The query of a selector or a request, with the options applied.
  package func query(_ text: String) throws -> Query {
    var query = try Query(parsing: text)
    if let skip { query.skip = skip }
    if let limit { query.limit = limit > 0 ? limit : nil }
    if let sort {
      query.sort = sort.splitBytes(at: ",").map { $0 == "$text:score" ? .score : SortField(word: $0) }
    }
    if let fields { query.fields = fields.splitBytes(at: ",") }
    if let useIndex { query.useIndex = useIndex }
    return query
  }
}
