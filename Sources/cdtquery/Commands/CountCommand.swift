import ArgumentParser
import CDTQuery

struct CountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "count",
    abstract: "Print how many documents a selector matches.",
    discussion: """
      EXAMPLE
        $ cdtquery count people/contacts '{"age": {"$gte": 18}}'
        1
      """)

  @Argument(help: DatabaseArgument.help) var database: DatabaseArgument
  @Argument(help: "The selector. (default: every document)") var selector = "{}"
  @OptionGroup var server: ServerOptions

  func run() throws {
    let database = try database.open(server, reading: selector)
    let query = try Query(parsing: try TextArgument.read(selector))
    let count = try database.count(query)
    try Output.standard.line(String(count))
    if count == 0 {
      try Output.standard.flush()
      database.writeHints(about: query, foundNothing: true)
    }
  }
}
