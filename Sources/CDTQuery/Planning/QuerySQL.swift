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
/// the join leaves the row out, and the part for documents above the index's watermark brings the document in.
package struct QuerySQL {
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

  package private(set) var text = ""
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
  let hasTombstones: Bool
  /// Whether documents that the reader has are not looked up.
  let usesCache: Bool

  /// - Parameters:
  ///   - lastSequence: The newest sequence in the snapshot that the statement runs in.
  ///   - hasTombstones: Whether there may be deleted documents in it.
  package init(
    _ plan: QueryPlan, output: Output, lastSequence: Int64, hasTombstones: Bool = true,
    usesCache: Bool = false
  ) {
    self.usesCache = usesCache
    self.plan = plan
    self.output = output
    self.hasTombstones = hasTombstones
    order = output == .count || output == .exists ? .unordered : plan.order
    let watermark = plan.indexes.map(\.watermark).min() ?? lastSequence
    floor = watermark < lastSequence ? watermark : nil
    repeats = order.isStreamed && plan.source.mayRepeat
    text = order.isStreamed || order == .score ? streamedRows() : sortedRows()
    if !repeats {
      if output == .count { text = "SELECT count(*) FROM (\(text))" }
      if output == .exists { text = "SELECT 1 FROM (\(text)) LIMIT 1" }
    }
  }

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

  /// Whether the source's rows alone decide and have what is asked of it, so that no document is looked at.
  private var isCovered: Bool {
    guard case .always = plan.residual, plan.source.isCovered else { return false }
    if case .columns = order { return true }
    return output != .documents && output != .texts && order != .sorted
  }

  // MARK: The two shapes

  /// In the order in which the source gives them, which may be the order asked for.
  private mutating func streamedRows() -> String {
    var parts: [String] = []
    let keys = streamedKeys
    for part in branches(isCovered: isCovered) {
      namesGone = namesGone || (part.isCached && givesDocuments)
      let columns =
        part.isCovered
        ? "\(part.alias).sequence, \(part.alias).id" : columns(part.isCached ? part.alias : "d")
      parts.append("SELECT \(columns)\(keys ?? "")\n  FROM \(part.text)")
    }
    for part in missedParts() {
      let keys = keys == nil ? "" : documentKeys()
      parts.append("SELECT \(isCovered ? "d.sequence, d.id" : columns("d"))\(keys)\n  FROM \(part)")
    }
    return parts.joined(separator: "\nUNION ALL ") + ordering(isMerged: keys != nil)
      + (repeats || namesGone ? "" : page())
  }

  /// The columns by which SQLite merges parts that each have the order, or `nil` where there is one part only.
  private var streamedKeys: String? {
    switch order {
    case .score: if case .text = plan.source { ", f.rank" } else { ", 1e999" }
    case .index(let first, let count, _) where hasMissedParts:
      (first..<first + count).map { ", e.t\($0), e.v\($0)" }.joined()
    default: nil
    }
  }

  /// The keys that an index would have for a document, as two columns a sorted field. What is not in the text index yet
  /// has no score, and comes last.
  private mutating func documentKeys() -> String {
    if case .score = order { return ", 1e999" }
    var keys = ""
    for field in plan.sort.fields.indices {
      let sort = sortObject()
      keys += ", cdt_sort_tag(\(sort), \(field), d.body), cdt_sort_value(\(sort), \(field), d.body)"
    }
    return keys
  }

  /// Sorted by columns of the index, or by keys that a function makes of the bodies. Only sequences are sorted; documents
  /// are fetched for the page.
  private mutating func sortedRows() -> String {
    var parts: [String] = []
    let source = sortedSource(isCovered: isCovered)
    let alias = isCovered || source.isCached ? "e" : "d"
    if case .columns(let columns) = order {
      let keys = columns.map { ", e.t\($0), e.v\($0)" }.joined()
      parts.append("SELECT \(alias).sequence AS sequence, \(alias).id AS id\(keys) FROM \(source.text)")
      for part in missedParts(isSorted: true) {
        let keys = documentKeys()
        parts.append("SELECT d.sequence, d.id\(keys) FROM \(part)")
      }
    } else {
      parts.append(keyedRows(of: source))
      for part in missedParts(isSorted: true) {
        parts.append("SELECT d.sequence, d.id, cdt_order(\(sortObject())\(sortedColumns)) FROM \(part)")
      }
    }
    let ordering = order == .sorted ? "\nORDER BY k, id" : keyOrdering(from: 3)
    let sorted = parts.joined(separator: "\nUNION ALL ") + ordering + page()
    guard givesDocuments else { return "SELECT sequence, id FROM (\(sorted))" }
    let join = usesCache ? cachedJoin("s") : Self.join("s")
    return "SELECT \(columns(usesCache ? "s" : "d"))\n  FROM (\(sorted)) s \(join)"
  }

  /// The source with the keys of its documents. Where nothing else is asked of documents, so that no other condition can
  /// come later, those that can't be among the first are left out before SQLite sorts.
  private mutating func keyedRows(of source: Branch) -> String {
    let alias = source.isCached ? "e" : "d"
    let columns = "SELECT \(alias).sequence AS sequence, \(alias).id AS id"
    guard let wanted = firstsWanted else {
      return "\(columns), cdt_order(\(sortObject())\(sortedColumns)) AS k FROM \(source.text)"
    }
    let sort = parameter(.object(SortObject(plan.sort, wanted: wanted)))
    return "\(columns), cdt_kept(\(sort)) AS k FROM \(source.text) AND cdt_keep(\(sort)\(sortedColumns))"
  }

  /// How many of the source's documents `cdt_keep` is to keep, or `nil` where it can't be asked.
  var firstsWanted: Int? {
    let (wanted, overflows) = plan.limit.addingReportingOverflow(plan.skip)
    guard order == .sorted, case .always = plan.residual, plan.source.isCovered, plan.limit > 0, !overflows,
      wanted <= Self.mostFirsts
    else { return nil }
    return wanted
  }

  private static let mostFirsts = 1_000

  /// What of a document its place in the order depends on.
  private var sortedColumns: String {
    plan.sort.takesDocumentFields ? ", d.body, d.id, d.revision" : ", d.body"
  }

  /// - Parameter alias: The table that has the sequence and the id of every row.
  private func columns(_ alias: String) -> String {
    switch output {
    case .documents:
      "coalesce(d.written, d.sequence), \(alias).id, d.revision, d.body, d.attachments, d.number"
        + (usesCache ? ", \(alias).sequence" : "")
    case .texts: "d.body, \(alias).id, d.revision, \(alias).sequence"
    case .ids, .count, .exists: "\(alias).sequence, \(alias).id"
    }
  }

  // MARK: Order and page

  private func ordering(isMerged: Bool) -> String {
    let firstKey = output == .documents ? (usesCache ? 8 : 7) : output == .texts ? 5 : 3
    switch order {
    case .unordered, .sorted, .columns: return ""
    case .id(let isDescending): return "\nORDER BY d.id" + (isDescending ? " DESC" : "")
    case .score: return isMerged ? "\nORDER BY \(firstKey), 2" : ""
    case .index: return isMerged ? keyOrdering(from: firstKey) : indexOrdering()
    }
  }

  /// The order by key columns, two a field, and then the id, which is the second column.
  private func keyOrdering(from first: Int) -> String {
    let keys = plan.sort.fields.enumerated().flatMap { field in
      let direction = field.element.isDescending ? " DESC" : ""
      return ["\(first + 2 * field.offset)\(direction)", "\(first + 2 * field.offset + 1)\(direction)"]
    }
    return "\nORDER BY " + (keys + ["2"]).joined(separator: ", ")
  }

  /// The index's own order; the id is the key's last part.
  private func indexOrdering() -> String {
    guard case .index(let first, _, _) = order else { return "" }
    let keys = plan.sort.fields.enumerated().map { number, field in
      let direction = field.isDescending ? " DESC" : ""
      return "e.t\(first + number)\(direction), e.v\(first + number)\(direction)"
    }
    return "\nORDER BY " + keys.joined(separator: ", ") + ", e.id"
  }

  private mutating func page() -> String {
    guard plan.limit > 0 || plan.skip > 0 || !order.isStreamed else { return "" }
    let limit = parameter(.int(plan.limit > 0 ? Int64(plan.limit) : -1))
    return "\nLIMIT \(limit) OFFSET \(parameter(.int(Int64(plan.skip))))"
  }

  // MARK: Parameters

  mutating func parameter(_ parameter: Parameter) -> String {
    parameters.append(parameter)
    return "?\(parameters.count)"
  }

  private mutating func sortObject() -> String {
    parameter(.object(SortObject(plan.sort)))
  }
}
