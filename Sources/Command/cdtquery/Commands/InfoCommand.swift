import ArgumentParser
import CDTDatastore
import CDTJSON
import CDTQuery
import CDTSQLite

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
  @OptionGroup var user: UserOptions

  func run() throws {
    try store.checkIsStore()
    let datastore = try store.open()
    var info = try datastore.read { transaction -> JSONObject in
      [
        "name": .string(datastore.name), "documents": .int(Int64(try transaction.documentCount())),
        "conflicts": .int(Int64(try transaction.conflictedDocumentIDs().count)),
        "attachments": .int(Int64(try transaction.attachmentCount())),
        "sequence": .int(try transaction.lastSequence()),
      ]
    }
    info["bytes"] = .int(try datastore.sizeOnDisk())
    info["indexes"] = .array(try datastore.listIndexes().map { .string($0.name) })
    info["sqlite"] = .string(SQLiteLibrary.version)
    if let warning = SQLiteLibrary.warning { info["warning"] = .string(warning) }
    try Output.standard.json(info)
  }
}
