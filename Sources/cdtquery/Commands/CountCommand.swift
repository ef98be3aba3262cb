import ArgumentParser
import CDTCommandLine
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

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @Argument(help: "The selector. (default: every document)") var selector = "{}"

  func run() throws {
    let query = try Query(parsing: try TextArgument.read(selector))
    let datastore = try store.open()
    let count = try datastore.read { try $0.count(query) }
    try Output.standard.line(String(count))
    if count == 0 {
      try Output.standard.flush()
      QueryHints.write(about: query, in: datastore)
    }
  }
}
