import ArgumentParser
import CDTCommandLine
import CDTQuery

struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Explain how a query is answered, and which index would help.",
    usage: "cdtquery explain <store> [<selector>] [<options>]",
    discussion: """
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

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @Argument(help: "The selector, or a request. (default: every document)") var selector = "{}"
  @OptionGroup var options: QueryOptions
  @Option(help: "text, or json for the plan as data.") var format = Format.text

  func run() throws {
    let explanation = try store.open().read {
      try $0.explain(
        try options.query(try TextArgument.read(selector)))
    }
    try Output.standard.line(format == .json ? explanation.json.text : explanation.description)
  }
}
