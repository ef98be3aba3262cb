import ArgumentParser
import CDTDatastore
import CDTPlatform
import CDTQuery

/// A change of the documents that match a selector: asks before it is made, or only counts them.
struct BulkChange: ParsableArguments {
  @Flag(help: "Do it without asking.") var yes = false
  @Flag(help: SharedArgument.dryRun.option) var dryRun = false

  init() {}

  /// - Parameters:
  ///   - verb: `update` or `delete`, for the question.
  ///   - change: Returns how many documents it has changed.
  func run(
    _ verb: String, _ query: Query, in store: StoreArgument, _ change: (WriteTransaction) throws -> Int
  ) throws {
    let datastore = try store.open()
    if dryRun {
      return try Output.standard.line("\(try Self.count(of: change, in: datastore)) would be \(verb)d")
    }
    if !yes {
      let count = try datastore.read { try $0.count(query) }
      let documents = count == 1 ? "1 document" : "\(count) documents"
      guard OpenFile.standardInput.isTerminal else {
        throw ToolError(
          .usage,
          "can't ask for confirmation without a terminal; to \(verb) \(documents), add --yes"
        )
      }
      Message.raw("\(verb.capitalized) \(documents) in \(store.path)? [y/N] ")
      guard ["y", "yes"].contains(readLine()?.lowercased()) else {
        throw ToolError(.usage, "nothing was \(verb)d")
      }
    }
    try Output.standard.line("\(try datastore.write(change)) \(verb)d")
  }

  /// The number of documents that a change concerns: it is made, and rolled back.
  static func count(of change: (WriteTransaction) throws -> Int, in datastore: Datastore) throws -> Int {
    struct RolledBack: Error { let count: Int }
    do {
      try datastore.write { transaction in throw RolledBack(count: try change(transaction)) }
    } catch let made as RolledBack {
      return made.count
    }
    return 0
  }
}
