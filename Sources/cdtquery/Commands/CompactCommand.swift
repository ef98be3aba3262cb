import ArgumentParser
import CDTDatastore
import CDTQuery
import JSON

struct CompactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Give back the space of what is no longer needed, and print how much that was.",
    discussion: """
      Bodies and attachments of revisions that have been replaced go, so that they can't be read any more; which \
      revisions there were is still known. Others read and write meanwhile.

      EXAMPLE
        $ cdtquery put people/contacts mike '{"age": 37}' \\
            --rev 1-dc7c404fb82b5e0160f925a3aaa9534b
        {"_id":"mike","_rev":"2-62b56b57497dc6567ae376f99e959c71","age":37}
        $ cdtquery compact people/contacts
        {"revisions":1,"attachments":0,"bytesFreed":…}
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument

  func run() throws {
    let datastore = try store.open()
    // Opened, the indexes bring themselves up to date by the bodies that are about to go.
    _ = try datastore.listIndexes()
    let report = try datastore.compact()
    let json: JSONObject = [
      "revisions": .int(Int64(report.revisions)), "attachments": .int(Int64(report.attachments)),
      "bytesFreed": .int(report.bytesFreed),
    ]
    try Output.standard.line(json.text)
  }
}
