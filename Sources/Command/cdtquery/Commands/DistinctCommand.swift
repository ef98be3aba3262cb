import ArgumentParser
import CDTQuery

struct DistinctCommand: QueryingCommand {
  static let configuration = CommandConfiguration(
    commandName: "distinct",
    abstract: "Print the distinct values of a field, as JSON, one per line.",
    usage: "cdtquery distinct <store> <field> [<selector>] [<options>]",
    discussion: """
      Each element of an array is a value. A missing field has none; null is one.

      EXAMPLE
        $ cdtquery distinct people/contacts age
        12
        36
      """)

  @Argument(help: DatabaseArgument.queryHelp) var database: DatabaseArgument
  @Argument(help: SharedArgument.field.option, completion: Completions.fields) var field: String
  @Argument(help: "The selector of the documents. (default: every document)") var selector: String?
  @OptionGroup var file: QueriedFileOptions
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions
  @OptionGroup var server: ServerOptions

  func run() throws {
    let database = try open(database, reading: selector)
    let query = try GroupQuery(distinct: field, SelectorArgument.query(selector))
    let values = query.values(of: try database.groups(query))
    for value in values {
      let text = value.utf8Text
      let shown = Terminal.isShown ? text.withUnsafeBytes(Terminal.printableJSON) : text
      try shown.withUnsafeBytes { try Output.standard.line($0) }
    }
    try Output.standard.flush()
    var documents = Query(query.query.selector)
    documents.fields = [field]
    var hints = QueryHints()
    database.write(&hints, about: documents, foundNothing: values.isEmpty)
  }
}
