/// What a query met on its way to its results.
package struct QueryVisits: Sendable, Hashable {
  /// How many rows it gave.
  package var rows = 0
  /// How many bodies were read: by the matcher, for a sort, or as a result.
  package var bodies = 0
  /// How many instructions SQLite's machine took: some for each row of a table or an index that was met.
  package var steps = 0
}

extension RunningQuery {
  /// Runs to the end and counts.
  func visits() throws -> QueryVisits {
    var visits = QueryVisits()
    while try step() { visits.rows += 1 }
    visits.bodies = documentCalls + (output == .documents || output == .texts ? visits.rows : 0)
    visits.steps = statement.takeSteps()
    return visits
  }
}
