import ArgumentParser
import CDTDatastore
import CDTPlatform

struct DropCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop",
    abstract: "Delete a store with everything in it.",
    discussion: """
      On a terminal it asks for the store's name first; elsewhere it needs --yes.

      EXAMPLE
        $ cdtquery drop people/contacts --yes
        $ cdtquery list people
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @Flag(help: "Don't ask.") var yes = false

  func run() throws {
    // With --yes the store is not opened, so that one too damaged for that can go.
    if !yes { try confirm() }
    do {
      try store.manager().deleteDatastore(named: store.name)
    } catch let error as DatastoreError where error.code == .notFound {
      throw store.missing
    }
  }

  private func confirm() throws {
    let documents = try store.open().documentCount
    guard OpenFile.standardInput.isTerminal else {
      throw ToolError(.usage, "nobody is there to ask; to delete the store, add --yes")
    }
    Message.raw("Delete \(store.name) with \(documents) documents? Type its name to confirm: ")
    guard readLine() == store.name else { throw ToolError(.usage, "nothing was deleted") }
  }
}
