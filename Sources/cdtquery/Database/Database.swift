import ArgumentParser
import CDTDatastore
import CDTJSON
import CDTQuery

/// The database that a command works with: a store, or a database at a server.
protocol Database: Sendable {
  /// Throws if there is no such database, or if it can't be read.
  func check() throws

  func document(withID id: String, revisionID: RevisionID?) throws -> DocumentRevision

  func results(for query: Query) throws -> any QueryResults
  func count(_ query: Query) throws -> Int
  func explain(_ query: Query) throws -> (text: String, json: JSONObject)
  /// Writes hints about a query that found nothing.
  func writeHints(about query: Query, foundNothing: Bool)

  /// The documents that changed up to now, each once, with those that changed first in front.
  func forEachChange(since: String?, limit: Int?, _ body: @escaping (ChangedDocument) throws -> Void) throws
  /// The same, and then those that change from now on.
  func liveChanges(since: String?) throws -> any AsyncSequence<[ChangedDocument], any Error>

  /// Calls a closure with the JSON of each document, by id.
  func export(withAttachments: Bool, _ body: @escaping (UnsafeRawBufferPointer) throws -> Void) throws
  /// Imports documents into the database, which is created if it does not exist.
  func importDocuments(_ options: ImportOptions) throws

  /// - Returns: The index's name.
  func createIndex(_ request: IndexRequest) throws -> String
  func indexes() throws -> [JSONObject]
  func deleteIndex(named name: String) throws
}

/// The results of a query.
protocol QueryResults {
  func forEach(_ body: @escaping (DocumentRevision) throws -> Void) throws
  /// Calls a closure with the JSON text of each document.
  func forEachJSON(_ body: @escaping (UnsafeRawBufferPointer) throws -> Void) throws
  func forEachID(_ body: @escaping (String) throws -> Void) throws
}

/// A line of `cdtquery changes`.
struct ChangedDocument {
  let sequence: JSONValue
  let id: String
  let revisionID: RevisionID
  let isDeleted: Bool

  var json: JSONObject {
    var json: JSONObject = [
      "sequence": sequence, "id": .string(id), "rev": .string(revisionID.description),
    ]
    if isDeleted { json["deleted"] = true }
    return json
  }
}

/// What `cdtquery index create` makes.
struct IndexRequest {
  let fields: [SortField]
  let name: String?
  let type: IndexType
  let tokenizer: String?
  let progress: ProgressOptions
}

/// A database on the command line: a store, or the URL of a database at a server.
enum DatabaseArgument: ExpressibleByArgument {
  case store(StoreArgument)
  case url(String)

  static let help = ArgumentHelp(
    "The store, DIRECTORY/NAME, or the URL of a database.", valueName: "store")

  init?(argument: String) {
    if Self.isURL(argument) {
      self = .url(argument)
    } else if let store = StoreArgument(argument: argument) {
      self = .store(store)
    } else {
      return nil
    }
  }

  static func isURL(_ argument: String) -> Bool {
    let start = argument.prefix(8).lowercased()
    return start.hasPrefix("http://") || start == "https://"
  }

  var isURL: Bool {
    if case .url = self { true } else { false }
  }

  /// Opens the database.
  ///
  /// - Parameter file: What the command reads; the password can't come from standard input, too.
  func open(_ server: ServerOptions, reading file: String? = nil) throws -> any Database {
    switch self {
    case .store(let store):
      guard server.isEmpty else { throw ServerOptions.storeNeedsNone }
      return StoreDatabase(store: store)
    case .url(let url):
      #if Replication
        return ServerDatabase(database: try server.datastore(url, reading: file))
      #else
        throw ToolError.needsFullBuild("the URL of a database")
      #endif
    }
  }
}
