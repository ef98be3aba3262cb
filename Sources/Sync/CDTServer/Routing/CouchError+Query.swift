import CDTQuery
import CouchDB

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
        case let member
        where ["bookmark", "collation", "snippets", "distance", "include", "read"].contains(member):
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
