import ArgumentParser
import CDTJSON
import CDTQuery

struct GroupCommand: QueryingCommand {
  static let configuration = CommandConfiguration(
    commandName: "group",
    abstract: "Print counts, sums and other values of groups of documents, a row per line.",
    usage: "cdtquery group <store> [<selector>] [<options>]",
    discussion: """
      A group has the documents with the same values of the fields of --by; without --by, all that the selector matches. --sum, \
      --avg, --min and --max take NAME=FIELD, as in total=amount, and can be repeated; NAME is the member of the row. --having is \
      a selector of rows, and --sort is by their members.

      EXAMPLE
        $ printf '{"city":"Bern","sum":7}\\n{"city":"Bern","sum":5}\\n' > orders.jsonl
        $ cdtquery import shop/orders orders.jsonl
        2 imported
        $ cdtquery group shop/orders --by city --count orders --sum total=sum
        {"city":"Bern","orders":2,"total":12}
      """)

  @Argument(help: DatabaseArgument.queryHelp) var database: DatabaseArgument
  @Argument(help: "The selector of the documents. (default: every document)") var selector: String?
  @Option(
    help: SharedArgument.by.option, completion: Completions.fields)
  var by: String?
  @Option(help: "The name of the number of documents.") var count: String?
  @Option(help: "A sum of numbers, as in total=amount.") var sum: [String] = []
  @Option(help: "An average of numbers.") var avg: [String] = []
  @Option(help: "The least value.") var min: [String] = []
  @Option(help: "The greatest value.") var max: [String] = []
  @Option(help: SharedArgument.unwind.option, completion: Completions.fields)
  var unwind: String?
  @Option(help: SharedArgument.having.option) var having: String?
  @OptionGroup var page: PageOptions
  @Flag(help: "Print the plan without running the query.") var explain = false
  @OptionGroup var output: OutputOptions
  @OptionGroup var file: QueriedFileOptions
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions
  @OptionGroup var server: ServerOptions

  func validate() throws {
    try page.checkIndex(for: database)
    try refuse(["--explain can't be combined with the options for printing rows": explain && !output.isEmpty])
  }

  func run() throws {
    let database = try open(database, reading: selector)
    let query = try query()
    if explain { return try Output.standard.line(database.explain(query).text) }
    let rows = try database.groups(query)
    let members = query.fields + query.aggregates.map(\.name)
    try ResultWriter(output, fields: members, ownFields: []).write(RowResults(forEachRow: rows.forEach))
    try Output.standard.flush()
    // Hints about fields of the documents; those of the sort are members of the rows.
    var documents = Query(query.query.selector)
    documents.fields = query.fields + query.aggregates.compactMap(\.path) + [query.unwind].compactMap(\.self)
    var hints = QueryHints()
    hints.sums = query.aggregates.filter { aggregate in
      [.sum, .average].contains(aggregate.function)
        && rows.allSatisfy { [nil, .null, 0].contains($0[aggregate.name]) }
    }.compactMap(\.path)
    database.write(&hints, about: documents, foundNothing: rows.isEmpty)
  }

  private func query() throws -> GroupQuery {
    let fields = by.map(PageOptions.words) ?? []
    var aggregates = count.map { [GroupQuery.Aggregate.count(as: $0)] } ?? []
    for (function, words) in [
      (.sum, sum), (.average, avg), (.minimum, min), (.maximum, max),
    ] as [(GroupQuery.Aggregate.Function, [String])] {
      for word in words { aggregates.append(try Self.aggregate(function, word)) }
    }
    let having = try having.map { try SelectorArgument.object($0) } ?? [:]
    return try GroupQuery(
      page.query(SelectorArgument.query(selector)), by: fields, aggregates, unwind: unwind, having: having)
  }

  /// The name has no `=`, the field may have one.
  private static func aggregate(
    _ function: GroupQuery.Aggregate.Function, _ word: String
  ) throws -> GroupQuery.Aggregate {
    let parts = word.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      .map { String(Substring($0)) }
    guard parts.count == 2 else {
      throw ToolError(.usage, "--\(function.rawValue) \(word): give a name and a field, as in total=amount")
    }
    return GroupQuery.Aggregate(function, of: parts[1], as: parts[0])
  }
}
