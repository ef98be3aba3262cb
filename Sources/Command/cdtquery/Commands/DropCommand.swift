import ArgumentParser
import CDTDatastore
import CDTPlatform

struct DropCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop",
    abstract: "Delete a store and everything in it.",
    discussion: """
      On a terminal it asks you to type the store's name; elsewhere it needs --yes.

      EXAMPLE
        $ cdtquery drop people/contacts --yes
        $ cdtquery list people
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @OptionGroup var key: KeyOptions
  @Flag(help: "Delete without asking.") var yes = false

  func run() throws {
    // With --yes the store is not opened, so that a damaged one can be deleted.
    if !yes { try confirm() }
    do {
      try store.manager().deleteDatastore(named: store.databaseName)
    } catch let error as DatastoreError where error.code == .notFound {
      throw store.missing
    }
  }

  private func confirm() throws {
    let documents = try store.open().read { try $0.documentCount() }
    guard OpenFile.standardInput.isTerminal else {
      throw ToolError(.usage, "can't ask for confirmation without a terminal; to delete the store, add --yes")
    }
    Message.raw("Delete \(store.name) with \(documents) documents? Type its name to confirm: ")
    guard readLine() == store.name else {
      throw ToolError(.usage, "the name does not match, so nothing was deleted; try again")
    }
  }
}
