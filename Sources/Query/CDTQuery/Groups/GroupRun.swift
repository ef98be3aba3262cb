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
    case .summary(let summary, _): try addGroups(of: summary)
    }
    return try table.finish()
  }

  private mutating func addDocuments(_ output: QueryOutput) throws {
    let run = try QueryRun(plan.plan, output: output, in: transaction, stop)
    defer { run.end() }
    while let row = try run.next() { try table.add(run.bytes(of: row)) }
    examined.keys += run.keysRead
    examined.documents += run.documentsRead
  }

  /// Whether there are design documents to be left out.
  private var hidesDesignDocuments: Bool {
    get throws {
      try plan.plan.hidesDesignDocuments && CandidateStatement.hasDesignDocuments(on: connection)
    }
  }

  /// Adds the rows of an index.
  private mutating func addRows(_ cover: GroupCover) throws {
    let rows = Candidates(plan.rows, on: connection)
    defer { rows.end() }
    let hidesDesignDocuments = try hidesDesignDocuments
    let layout = cover.layout
    let needsKeys = hidesDesignDocuments || !groups.sums.isEmpty || !groups.extremes.isEmpty
    var next = try rows.next()
    while !table.isComplete, let row = next {
      try stop.check()
      examined.keys += 1
      let key = row.key
      var isAdded = false
      if !cover.isEmpty(key), !hidesDesignDocuments || !row.isOfDesignDocument() {
        isAdded = try table.add(IndexInput(key, cover))
      }
      // In order, rows with the same first fields are of one group. Null and missing are two groups, which may alternate.
      guard isAdded, let grouped = cover.fieldsOfGroup(plan.order),
        !layout.hasNothing(inFirst: grouped, of: key)
      else {
        next = try rows.next()
        continue
      }
      let group = OrderKey(Array(key.slice(0, layout.end(ofFirst: grouped, in: key))))
      var hidden = 0
      let found = try rows.next(after: group) { key in
        guard needsKeys else { return }
        if hidesDesignDocuments, layout.isOfDesignDocument(key, idAt: layout.startOfID(in: key)) {
          hidden += 1
        } else {
          table.addToLast(IndexInput(key, cover, known: (grouped, group.bytes.count)))
        }
      }
      table.countInLast(found.passed - hidden)
      examined.keys += found.passed
      next = found.row
    }
  }

  /// Adds the groups of a summary.
  private mutating func addGroups(of summary: SummaryCover) throws {
    let rows = Candidates([summary.statement], on: connection)
    defer { rows.end() }
    let hidesDesignDocuments = try hidesDesignDocuments
    while !table.isComplete, let row = try rows.next() {
      try stop.check()
      examined.keys += 1
      if hidesDesignDocuments, SummaryTable.isOfDesignDocuments(row.key) { continue }
      let state = try summary.state(row)
      let extremes = try groups.extremes.map {
        try SummaryCover.extreme(
          of: summary.entry, in: row.key, isMaximum: $0.isMaximum, hidesDesignDocuments, on: connection)
      }
      try table.add(
        IndexInput(row.key, summary.fields), count: state.documents,
        sums: summary.slots.map { state.sums[$0].numbers }, extremes: extremes)
    }
  }
}
