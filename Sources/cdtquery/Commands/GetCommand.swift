import ArgumentParser
import CDTDatastore
import CDTQuery

struct GetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print documents by their ids, one a line.",
    discussion: """
      EXAMPLE
        $ cdtquery get people/contacts mike zoe
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @Argument(help: "The documents' ids.") var ids: [String]
  @Option(name: .customLong("rev"), help: "The revision to print, of one document.") var revision: String?

  func validate() throws {
    guard revision == nil || ids.count == 1 else { throw ValidationError("--rev goes with one id") }
  }

  func run() throws {
    let datastore = try store.open()
    for id in ids {
      let document =
        try revision.map { try datastore.document(withID: id, revision: try RevisionArgument.read($0)) }
        ?? datastore.document(withID: id)
      try Output.standard.line(document.json.text)
    }
  }
}

/// A revision's id on the command line.
enum RevisionArgument {
  static func read(_ text: String) throws -> RevisionID {
    guard let revision = RevisionID(text) else {
      throw ToolError(.usage, "\"\(text)\" is no revision; one looks like 2-be2c05cd85b8468ce92b04e001b0e923")
    }
    return revision
  }
}
