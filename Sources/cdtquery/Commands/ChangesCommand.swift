import ArgumentParser
import CDTCommandLine
import CDTDatastore
import CDTJSON

struct ChangesCommand: AsyncParsableCommand {
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

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @Option(help: "The sequence after which to start.") var since: Int64 = 0
  @Option(help: "The maximum number of changes.") var limit: Int?
  @Flag(help: "Wait for more changes until interrupted or until the output is closed.")
  var follow = false

  func validate() throws {
    guard since >= 0 else { throw ValidationError("--since must be a whole number, 0 or more") }
    guard limit.map({ $0 > 0 }) ?? true else {
      throw ValidationError("--limit must be a whole number, 1 or more")
    }
  }

  func run() async throws {
    let datastore = try store.open()
    if !follow { return try printChanges(of: datastore) }
    // Stop waiting for changes when the output is closed.
    let listening = Task { try await self.follow(datastore) }
    OutputWatch.whenClosed { listening.cancel() }
    try await listening.value
  }

  /// Prints the changes up to now, in batches. Later changes are left out, so that the command ends.
  private func printChanges(of datastore: Datastore) throws {
    let end = try datastore.read { try $0.lastSequence() }
    var (last, left) = (since, limit ?? .max)
    repeat {
      let changes = try datastore.changes(since: last, limit: min(left, 1_000))
      if changes.documents.isEmpty { break }
      for change in changes.documents { try Self.write(change) }
      last = changes.lastSequence
      left -= changes.documents.count
    } while last < end && left > 0
  }

  private func follow(_ datastore: Datastore) async throws {
    var left = limit ?? .max
    for try await changes in datastore.liveChanges(since: since) {
      for change in changes.documents.prefix(left) { try Self.write(change) }
      try Output.standard.flush()
      left -= changes.documents.count
      if left <= 0 { return }
    }
    if !Task.isCancelled {
      throw ToolError(.missing, "the store \(store.path) was deleted, which ends its changes")
    }
  }

  private static func write(_ change: Change) throws {
    var json: JSONObject = [
      "sequence": .int(change.sequence), "id": .string(change.id),
      "rev": .string(change.revisionID.description),
    ]
    if change.isDeleted { json["deleted"] = true }
    try Output.standard.line(json.text)
  }
}
