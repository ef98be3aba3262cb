import CDTJSON
import CDTQuery

/// A selector, or a request, on the command line.
enum SelectorArgument {
  /// - Parameter argument: `nil` is the selector of every document.
  static func query(_ argument: String?) throws -> Query {
    try read(argument ?? "{}") { text throws(QueryError) in try Query(parsing: text) }
  }

  static func selector(_ argument: String) throws -> QuerySelector {
    try read(argument) { text throws(QueryError) in try QuerySelector(parsing: text) }
  }

  /// The selector of rows, which the query checks.
  static func object(_ argument: String) throws -> JSONObject {
    try read(argument) { text throws(QueryError) in
      _ = try QuerySelector(parsing: text)
      return (try? JSONObject(parsing: text)) ?? [:]
    }
  }

  /// The JSON of a selector.
  static func json(_ argument: String) throws -> JSONObject { try selector(argument).clause.selector }

  /// The addition to the error about an id that does not exist, if the id looks like a selector.
  static func hint(aboutID id: String, _ remedy: String) -> String {
    id.hasPrefix("{") ? "; if it is a selector, \(remedy)" : ""
  }

  /// The remedy for the order as other tools have it.
  static let descending = "to sort in descending order, write --sort FIELD:desc"

  /// Reads a text argument. If it is not JSON, but what other programs accept for it, the error shows the JSON.
  private static func read<R>(_ argument: String, _ parse: (String) throws(QueryError) -> R) throws -> R {
    let text = try TextArgument.read(argument)
    do throws(QueryError) {
      return try parse(text)
    } catch {
      guard !["ASC", "DESC"].contains(text.uppercased()) else {
        throw ToolError(.usage, "\(text) is not a selector; \(descending)")
      }
      guard let meant = RelaxedJSON.corrected(text) else { throw error }
      throw ToolError(.data, "\(error); did you mean '\(meant)'?")
    }
  }
}
