import ArgumentParser
import CDTDatastore
@preconcurrency import Glibc

struct DropCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop",
    abstract: "Delete a store with everything in it.",
    discussion: """
      EXAMPLE
        $ cdtquery drop people/contacts --yes
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @Flag(help: "Don't ask.") var yes = false

  func run() throws {
    let datastore = try store.open()
    if !yes { try confirm(try datastore.documentCount) }
    try store.manager().deleteDatastore(named: store.name)
  }

  private func confirm(_ documents: Int) throws {
    guard isatty(STDIN_FILENO) == 1 else {
      throw ToolError(.usage, "nobody is there to ask; to delete the store, add --yes")
    }
    Message.raw("Delete \(store.name) with \(documents) documents? Type its name to confirm: ")
    guard readLine() == store.name else { throw ToolError(.usage, "nothing was deleted") }
  }
}
