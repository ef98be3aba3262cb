import ArgumentParser
import CDTQuery
import JSON

/// What a query asks for beside its selector.
struct QueryOptions: ParsableArguments {
  @Option(help: "Fields to sort by, as in name,age:desc.") var sort: String?
  @Option(help: "Fields to print, as in name,pet.species.") var fields: String?
  @Option(help: "How many results at most; 0 is no limit.") var limit: Int?
  @Option(help: "How many matches to pass over.") var skip: Int?
  @Option(help: "The index to use.") var useIndex: String?

  var isEmpty: Bool {
    sort == nil && fields == nil && limit == nil && skip == nil && useIndex == nil
  }

  func validate() throws {
    guard (limit ?? 0) >= 0 else { throw ValidationError("--limit is a whole number from 0") }
    guard (skip ?? 0) >= 0 else { throw ValidationError("--skip is a whole number from 0") }
  }

  /// The query of a selector or a request, the options put over it.
  func query(_ text: String) throws -> Query {
    var query = try Query(parsing: text)
    try query.setPage(skip: skip ?? query.skip, limit: limit ?? query.limit)
    if let sort { try query.setSort(Self.split(sort).map(DirectedField.spelled)) }
    if let fields { try query.setFields(Self.split(fields)) }
    if let useIndex { query.useIndex = useIndex }
    return query
  }

  private static func split(_ list: String) -> [String] {
    list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }
}
