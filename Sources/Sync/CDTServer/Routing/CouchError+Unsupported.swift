import CouchDB

// The resources that CouchDB has and this server does not, with what there is in their place.
extension CouchError {
  static func unsupported(_ what: String, instead: String) -> CouchError {
    CouchError(501, "not_implemented", "\(what) is not supported; use \(instead)")
  }

  /// For members of this server's own that exclude each other.
  static func notTogether(_ what: String, instead: String) -> CouchError {
    .badRequest("\(what) is not possible; use \(instead)")
  }

  /// - Parameter path: The parts of the path.
  /// - Returns: `nil` for what CouchDB does not have either.
  static func unsupportedResource(ofServer path: [String]) -> CouchError? {
    switch path.first {
    case "_replicate", "_replicator", "_scheduler":
      unsupported("Replication by request", instead: "cdtquery replicate, or the replicator of the other end")
    case "_users": unsupportedOfUsers
    case "_node" where path.contains("_stats"): statistics
    case "_node", "_config":
      unsupported(
        "Configuration by this request",
        instead: "/_node/_local/_config/SECTION/KEY, or the options of cdtquery serve such as --cors")
    case "_stats", "_system", "_prometheus": statistics
    case "_db_updates": unsupported("A feed of all databases", instead: "/_all_dbs and the _changes of each")
    case "_reshard": cluster
    case "_restart": unsupported("A restart by request", instead: "SIGTERM, and start cdtquery serve again")
    case "_search_analyze", "_nouveau_analyze": textSearch
    default: nil
    }
  }

  /// - Parameter name: The part of the path after the database.
  /// - Returns: `nil` for what CouchDB does not have either.
  static func unsupportedResource(ofDatabase name: String) -> CouchError? {
    switch name {
    case "_purge", "_purged_infos", "_purged_infos_limit", "_auto_purge":
      unsupported(
        "Purging",
        instead: "DELETE and _compact, which leave a tombstone, or replicate the rest to a new database")
    case "_partition":
      unsupported("A partition", instead: "POST _find with an index on the field that divides documents")
    case "_shards", "_sync_shards": cluster
    case "_search_analyze", "_nouveau_analyze", "_search_cleanup", "_nouveau_cleanup": textSearch
    default: nil
    }
  }

  /// - Parameter name: The part of the path after the design document.
  static func unsupportedResource(ofDesignDocument name: String) -> CouchError {
    switch name {
    case "_view": viewWithFunction
    case "_search", "_search_info", "_search_disk_size", "_nouveau", "_nouveau_info": textSearch
    case "_info":
      unsupported("The state of a view", instead: "GET _index, and POST _explain for the use of an index")
    case "_update": unsupported("An update function", instead: "PUT of the document")
    case "_show", "_list", "_rewrite":
      unsupported("The function \(name)", instead: "a program in front of the server that forms the replies")
    default: unsupported("The function \(name.prefix(50))", instead: "POST _find")
    }
  }

  static let cluster = unsupported(
    "A cluster", instead: "replication between servers, by cdtquery replicate")

  static let viewWithFunction = unsupported(
    "A view with a function",
    instead:
      #"a design document of the language "query" with {"map": {"fields": {"city": "asc"}, "value": "total"}, "reduce": "_sum"}, or POST _find with an index"#
  )

  private static let statistics = unsupported(
    "This form of statistics", instead: "/_metrics or /_node/_local/_stats")

  private static let textSearch = unsupported(
    "This search service",
    instead: "an index of type text (POST _index with \"type\": \"text\") and $text in POST _find")
}
