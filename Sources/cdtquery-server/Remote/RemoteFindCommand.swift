import ArgumentParser
import CDTCommandLine
import CDTDatastore
import CDTQuery
import CDTRemote
import CDTReplication

/// `cdtquery find`, `count` and `explain` of a database at a server.
struct RemoteFindCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find", abstract: "Print the documents of a database that a selector matches.",
    usage: """
      cdtquery find <url> [<selector>] [<options>]
      cdtquery find <url> --batch <batch>
      """)

  @Argument(help: "The URL of the database.") var url: String
  @Argument(help: "The selector, or a request. (default: every document)") var selector: String?
  @OptionGroup var options: QueryOptions
  @OptionGroup var server: ServerOptions
  @Flag(help: "Print how many documents match.") var count = false
  @Flag(help: "Print the ids only.") var ids = false
  @Flag(help: "Print the plan without running the query.") var explain = false
  @Option(help: "jsonl, json, table, csv, tsv, or auto: a table on a terminal, else jsonl. (default: jsonl)")
  var format: ResultFormat?
  @Option(help: "Read one request per line of a file (- is standard input) and print one result per line.")
  var batch: String?

  func validate() throws {
    guard batch == nil || selector == nil else { throw ValidationError("give a selector, or --batch") }
    guard [count, ids, explain].filter(\.self).count <= 1 else {
      throw ValidationError("--count, --ids and --explain can't be combined; give one of them")
    }
    guard batch == nil || (options.isEmpty && format == nil && ![count, ids, explain].contains(true)) else {
      throw ValidationError("--batch takes no other option for results; write them into the requests")
    }
    guard format == nil || ![count, ids, explain].contains(true) else {
      throw ValidationError("--format is for documents; leave it out with --count, --ids and --explain")
    }
    guard options.useIndex == nil else {
      throw ValidationError("--use-index is for stores; a server chooses the index itself")
    }
  }

  func run() async throws {
    if let batch { return try await Self.answer(batch, server.datastore(url, reading: batch)) }
    let database = try server.datastore(url, reading: selector)
    let query = try options.query(try selector.map(TextArgument.read) ?? "{}")
    if explain { return try Output.standard.line(try await database.explain(query).description) }
    if count, query.skip == 0, query.limit == nil {
      return try Output.standard.line(String(try await database.count(query)))
    }
    if count {
      try Output.standard.line(String(try await database.find(query).count))
    } else if ids {
      try await database.forEach(query) { try Output.standard.line($0.id) }
    } else if let format, format != .jsonl {
      try ResultWriter(format: format, fields: query.fields).write(try await database.find(query))
    } else {
      try await database.forEach(query) { try Output.standard.line($0.json.text) }
    }
  }

  /// Answers the requests of a file. If the database can't be read, it says so before any request is.
  private static func answer(_ file: String, _ database: RemoteDatastore) async throws {
    var requests = try BatchRequests(file)
    try await database.checkDatabase()
    while let request = try requests.next() { try await answer(to: request, database).print() }
  }

  private static func answer(to request: BatchRequest, _ database: RemoteDatastore) async -> BatchAnswer {
    do {
      var answer = BatchAnswer()
      try await database.forEach(request.query()) { answer.append($0.json.utf8Text) }
      return answer
    } catch {
      return BatchAnswer(error)
    }
  }
}

struct RemoteCountCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "count", abstract: "Print how many documents of a database a selector matches.")

  @Argument(help: "The URL of the database.") var url: String
  @Argument(help: "The selector. (default: every document)") var selector = "{}"
  @OptionGroup var server: ServerOptions

  func run() async throws {
    let database = try server.datastore(url, reading: selector)
    let query = try Query(parsing: try TextArgument.read(selector))
    try Output.standard.line(String(try await database.count(query)))
  }
}

struct RemoteExplainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Show what is sent to the server, and what is left to the matcher.")

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json
  }

  @Argument(help: "The URL of the database.") var url: String
  @Argument(help: "The selector, or a request. (default: every document)") var selector = "{}"
  @OptionGroup var options: QueryOptions
  @OptionGroup var server: ServerOptions
  @Option(help: "text, or json for the plan as data.") var format = Format.text

  func run() async throws {
    let database = try server.datastore(url, reading: selector)
    let query = try options.query(try TextArgument.read(selector))
    let explanation = try await database.explain(query)
    try Output.standard.line(format == .json ? explanation.json.text : explanation.description)
  }
}
