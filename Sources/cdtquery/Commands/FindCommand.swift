import ArgumentParser
import CDTDatastore
import CDTQuery
import JSON

struct FindCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Print the documents that a selector matches, one a line.",
    discussion: """
      SELECTOR is JSON, @FILE, - for standard input, or a whole request {"selector": …, "sort": …, "fields": …,
      "skip": …, "limit": …, "use_index": …}. Options override the request.

      EXAMPLE
        $ cdtquery find people/contacts '{"age": {"$gte": 18}}' --sort age:desc --fields age
        $ echo '{"selector": {"age": 36}}' | cdtquery find people/contacts --batch -
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @Argument(help: "The selector, or a request.") var selector: String?
  @OptionGroup var options: QueryOptions
  @Flag(help: "Print how many documents match.") var count = false
  @Flag(help: "Print the ids only.") var ids = false
  @Flag(help: "Print the plan, and run nothing.") var explain = false
  @Option(help: "jsonl, json, table, csv, or auto: a table on a terminal, else jsonl.") var format =
    ResultFormat.jsonl
  @Option(help: "Answer one request a line of a file, or of - for standard input, one result a line.")
  var batch: String?

  func validate() throws {
    guard (batch == nil) != (selector == nil) else { throw ValidationError("give a selector, or --batch") }
    guard [count, ids, explain].filter(\.self).count <= 1 else {
      throw ValidationError("--count, --ids and --explain exclude each other")
    }
  }

  func run() throws {
    let datastore = try store.open()
    if let batch { return try BatchFinder(datastore).run(batch) }
    let query = try options.query(try TextArgument.read(selector ?? ""))
    if explain {
      try Output.standard.line(try datastore.explain(query).description)
    } else if count {
      try Output.standard.line(String(try Self.count(query, in: datastore)))
    } else if ids {
      for id in try datastore.find(query).documentIDs { try Output.standard.line(id) }
    } else {
      try ResultWriter(format: format).write(try datastore.find(query))
    }
  }

  /// With a page, only the documents in it count.
  private static func count(_ query: Query, in datastore: Datastore) throws -> Int {
    if query.skip > 0 || query.limit > 0 { return try datastore.find(query).documentIDs.count }
    return try datastore.count(query)
  }
}
