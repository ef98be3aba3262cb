import CDTJSON

/// The members of design documents that hold functions, which are stored and never run, as there is no JavaScript.
enum DesignFunction: String, CaseIterable {
  case validation = "validate_doc_update"
  case filters, views, shows, lists, updates, rewrites
  /// The functions of CouchDB's search by Clouseau, except in the language of queries, where they are text indexes.
  case indexes
  case nouveau

  /// The members that have no functions in the language of queries.
  static let queries: Set<Self> = [.validation, .views, .indexes]

  /// Whether an app may rely on the function to protect documents.
  var isProtection: Bool { self == .validation || self == .filters }

  /// The paths of the functions in a design document, such as `filters.mine`.
  func paths(in body: JSONObject) -> [String] {
    switch body[rawValue] {
    case nil, .null?: []
    case .object(let functions)?: functions.map { "\(rawValue).\($0.key)" }
    case _?: [rawValue]
    }
  }

  func note(on path: String) -> String {
    "`\(path)` is stored and never run, as there is no JavaScript; \(remedy)."
  }

  private var remedy: String {
    switch self {
    case .validation: #"write a rule of the language "query""#
    case .filters: "filter by a selector"
    case .views: #"declare the fields in a view of the language "query""#
    case .shows, .lists, .rewrites: "form the replies in a program in front of the server"
    case .updates: "read the document, change it and save it"
    case .indexes, .nouveau: "create an index of type text, and search by $text"
    }
  }
}
