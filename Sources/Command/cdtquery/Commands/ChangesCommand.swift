import ArgumentParser
import CDTDatastore
import CDTJSON

struct ChangesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "changes",
    abstract: "Print the documents that changed, one per line, ordered by their latest change.",
    discussion: """
      Each line has a document's latest sequence, its id and its current revision. Pass the sequence of the last line \
      as --since next time to get each later change exactly once. A sequence beyond the store's last \
      one is an error: the store was probably recreated or restored, so start again from 0.

      EXAMPLE
        $ cdtquery changes people/contacts --since 1
        {"sequence":2,"id":"zoe","rev":"1-6becd5b6af2701a6fe53470157b9e47d"}
        $ cdtquery delete people/contacts zoe > /dev/null
        $ cdtquery changes people/contacts --since 2
        {"sequence":3,"id":"zoe","rev":"2-f58a356b9eb60990966350d5ac1b915c",…}
        $ cdtquery changes people/contacts --follow --limit 1
        {"sequence":1,"id":"mike","rev":"1-dc7c404fb82b5e0160f925a3aaa9534b"}
      """)

  @Argument(help: DatabaseArgument.help) var database: DatabaseArgument
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions
  @Option(help: SharedArgument.since.option) var since: String?
  @Option(help: SharedArgument.changes.option) var limit: Int?
  @Flag(help: "Wait for more changes until interrupted or until the output is closed.")
  var follow = false
  @OptionGroup var server: ServerOptions

  func validate() throws {
    try refuse([
      // Only a server understands its sequences.
      "--since must be a whole number, 0 or more":
        !database.isURL && since.map { Int64($0).map { $0 < 0 } ?? true } ?? false,
      "--limit must be a whole number, 1 or more": limit.map { $0 < 1 } ?? false,
    ])
  }

  func run() throws {
    let database = try database.open(server)
    guard follow else {
      return try database.forEachChange(since: since, limit: limit, Self.write)
    }
    // Stop waiting for changes when the output is closed.
    let listening = Task { try await printLiveChanges(of: database) }
    OutputWatch.whenClosed { listening.cancel() }
    try waiting { try await listening.value }
  }

  private func printLiveChanges(of database: any Database) async throws {
    var left = limit ?? .max
    for try await changes in try database.liveChanges(since: since) {
      for change in changes.prefix(left) { try Self.write(change) }
      try Output.standard.flush()
      left -= changes.count
      if left <= 0 { return }
    }
    if !Task.isCancelled, case .store(let store) = self.database {
      throw ToolError(.missing, "the store \(store.path) was deleted, which ends its changes")
    }
  }

  private static func write(_ change: ChangedDocument) throws {
    try Output.standard.json(change.json)
  }
}
