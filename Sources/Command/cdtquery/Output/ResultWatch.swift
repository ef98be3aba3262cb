import CDTDatastore
import CDTJSON
import CDTQuery

/// Prints the results of a query, and then a line for each change of them.
struct ResultWatch {
  let query: Query
  let store: StoreArgument

  /// Returns when the output is closed.
  func run() throws {
    try store.checkIsStore()
    let datastore = try store.open()
    let watching = Task { try await printUpdates(of: datastore) }
    OutputWatch.whenClosed { watching.cancel() }
    try waiting { try await watching.value }
  }

  private func printUpdates(of datastore: Datastore) async throws {
    var previous: [DocumentRevision]?
    var included = JSONObject()
    for try await update in datastore.live(query) {
      if let previous {
        for line in Self.lines(of: update, after: previous) { try Output.standard.line(line.text) }
      } else {
        for document in update.results { try Output.standard.line(document.json.text) }
      }
      let (first, found) = (previous == nil, update.included.json())
      if !found.isEmpty, first || found != included {
        var line: JSONObject = first ? [:] : ["change": "included"]
        line["included"] = .object(found)
        try Output.standard.line(line.text)
      }
      try Output.standard.flush()
      (previous, included) = (update.results, found)
    }
    if !Task.isCancelled {
      throw ToolError(.missing, "the store \(store.path) was deleted, which ends its results")
    }
  }

  private static func lines(
    of update: LiveUpdate<DocumentRevision>, after previous: [DocumentRevision]
  ) -> [JSONObject] {
    let (results, difference) = (update.results, update.difference)
    func position(_ number: Int) -> JSONValue { .int(Int64(number)) }
    return difference.removals.map {
      ["change": "remove", "at": position($0), "id": .string(previous[$0].id)]
    }
      + difference.moves.map {
        [
          "change": "move", "from": position($0.from), "to": position($0.to),
          "id": .string(results[$0.to].id),
        ]
      }
      + difference.insertions.map {
        ["change": "insert", "at": position($0), "doc": .object(results[$0].json)]
      }
      + difference.updates.map { ["change": "update", "at": position($0), "doc": .object(results[$0].json)] }
  }
}
