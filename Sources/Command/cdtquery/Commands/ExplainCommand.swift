import ArgumentParser
import CDTQuery

struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Explain how a query is answered, and which index would help.",
    usage: "cdtquery explain <store> [<selector>] [<options>]",
    discussion: """
      For a database at a server, it is shown what is sent, and what is left to the matcher.

      EXAMPLE
        $ cdtquery explain people/contacts '{"age": {"$gte": 18}}' --sort age
        every document
        ├ left to the matcher: {"age":{"$gte":18}}
        ├ order: sorted
        ├ an index that would help: cdtquery index create people/contacts age
        …
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json
  }

  @Argument(help: DatabaseArgument.help) var database: DatabaseArgument
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions
  @Argument(help: "The selector, or a request. (default: every document)") var selector: String?
  @OptionGroup var options: QueryOptions
  @OptionGroup var server: ServerOptions
  @Option(help: "text, or json for the plan as data.") var format = Format.text

  func run() throws {
    let database = try database.open(server, reading: selector)
    let explanation = try database.explain(try options.query(SelectorArgument.query(selector)))
    try Output.standard.line(format == .json ? explanation.json.text : explanation.text)
  }
}
