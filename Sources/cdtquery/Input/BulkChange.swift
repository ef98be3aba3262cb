import ArgumentParser
import CDTDatastore
import CDTPlatform
import CDTQuery

/// A change of the documents that match a selector: asks before it is made, or only counts them.
struct BulkChange: ParsableArguments {
  @Flag(help: "Do it without asking.") var yes = false
  @Flag(help: "Print only how many documents match.") var dryRun = false

  init() {}

  /// - Parameters:
  ///   - verb: `update` or `delete`, for the question.
  ///   - change: Returns how many documents it has changed.
  func run(
    _ verb: String, _ query: Query, in store: StoreArgument, _ change: (WriteTransaction) throws -> Int
  ) throws {
    let datastore = try store.open()
    if dryRun || !yes {
      let count = try datastore.read { try $0.count(query) }
      if dryRun { return try Output.standard.line("\(count) would be \(verb)d") }
      guard OpenFile.standardInput.isTerminal else {
        throw ToolError(
          .usage,
          "can't ask for confirmation without a terminal; \(count) documents match: to \(verb) them, add --yes"
        )
      }
      Message.raw("\(verb.capitalized) \(count) documents in \(store.name)? [y/N] ")
      guard ["y", "yes"].contains(readLine()?.lowercased()) else {
        throw ToolError(.usage, "nothing was \(verb)d")
      }
    }
    try Output.standard.line("\(try datastore.write(change)) \(verb)d")
  }
}
