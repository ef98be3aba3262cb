import ArgumentParser
import CDTDatastore
import JSON

struct ChangesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "changes",
    abstract: "Print the documents that have changed, one a line, in the order of their newest changes.",
    discussion: """
      Each line tells a document's newest sequence, its id and its current revision. The sequence of the last line \
      is what to give as --since next time: nothing is missed and nothing comes twice.

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
  @Option(help: "The sequence to go on from.") var since: Int64 = 0
  @Option(help: "How many changes at most.") var limit: Int?
  @Flag(help: "Go on with changes as they come, until interrupted, or until the output is closed.")
  var follow = false

  func validate() throws {
    guard since >= 0 else { throw ValidationError("--since is a whole number from 0") }
    guard limit.map({ $0 > 0 }) ?? true else { throw ValidationError("--limit is a whole number from 1") }
  }

  func run() async throws {
    let datastore = try store.open()
    if !follow { return try printChanges(of: datastore) }
    // Nobody waits for a change that nobody will read.
    let listening = Task { try await self.follow(datastore) }
    OutputWatch.whenClosed { listening.cancel() }
    try await listening.value
  }

  /// Those up to now, some at a time. What is written meanwhile would go on for as long as others write.
  private func printChanges(of datastore: Datastore) throws {
    let end = try datastore.lastSequence
    var (last, left) = (since, limit ?? .max)
    while last < end, left > 0 {
      let changes = try datastore.changes(since: last, limit: min(left, 1_000))
      if changes.documents.isEmpty { break }
      for change in changes.documents { try Self.write(change) }
      last = changes.lastSequence
      left -= changes.documents.count
    }
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
      throw ToolError(.missing, "the store \(store.path) was deleted; its changes end here")
    }
  }

  private static func write(_ change: Change) throws {
    var json: JSONObject = [
      "sequence": .int(change.sequence), "id": .string(change.id),
      "rev": .string(change.revision.description),
    ]
    if change.isDeleted { json["deleted"] = true }
    try Output.standard.line(json.text)
  }
}
