import CDTDatastore
package import CDTJSON
import CDTPlan

extension QueryEngine {
  /// The rows of a query for groups.
  package func groups(_ query: GroupQuery) throws -> [JSONObject] {
    let groups = try ResolvedGroups(query)
    return try answering { engine in try engine.run(engine.plan(groups)).rows }
  }

  func plan(_ groups: ResolvedGroups) throws -> GroupPlan {
    try mapping(QueryStop(signal: transaction.stop)) {
      try planner(groups.documents, .groups).groupPlan(groups, choose)
    }
  }

  /// Every possible plan for groups, for tests that compare them.
  func everyPlan(_ groups: ResolvedGroups) throws -> [GroupPlan] {
    let planner = try planner(groups.documents, .groups)
    return try planner.everyPlan().map { GroupPlan(groups: groups, plan: $0) }
      + planner.coveringPlans(groups).map(\.plan)
  }

  /// The rows of a plan for groups, and the numbers of index rows and of documents that were read for them.
  func run(_ plan: GroupPlan, memory: Int? = nil) throws -> (
    rows: [JSONObject], examined: (keys: Int, documents: Int)
  ) {
    try running(timeLimit: plan.groups.documents.timeLimit) { stop in
      var run = try GroupRun(plan, in: transaction, memory: memory, stop)
      return (try run.rows(), run.examined)
    }
  }
}

/// Groups documents that come one after another and are not kept, such as those of a file.
package final class StreamedGroups {
  private var table: GroupTable

  /// The memory of the groups in bytes.
  private static let memory = 8 << 20

  package init(_ query: GroupQuery) throws(QueryError) {
    table = GroupTable(try ResolvedGroups(query), memory: Self.memory)
  }

  /// Adds a document that the selector matches: its text in stored form, with `_id` and `_rev` as members.
  package func add(_ text: UnsafeRawBufferPointer) throws {
    let bytes = JSONBytes(text)
    func own(_ name: StaticString) -> [UInt8] {
      let name = name.withUTF8Buffer { Array($0) }
      guard let value = bytes.member(spelled: name, at: 0), bytes.kind(at: value) == .string else {
        return []
      }
      return bytes.withStringBytes(at: value) { Array($0) }
    }
    let (id, revision) = (own("_id"), own("_rev"))
    try id.withUnsafeBytes { id in
      try revision.withUnsafeBytes { try table.add(DocumentBytes(id: id, revision: $0, body: text)) }
    }
  }

  /// Ends the documents.
  ///
  /// - Returns: The rows.
  package func finish() throws -> [JSONObject] { try table.finish() }
}
