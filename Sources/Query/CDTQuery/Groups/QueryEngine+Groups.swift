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

  /// Every possible plan for groups, for tests that compare them.
  func everyGroupPlan(_ groups: ResolvedGroups) throws -> [GroupPlan] {
    let planner = try planner(groups.documents, .groups)
    return try planner.everyPlan().map { GroupPlan($0) } + planner.coveringPlans(groups).map(\.plan)
  }

  func rows(
    of groups: ResolvedGroups, memory: Int? = nil, _ choose: (Planner) throws -> GroupPlan
  ) throws -> [JSONObject] {
    var read = (keys: 0, documents: 0)
    return try rows(of: groups, memory: memory, counting: &read, choose)
  }

  /// - Parameter read: Receives the numbers of index rows and of documents that were read.
  func rows(
    of groups: ResolvedGroups, memory: Int? = nil, counting read: inout (keys: Int, documents: Int),
    _ choose: (Planner) throws -> GroupPlan
  ) throws -> [JSONObject] {
    let stop = QueryStop(timeLimit: groups.documents.timeLimit, signal: transaction.stop)
    let check = stop.watch(transaction)
    defer { check.map(transaction.removeProgressCheck) }
    return try mapping(stop) {
      let plan = try choose(planner(groups.documents, .groups))
      func emptyTable() -> GroupTable {
        GroupTable(groups, memory: memory ?? transaction.sortMemory, isOrdered: plan.terms != nil, stop)
      }
      var table = emptyTable()
      if let summary = plan.summary {
        read.keys = try add(summary, plan.statements, groups, stop, to: &table)
        return try table.finish()
      }
      if let cover = plan.cover {
        let grouped = try plan.grouped.map { form in
          try add(cover, plan.rows(form), groups, stop, to: &table, &read.keys)
        }
        switch grouped ?? .nothing {
        case .everything: break
        case .present:
          // They come before those that were added.
          table.endsEarly = false
          try add(
            cover, plan, plan.rows(.values(cover.columns, condition: cover.absence(groups))), stop,
            to: &table, &read.keys)
        case .nothing:
          table = emptyTable()
          try add(cover, plan, plan.rows(.values(cover.columns)), stop, to: &table, &read.keys)
        }
      }
      let run = try QueryRun(plan.plan, output: plan.output, in: transaction, stop)
      defer { run.end() }
      while let row = try run.next() { try table.add(row.bytes) }
      read.keys += run.keysRead
      read.documents += run.documentsRead
      return try table.finish()
    }
  }

  /// What SQLite could group.
  private enum Grouped {
    case everything
    /// All but the groups with a field that is null or missing.
    case present
    case nothing
  }

  /// Adds the groups that statements return.
  ///
  /// - Returns: `nothing` if a least or greatest value is not a number: the groups must be made of the rows.
  private func add(
    _ cover: GroupCover, _ statements: [CandidateStatement], _ groups: ResolvedGroups, _ stop: QueryStop,
    to table: inout GroupTable, _ keys: inout Int
  ) throws -> Grouped {
    let connection = try transaction.connection()
    let sums = try ExactSums.of(connection)
    let rows = Candidates(statements, on: connection)
    defer { rows.end() }
    let firstSum = 2 * groups.fields + 1
    let firstExtreme = firstSum + groups.sums.count
    var grouped = Grouped.everything
    while let row = try rows.next() {
      try stop.check()
      let count = Int(row.int64(firstSum - 1))
      keys += count
      let found = groups.sums.indices.map { sums.take(row.int64(firstSum + $0)) }
      if (0..<groups.fields).contains(where: { row.int64(2 * $0) == IndexKey.Tag.nothing.rawValue }) {
        grouped = .present
        continue
      }
      var extremes: [OrderKey] = []
      for slot in groups.extremes.indices {
        let column = firstExtreme + 2 * slot
        extremes.append(OrderKey())
        if row.isNull(column) { continue }
        guard row.int64(column) == IndexKey.Tag.number.rawValue else { return .nothing }
        let number =
          row.isInteger(column + 1) ? JSONNumber.int(row.int64(column + 1)) : .double(row.double(column + 1))
        OrderKey.append(number, to: &extremes[slot].bytes)
      }
      try table.add(
        IndexInput(row, cover), count: count, sums: found, extremes: extremes)
      if grouped == .everything, table.isComplete { return .everything }
    }
    return grouped
  }

  /// Adds the rows of an index.
  private func add(
    _ cover: GroupCover, _ plan: GroupPlan, _ statements: [CandidateStatement], _ stop: QueryStop,
    to table: inout GroupTable, _ keys: inout Int
  ) throws {
    let rows = Candidates(statements, on: try transaction.connection())
    defer { rows.end() }
    let hidesDesignDocuments = plan.plan.hidesDesignDocuments
    while !table.isComplete, let row = try rows.next() {
      try stop.check()
      keys += 1
      if cover.isEmpty(row) { continue }
      if hidesDesignDocuments, DocumentID.isDesign(row.unsafeBytes(cover.idColumn)) { continue }
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
