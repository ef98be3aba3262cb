import ArgumentParser
import CDTDatastore
import CDTJSON
import CDTQuery

struct CompactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Free the space of replaced revisions, and print how much was freed.",
    discussion: """
      Deletes the bodies and attachments of replaced revisions, which can't be read afterwards. Their ids are kept. \
      Other processes can read and write during compaction.

      EXAMPLE
        $ cdtquery put people/contacts mike '{"age": 37}' \\
            --rev 1-dc7c404fb82b5e0160f925a3aaa9534b
        {"_id":"mike","_rev":"2-62b56b57497dc6567ae376f99e959c71","age":37}
        $ cdtquery compact people/contacts
        {"revisions":1,"attachments":0,"bytesFreed":…}
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @OptionGroup var key: KeyOptions

  func run() throws {
    let datastore = try store.open()
    // Opening the indexes updates them before compaction removes bodies.
    _ = try datastore.listIndexes()
    let report = try datastore.compact()
    let json: JSONObject = [
      "revisions": .int(Int64(report.revisions)), "attachments": .int(Int64(report.attachments)),
      "bytesFreed": .int(report.bytesFreed),
    ]
    try Output.standard.line(json.text)
    if !report.hasChecksums {
      Message.write(
        "cdtquery: the store is used elsewhere, so its pages have no checksums yet; compact it again")
    }
  }
}
