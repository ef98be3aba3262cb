import ArgumentParser
import CDTDatastore
import CDTQuery

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write every document as JSON Lines, by id, with _id and _rev.",
    discussion: """
      EXAMPLE
        $ cdtquery export people/contacts
        $ cdtquery export people/contacts contacts.jsonl
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @Argument(help: "The file to write; - is standard output.") var file = "-"

  func run() throws {
    let output = try Output.writing(to: file)
    let documents = try store.open().find([:], sort: ["_id"])
    try documents.forEachJSON { try output.line($0) }
    try output.flush()
  }
}
