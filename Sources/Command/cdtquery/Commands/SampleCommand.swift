import ArgumentParser
import CDTQuery

struct SampleCommand: QueryingCommand {
  static let configuration = CommandConfiguration(
    commandName: "sample",
    abstract: "Print a random sample of the documents that a selector matches.",
    usage: "cdtquery sample <store> [<selector>] [<options>]",
    discussion: """
      Every match has the same chance, so all of them are read. The sample is printed in the order in which find prints them. Without \
      --seed each run takes another one.

      EXAMPLE
        $ cdtquery sample people/contacts '{"age": {"$lt": 18}}' --limit 1
        {"_id":"zoe","_rev":"1-6becd5b6af2701a6fe53470157b9e47d","age":12}
      """)

  @Argument(help: DatabaseArgument.queryHelp) var database: DatabaseArgument
  @Argument(help: "The selector. (default: every document)") var selector: String?
  @Option(help: SharedArgument.fields.option, completion: Completions.fields) var fields: String?
  @Option(help: "The maximum number of documents.") var limit = 10
  @Option(help: "A whole number; the same one gives the same sample of the same documents.") var seed: UInt64?
  @OptionGroup var output: OutputOptions
  @OptionGroup var file: QueriedFileOptions
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions
  @OptionGroup var server: ServerOptions

  func validate() throws {
    try refuse(["--limit must be a whole number, 1 or more": limit < 1])
  }

  func run() throws {
    let database = try open(database, reading: selector)
    let request = try SelectorArgument.query(selector)
    var query = Query(request.selector)
    guard request == query else {
      throw ToolError(.usage, "sample takes a selector; the other members of a request are for find")
    }
    query.fields = fields.map(PageOptions.words) ?? []
    let results = SampledResults(
      base: try database.results(for: query), count: limit, seed: seed ?? .random(in: 0...UInt64.max))
    let count = try ResultWriter(output, fields: query.fields).write(results)
    try Output.standard.flush()
    var hints = QueryHints()
    database.write(&hints, about: query, foundNothing: count == 0)
  }
}

/// A sample of the results of a query.
private struct SampledResults: QueryResults {
  let base: any QueryResults
  let count: Int
  let seed: UInt64

  func forEachJSON(_ body: @escaping (UnsafeRawBufferPointer) throws -> Void) throws {
    var sample = RandomSample<[UInt8]>(of: count, seed: seed)
    try base.forEachJSON { text in sample.add { Array(text) } }
    for document in sample.elements { try document.withUnsafeBytes(body) }
  }

  func forEachID(_ body: @escaping (String) throws -> Void) throws {
    var sample = RandomSample<String>(of: count, seed: seed)
    try base.forEachID { id in sample.add { id } }
    for id in sample.elements { try body(id) }
  }
}
