import JSON

/// A plan as one SQL statement with its parameters.
///
/// An index on (name, age), asked for name = X and age ≥ Y, limit 25:
///
/// ```sql
/// SELECT d.sequence, d.id, d.revision, d.body
///   FROM query.entries_1 e CROSS JOIN documents d ON d.sequence = e.sequence
///  WHERE e.v0 = ? AND e.t0 = ? AND (e.t1, e.v1) >= (?, ?) AND e.t1 <= ?
///  LIMIT ? OFFSET ?
/// ```
///
/// A row of an index names the sequence its document had; a document that has changed since is found under another, so
/// the join leaves the row out, and the part for documents above the index's watermark brings the document in. Where the
/// reader has documents of its own, `writeCachedJoin(_:)` takes the place of the join.
package struct QuerySQL: ~Copyable {
  /// What is wanted of the matches.
  package enum Output: Sendable, Hashable {
    case documents, texts, ids, count, exists
  }

  package enum Parameter {
    case int(Int64)
    case text(String)
    case key(IndexKey)
    /// Something that the SQL functions take as a pointer.
    case object(QueryObject)
    /// The reader's ``DocumentCache``, as a pointer.
    case cache
  }

  /// The statement as far as it has been written.
  var sql = SQLText()
  package private(set) var parameters: [Parameter] = []
  /// Whether rows may name a document again: whoever steps through them leaves repetitions out, and then cuts the page.
  package let repeats: Bool
  /// Whether rows may name a document that has moved on: they are left out likewise.
  private(set) var namesGone = false
  /// Whether rows may leave the document to the reader's cache.
  var leavesToCache = false

  let plan: QueryPlan
  let output: Output
  let order: QueryPlan.Order
  /// The lowest watermark of the indexes used, if documents lie above it; those go to the matcher.
  let floor: Int64?
  /// Whether those are left to whoever steps through the rows, who goes on with them as a ``TailWalk``.
  let leavesTail: Bool
  /// The sequences of those that may match, or `nil` if all of them may.
  let tail: [Int64]?
  /// Whether the source's rows alone decide and have what is asked of it, so that no document is looked at.
  let isCovered: Bool
  /// Whether some of the indexes used keep documents apart.
  let hasApart: Bool
  let lastSequence: Int64
  let hasTombstones: Bool
  /// Whether documents that the reader has are not looked up.
  let usesCache: Bool

  /// - Parameters:
  ///   - lastSequence: The newest sequence in the snapshot that the statement runs in.
  ///   - tail: The sequences of documents above the plan's watermark, the only ones there that may match; `nil` where all
  ///     of them may.
  ///   - leavesTail: Whether documents above the watermark may be left to whoever steps through the rows, as
  ///     ``mayLeaveTail(_:_:)`` has allowed.
  ///   - hasTombstones: Whether there may be deleted documents in it.
  package init(
    _ plan: QueryPlan, output: Output, lastSequence: Int64, tail: [Int64]? = nil, leavesTail: Bool = false,
    hasTombstones: Bool = true, usesCache: Bool = false
  ) {
    self.plan = plan
    self.output = output
    self.lastSequence = lastSequence
    self.hasTombstones = hasTombstones
    self.usesCache = usesCache
    order = output == .count || output == .exists ? .unordered : plan.order
    floor = plan.source.floor(upTo: lastSequence)
    self.tail = tail
    self.leavesTail = leavesTail && floor != nil
    namesGone = self.leavesTail
    var hasApart = false
    plan.source.forEachIndex { hasApart = hasApart || $0.hasApart }
    self.hasApart = hasApart
    repeats = order.isStreamed && plan.source.mayRepeat
    isCovered = Self.isCovered(plan, order, output)
    parameters.reserveCapacity(12)
    write()
  }

  /// Whether documents above the watermark can follow the rows: where whole documents are wanted in any order.
  static func mayLeaveTail(_ plan: QueryPlan, _ output: Output) -> Bool {
    plan.order == .unordered && (output == .documents || output == .texts)
  }

  /// The statement's text.
  package var text: String { sql.string }

  /// The column that has the revision of a query for documents or texts; NULL for a document that is in the cache.
  static let revisionColumn = 2

  /// The column that has the body.
  static func bodyColumn(of output: Output) -> Int { output == .texts ? 0 : 3 }

  /// The column that has a number which only one document has: its sequence where documents are taken from the cache.
  var numberColumn: Int {
    switch output {
    case .documents: usesCache ? 6 : 0
    case .texts: 3
    case .ids, .count, .exists: 0
    }
  }

  /// Whether rows are given for their documents.
  var givesDocuments: Bool { output == .documents || output == .texts }

  private static func isCovered(_ plan: QueryPlan, _ order: QueryPlan.Order, _ output: Output) -> Bool {
    guard case .always = plan.residual, plan.source.isCovered else { return false }
    if case .columns = order { return true }
    return output != .documents && output != .texts && order != .sorted
  }

  private mutating func write() {
    let wrapped = repeats ? .ids : output
    if wrapped == .count { sql.write("SELECT count(*) FROM (") }
    if wrapped == .exists { sql.write("SELECT 1 FROM (") }
    if order.isStreamed || order == .score { writeStreamedRows() } else { writeSortedRows() }
    if wrapped == .count { sql.write(")") }
    if wrapped == .exists { sql.write(") LIMIT 1") }
  }

  // MARK: The two shapes

  /// In the order in which the source gives them, which may be the order asked for.
  private mutating func writeStreamedRows() {
    if case .union(let members) = plan.source {
      for (number, member) in members.enumerated() {
        if number > 0 { sql.write("\nUNION ALL ") }
        writeStreamedRows(of: member)
      }
    } else {
      writeStreamedRows(of: plan.source)
    }
    for part in missedParts() {
      sql.write("\nUNION ALL SELECT ")
      if isCovered { sql.write("d.sequence, d.id") } else { writeColumns("d") }
      if hasStreamedKeys { writeDocumentKeys() }
      sql.write("\n  FROM ")
      writeMissed(part)
    }
    writeOrdering(isMerged: hasStreamedKeys)
    if !repeats, !namesGone { writePage() }
  }

  private mutating func writeStreamedRows(of source: QueryPlan.Source) {
    let isCached = isCached(source)
    if isCached, givesDocuments { namesGone = true }
    sql.write("SELECT ")
    if isCovered {
      sql.write(source.alias)
      sql.write(".sequence, ")
      sql.write(source.alias)
      sql.write(".id")
    } else {
      writeColumns(isCached ? source.alias : "d")
    }
    writeStreamedKeys()
    sql.write("\n  FROM ")
    writeBranch(source)
  }

  /// Whether rows have the columns by which SQLite merges parts that each have the order; not where there is one part.
  private var hasStreamedKeys: Bool {
    switch order {
    case .score: true
    case .index: hasMissedParts
    default: false
    }
  }

  private mutating func writeStreamedKeys() {
    switch order {
    case .score:
      if case .text = plan.source { sql.write(", f.rank") } else { sql.write(", 1e999") }
    case .index(let first, let count, _) where hasMissedParts:
      for field in first..<first + count { writeKeyColumns(field) }
    default: break
    }
  }

  mutating func writeKeyColumns(_ field: Int) {
    sql.write(", e.t", Int64(field))
    sql.write(", e.v", Int64(field))
  }

  /// The keys that an index would have for a document, as two columns a sorted field. What is not in the text index yet
  /// has no score, and comes last.
  mutating func writeDocumentKeys() {
    if case .score = order { return sql.write(", 1e999") }
    for field in plan.sort.fields.indices {
      let sort = add(.object(SortObject(plan.sort)))
      sql.write(", cdt_sort_tag(?", sort, ", ")
      sql.write("", Int64(field), ", d.body), cdt_sort_value(?")
      sql.write("", sort, ", ")
      sql.write("", Int64(field), ", d.body)")
    }
  }

  /// - Parameter alias: The table that has the sequence and the id of every row.
  mutating func writeColumns(_ alias: StaticString) {
    switch output {
    case .documents:
      sql.write("coalesce(d.written, d.sequence), ")
      sql.write(alias)
      sql.write(".id, d.revision, d.body, d.attachments, d.number")
      guard usesCache else { return }
      sql.write(", ")
      sql.write(alias)
      sql.write(".sequence")
    case .texts:
      sql.write("d.body, ")
      sql.write(alias)
      sql.write(".id, d.revision, ")
      sql.write(alias)
      sql.write(".sequence")
    case .ids, .count, .exists:
      sql.write(alias)
      sql.write(".sequence, ")
      sql.write(alias)
      sql.write(".id")
    }
  }

  // MARK: Parameters

  /// Adds a parameter and gives its number.
  mutating func add(_ parameter: Parameter) -> Int64 {
    parameters.append(parameter)
    return Int64(parameters.count)
  }

  /// Adds a parameter and writes it: `?3`.
  mutating func write(_ parameter: Parameter) {
    sql.write("?", add(parameter))
  }
}
