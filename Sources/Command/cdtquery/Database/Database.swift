import ArgumentParser
import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTQuery

/// The source of a query's documents: a database or a file.
protocol QuerySource: Sendable {
  func results(for query: Query) throws -> any QueryResults
  func count(_ query: Query) throws -> Int
  func groups(_ query: GroupQuery) throws -> [JSONObject]
  func explain(_ query: Query) throws -> (text: String, json: JSONObject)
  func explain(_ query: GroupQuery) throws -> (text: String, json: JSONObject)
  /// Writes hints about fields that no document has, also those of the selector if the query found nothing.
  ///
  /// - Parameter hints: The hints that were given before, which are not repeated.
  func write(_ hints: inout QueryHints, about query: Query, foundNothing: Bool)
}

extension QuerySource {
  /// Groups the documents one after another.
  func groups(_ query: GroupQuery) throws -> [JSONObject] {
    let groups = try StreamedGroups(query)
    try results(for: Query(query.query.selector)).forEachJSON { try groups.add($0) }
    return try groups.finish()
  }

  func explain(_ query: GroupQuery) throws -> (text: String, json: JSONObject) {
    throw ToolError(
      .usage,
      "--explain is for stores; groups of a file, or of a database at a server, are made of its documents")
  }
}

/// The database that a command works with: a store, or a database at a server.
protocol Database: QuerySource {
  /// Throws if there is no such database, or if it can't be read.
  func check() throws

  func document(withID id: String, revisionID: RevisionID?) throws -> DocumentRevision

  /// The documents that changed up to now, each once, with those that changed first in front.
  func forEachChange(since: String?, limit: Int?, _ body: @escaping (ChangedDocument) throws -> Void) throws
  /// The same, and then those that change from now on.
  func liveChanges(since: String?) throws -> any AsyncSequence<[ChangedDocument], any Error>

  /// Calls a closure with the JSON of each document, by id.
  ///
  /// - Parameter onLoss: Called for each attachment that a store has lost, and that is left out.
  func export(
    withAttachments: Bool, onLoss: (IntegrityFinding) throws -> Void,
    _ body: @escaping (UnsafeRawBufferPointer) throws -> Void
  ) throws
  /// Imports documents into the database, which is created if it does not exist.
  func importDocuments(_ options: ImportOptions) throws

  /// - Parameter json: The definition, as of `IndexDefinition`.
  /// - Returns: The index's name.
  func createIndex(_ json: JSONObject, _ progress: ProgressOptions) throws -> String
  func indexes() throws -> [JSONObject]
  func deleteIndex(named name: String) throws
}

extension QueryHints {
  /// Writes the hints about a query that was answered.
  mutating func write(
    about query: Query, foundNothing: Bool,
    _ read: (Query, @escaping (UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) {
    for message in messages(about: query, foundNothing: foundNothing, read) {
      Message.write("cdtquery: \(message)")
    }
  }
}

/// The results of a query.
protocol QueryResults {
  /// Calls a closure with the JSON text of each document, `_id` and `_rev` first.
  func forEachJSON(_ body: @escaping (UnsafeRawBufferPointer) throws -> Void) throws
  func forEachID(_ body: @escaping (String) throws -> Void) throws
  /// The documents that the results link which were read, by the names of the query and their ids.
  var includedJSON: JSONObject { get throws }
}

extension QueryResults {
  var includedJSON: JSONObject { get throws { [:] } }
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

/// A database on the command line: a store, or the URL of a database at a server; for a query also a file.
enum DatabaseArgument: ExpressibleByArgument {
  case store(StoreArgument)
  case url(String)
  /// A path; `-` is standard input.
  case file(String)

  static let help = ArgumentHelp(
    "The store, DIRECTORY/NAME, or the URL of a database.", valueName: "store")
  static let queryHelp = ArgumentHelp(
    "The store, DIRECTORY/NAME, the URL of a database, a file, or - for standard input.", valueName: "store")

  static var defaultCompletionKind: CompletionKind { Completions.databases }

  init?(argument: String) {
    if Self.isURL(argument) {
      self = .url(argument)
    } else if Self.isFile(argument) {
      self = .file(argument)
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

  /// Whether an argument is that of a file: a store is a directory, and its name has no dot.
  private static func isFile(_ argument: String) -> Bool {
    if argument == "-" { return true }
    if let status = try? FileStatus.ofFile(at: argument) { return status.kind != .directory }
    return hasNameOfFile(argument)
  }

  static func hasNameOfFile(_ path: String) -> Bool {
    let path = path.lowercased()
    return ["json", "jsonl", "ndjson", "csv", "tsv", "tab", "gz"].contains { path.hasSuffix(".\($0)") }
  }

  var isURL: Bool {
    if case .url = self { true } else { false }
  }

  var isFile: Bool {
    if case .file = self { true } else { false }
  }

  /// Opens the database.
  ///
  /// - Parameter file: The file that the command reads; standard input can't also have the password.
  func open(_ server: ServerOptions, reading file: String? = nil) throws -> any Database {
    switch self {
    case .store(let store):
      guard server.isEmpty else { throw ServerOptions.storeNeedsNone }
      return StoreDatabase(store: store)
    case .url(let url):
      try UserOptions.checkIsNone()
      #if Replication
        return ServerDatabase(database: try server.datastore(url, reading: file))
      #else
        throw ToolError.needsFullBuild("the URL of a database")
      #endif
    case .file(let path):
      let name = path == "-" ? "standard input" : path
      throw ToolError(
        .usage,
        "\(name) is a file, not a store; only find, count, group, distinct, describe and sample read files: import it into a store, DIRECTORY/NAME"
      )
    }
  }
}
