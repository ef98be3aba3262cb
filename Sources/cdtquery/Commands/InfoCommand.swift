import ArgumentParser
import CDTDatastore
import CDTJSON
import CDTQuery

struct InfoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Print a summary of a store as a JSON object.",
    discussion: """
      EXAMPLE
        $ cdtquery info people/contacts
        {"name":"contacts","documents":2,"conflicts":0,"attachments":0,"sequence":2,…}
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @OptionGroup var key: KeyOptions

  func run() throws {
    let datastore = try store.open()
    let info: JSONObject = [
      "name": .string(datastore.name),
      "documents": .int(Int64(try datastore.read { try $0.documentCount() })),
      "conflicts": .int(Int64(try datastore.read { try $0.conflictedDocumentIDs() }.count)),
      "attachments": .int(Int64(try datastore.read { try $0.attachmentCount() })),
      "sequence": .int(try datastore.read { try $0.lastSequence() }),
      "bytes": .int(try datastore.sizeOnDisk()),
      "indexes": .array(try datastore.listIndexes().map { .string($0.name) }),
    ]
    try Output.standard.json(info)
  }
}
