import ArgumentParser
import CDTCommandLine
import CDTDatastore
import CDTJSON
import CDTQuery

struct FindCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Print the documents that a selector matches, one per line.",
    usage: """
      cdtquery find <store> [<selector>] [<options>]
      cdtquery find <store> --batch <batch>
      """,
    discussion: """
      SELECTOR is JSON, @FILE, - for standard input, or a whole request {"selector": …, "sort": …, "fields": …, \
      "skip": …, "limit": …, "use_index": …}. Options override the request. Without one, every document is found. A field \
      whose name contains a comma, or a space at an end, can be named in a request only.

      EXAMPLE
        $ cdtquery find people/contacts '{}' --sort age --format table
        _id   _rev                                age
        ────  ──────────────────────────────────  ───
        zoe   1-6becd5b6af2701a6fe53470157b9e47d  12
        mike  1-dc7c404fb82b5e0160f925a3aaa9534b  36
        $ echo '{"selector": {"age": 12}}' | cdtquery find people/contacts --batch -
        {"docs":[{"_id":"zoe","_rev":"1-6becd5b6af2701a6fe53470157b9e47d","age":12}]}
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @Argument(help: "The selector, or a request. (default: every document)") var selector: String?
  @OptionGroup var options: QueryOptions
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
      throw ValidationError("--batch takes no other option; write them into the requests")
    }
    guard format == nil || ![count, ids, explain].contains(true) else {
      throw ValidationError("--format is for documents; leave it out with --count, --ids and --explain")
    }
  }

  func run() throws {
    if let batch { return try BatchFinder(store).run(batch) }
    let datastore = try store.open()
    let query = try options.query(try selector.map(TextArgument.read) ?? "{}")
    if explain { return try Output.standard.line(try datastore.read { try $0.explain(query) }.description) }
    if try write(query, in: datastore) == 0 {
      try Output.standard.flush()
      QueryHints.write(about: query, in: datastore)
    }
  }

  /// Prints the results, and returns their number.
  private func write(_ query: Query, in datastore: Datastore) throws -> Int {
    if count {
      let count = try Self.count(query, in: datastore)
      try Output.standard.line(String(count))
      return count
    }
    guard ids else {
      return try ResultWriter(format: format ?? .jsonl, fields: query.fields).write(
        datastore.results(for: query))
    }
    var count = 0
    try datastore.results(for: query).forEachID {
      count += 1
      try Output.standard.line($0)
    }
    return count
  }

  /// With skip or limit, only the documents in the page count.
  private static func count(_ query: Query, in datastore: Datastore) throws -> Int {
    guard query.skip > 0 || query.limit != nil else { return try datastore.read { try $0.count(query) } }
    var count = 0
    try datastore.results(for: query).forEachID { _ in count += 1 }
    return count
  }
}
