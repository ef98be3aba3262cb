import ArgumentParser
import CDTDatastore
import CDTQuery

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write every document as JSON Lines, by id, with _id and _rev.",
    discussion: """
      With --attachments each document that has any brings them as CouchDB's _attachments, their content in base64. \
      What is written, import reads.

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
    // The store first: a mistyped one should not cost the file of an earlier export.
    let documents = try store.open().find([:], sort: ["_id"])
    let output = try Output.writing(to: file)
    try documents.forEachJSON(inliningAttachments: attachments) { try output.line($0) }
    try output.flush()
  }
}
