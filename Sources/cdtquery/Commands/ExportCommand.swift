import ArgumentParser
import CDTCommandLine
import CDTDatastore
import CDTQuery

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write every document as JSON Lines, by id, with _id and _rev.",
    discussion: """
      With --attachments, each document includes its attachments as CouchDB's _attachments, with base64 content. \
      The import command reads this format.

      EXAMPLE
        $ cdtquery export people/contacts
        {"_id":"mike","_rev":"1-dc7c404fb82b5e0160f925a3aaa9534b","age":36}
        {"_id":"zoe","_rev":"1-6becd5b6af2701a6fe53470157b9e47d","age":12}
        $ cdtquery export people/contacts contacts.jsonl
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @Argument(help: "The file to write; - is standard output.") var file = "-"
  @Flag(help: "Write the documents' attachments too.") var attachments = false

  func run() throws {
    let documents = try store.open().results(for: Query([:], sort: ["_id"]))
    try Output.writing(to: file) { output in
      try documents.forEachJSON(inliningAttachments: attachments) { try output.line($0) }
    }
  }
}
