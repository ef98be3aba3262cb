import CDTDatastore
package import CDTJSON

extension QueryEngine {
  /// The rows of a query for groups.
  package func groups(_ query: GroupQuery) throws -> [JSONObject] {
    let groups = try ResolvedGroups(query)
    return try answering { engine in
      try engine.rows(of: groups) { planner in try planner.groupPlan(groups, engine.choose) }
    }
  }

  func explain(_ query: GroupQuery) throws -> Explanation {
    let groups = try ResolvedGroups(query)
    return try answering { engine in
      let stop = QueryStop(signal: transaction.stop)
      let plan = try engine.mapping(stop) {
        try engine.planner(groups.documents, .groups).groupPlan(groups, engine.choose)
      }
      return Explanation(
        query: groups.documents, plan: plan.plan, groups: plan, indexes: engine.indexes,
        store: transaction.store.directory)
    }
  }

  /// Every possible plan for groups, for tests that compare them.
  func everyGroupPlan(_ groups: ResolvedGroups) throws -> [GroupPlan] {
    let planner = try planner(groups.documents, .groups)
    return try planner.everyPlan().map { GroupPlan($0) } + planner.coveringPlans(groups).map(\.plan)
  }

  func rows(
    of groups: ResolvedGroups, memory: Int? = nil, _ choose: (Planner) throws -> GroupPlan
  ) throws -> [JSONObject] {
    let stop = QueryStop(timeLimit: groups.documents.timeLimit, signal: transaction.stop)
    let check = stop.watch(transaction)
    defer { check.map(transaction.removeProgressCheck) }
    return try mapping(stop) {
      let plan = try choose(planner(groups.documents, .groups))
      var table = GroupTable(
        groups, memory: memory ?? transaction.sortMemory, isOrdered: plan.terms != nil, stop)
      if let cover = plan.cover { try add(cover, plan, stop, to: &table) }
      let run = try QueryRun(plan.plan, output: plan.output, in: transaction, stop)
      defer { run.end() }
      while let row = try run.next() { try table.add(row.bytes) }
      return try table.finish()
    }
  }

  /// Adds the rows of an index.
  private func add(
    _ cover: GroupCover, _ plan: GroupPlan, _ stop: QueryStop, to table: inout GroupTable
  ) throws {
    let rows = Candidates(plan.statements.filter { !$0.isUnindexed }, on: try transaction.connection())
    defer { rows.end() }
    let hidesDesignDocuments = plan.plan.hidesDesignDocuments
    while !table.isComplete, let row = try rows.next() {
      try stop.check()
      if cover.isEmpty(row) { continue }
      if hidesDesignDocuments, CandidateRow.isOfDesignDocument(row.unsafeBytes(cover.idColumn)) { continue }
      try table.add(IndexInput(row, cover))
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
