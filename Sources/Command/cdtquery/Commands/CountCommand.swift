import ArgumentParser
import CDTQuery

struct CountCommand: QueryingCommand {
  static let configuration = CommandConfiguration(
    commandName: "count",
    abstract: "Print how many documents a selector matches.",
    usage: "cdtquery count <store> [<selector>] [<options>]",
    discussion: """
      EXAMPLE
        $ cdtquery count people/contacts '{"age": {"$gte": 18}}'
        1
      """)

  @Argument(help: DatabaseArgument.queryHelp) var database: DatabaseArgument
  @Argument(help: SharedArgument.selector.option) var selector: String?
  @OptionGroup var file: QueriedFileOptions
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions
  @OptionGroup var server: ServerOptions

  func run() throws {
    let database = try open(database, reading: selector)
    let query = try SelectorArgument.query(selector)
    guard query.skip == 0, query.limit == nil else {
      throw ToolError(.usage, "count takes a selector; find --count counts the documents of a page")
    }
    let count = try database.count(query)
    try Output.standard.line(String(count))
    try Output.standard.flush()
    var hints = QueryHints()
    database.write(&hints, about: query, foundNothing: count == 0)
  }
}
