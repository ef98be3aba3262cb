import CDTDatastore
import CDTJSON
import CDTPlan
import CDTSQLite

/// The execution of a plan for groups: adds what the plan's source has to the table of groups.
struct GroupRun: ~Copyable {
  private let plan: GroupPlan
  private let transaction: ReadTransaction
  private let connection: Connection
  private let memory: Int
  private let stop: QueryStop
  private var table: GroupTable
  /// The numbers of index rows and of documents that were read.
  private(set) var examined = (keys: 0, documents: 0)

  private var groups: ResolvedGroups { plan.groups }

  init(_ plan: GroupPlan, in transaction: ReadTransaction, memory: Int? = nil, _ stop: QueryStop) throws {
    self.plan = plan
    self.transaction = transaction
    connection = try transaction.connection()
    self.memory = memory ?? transaction.sortMemory
    self.stop = stop
    table = GroupTable(plan.groups, memory: self.memory, isOrdered: plan.order != nil, stop)
  }

  /// The rows of the groups.
  mutating func rows() throws -> [JSONObject] {
    switch plan.source {
    case .documents: try addDocuments(.groups)
    case .rows(let cover, _):
      try addRows(cover)
      try addDocuments(.unindexed)
    case .grouped(let cover, _, _): try addGroups(cover)
    case .summary(let summary, _): try addGroups(of: summary)
    }
    return try table.finish()
  }

  private mutating func addDocuments(_ output: QueryOutput) throws {
    let run = try QueryRun(plan.plan, output: output, in: transaction, stop)
    defer { run.end() }
    while let row = try run.next() { try table.add(row.bytes) }
    examined.keys += run.keysRead
    examined.documents += run.documentsRead
  }

  /// Adds the rows of an index.
  ///
  /// - Parameter condition: Restricts them to some of the groups, which may come before those that were added.
  private mutating func addRows(_ cover: GroupCover, condition: String = "") throws {
    let rows = Candidates(plan.rows(.values(cover.columns, condition: condition)), on: connection)
    defer { rows.end() }
    let hidesDesignDocuments = plan.plan.hidesDesignDocuments
    while !condition.isEmpty || !table.isComplete, let row = try rows.next() {
      try stop.check()
      examined.keys += 1
      if cover.isEmpty(row) { continue }
      if hidesDesignDocuments, DocumentID.isDesign(row.unsafeBytes(cover.idColumn)) { continue }
      try table.add(IndexInput(row, cover))
    }
  }

  /// Adds the groups that SQLite makes. Those with a field that is null or missing are made of their rows; all are if a least or
  /// greatest value is not a number.
  private mutating func addGroups(_ cover: GroupCover) throws {
    let sums = try SQLiteSumFunction.of(connection)
    let rows = Candidates(plan.statements, on: connection)
    defer { rows.end() }
    let firstSum = 2 * groups.fields + 1
    let firstExtreme = firstSum + groups.sums.count
    let number = IndexKey.Tag.number.rawValue
    var lacksAbsent = false
    while let row = try rows.next() {
      try stop.check()
      let count = Int(row.int64(firstSum - 1))
      examined.keys += count
      let found = groups.sums.indices.map { sums.take(row.int64(firstSum + $0)) }
      if (0..<groups.fields).contains(where: { row.int64(2 * $0) == IndexKey.Tag.nothing.rawValue }) {
        lacksAbsent = true
        continue
      }
      let columns = groups.extremes.indices.map { firstExtreme + 2 * $0 }
      guard columns.allSatisfy({ row.isNull($0) || row.int64($0) == number }) else {
        rows.end()
        table = GroupTable(groups, memory: memory, isOrdered: true, stop)
        return try addRows(cover)
      }
      try table.add(
        IndexInput(row, cover), count: count, sums: found, extremes: extremes(of: row, at: firstExtreme))
      if !lacksAbsent, table.isComplete { return }
    }
    if lacksAbsent { try addRows(cover, condition: cover.absence(groups)) }
  }

  /// Adds the groups of a summary.
  private mutating func addGroups(of summary: SummaryCover) throws {
    let rows = Candidates(plan.statements, on: connection)
    defer { rows.end() }
    while !table.isComplete, let row = try rows.next() {
      try stop.check()
      examined.keys += 1
      let state = try summary.state(row)
      try table.add(
        IndexInput(row, summary.fields), count: state.documents,
        sums: summary.slots.map { state.sums[$0].numbers },
        extremes: extremes(of: row, at: summary.documentsColumn + 2))
    }
  }

  /// The least and greatest values in two columns each; those without a value are empty.
  private func extremes(of row: Statement, at column: Int) -> [OrderKey] {
    groups.extremes.indices.map { slot in
      var key = OrderKey()
      IndexInput.appendKey(row, at: column + 2 * slot, to: &key.bytes)
      return key.bytes == [OrderKey.null] ? OrderKey() : key
    }
  }
}
