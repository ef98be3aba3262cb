import JSON

/// A plan as one SQL statement with its parameters.
///
/// An index on (name, age), asked for name = X and age ≥ Y, limit 25:
///
/// ```sql
/// SELECT d.sequence, d.id, d.revision, d.body
///   FROM query.entries_1 e CROSS JOIN documents d ON d.sequence = e.sequence
///  WHERE e.t0 = ? AND e.v0 = ? AND (e.t1, e.v1) >= (?, ?) AND e.t1 <= ?
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
  }

  package private(set) var text = ""
  package private(set) var parameters: [Parameter] = []

  private let plan: QueryPlan
  private let output: Output
  /// The lowest watermark of the indexes used, if documents lie above it; those go to the matcher.
  private let floor: Int64?

  /// - Parameter lastSequence: The newest sequence in the snapshot that the statement runs in.
  package init(_ plan: QueryPlan, output: Output, lastSequence: Int64) {
    self.plan = plan
    self.output = output
    let watermark = plan.indexes.map(\.watermark).min() ?? lastSequence
    floor = watermark < lastSequence ? watermark : nil
    switch output {
    case .documents, .texts, .ids: text = rows()
    case .count: text = "SELECT count(*) FROM (\(rows()))"
    case .exists: text = "SELECT 1 FROM (\(rows())) LIMIT 1"
    }
  }

  /// Whether the index alone decides and gives what is wanted, so that no document is looked at.
  package var isIndexOnly: Bool {
    guard case .index(let access) = plan.source, floor == nil, !access.index.hasApart else { return false }
    guard case .always = plan.residual, !givesDocuments else { return false }
    return plan.order != .sorted || output == .count || output == .exists
  }

  private var givesDocuments: Bool { output == .documents || output == .texts }

  // MARK: The three shapes

  /// The rows of the result, in order and cut to the page.
  private mutating func rows() -> String {
    if isIndexOnly { return indexOnlyRows() }
    if case .sorted = plan.order, givesDocuments || output == .ids { return sortedRows() }
    return streamedRows()
  }

  /// From the index alone.
  private mutating func indexOnlyRows() -> String {
    guard case .index(let access) = plan.source else { return "" }
    let distinct = access.mayRepeat ? "DISTINCT " : ""
    let columns = output == .ids ? "e.sequence, e.id" : "e.sequence"
    let rows = "SELECT \(distinct)\(columns) FROM \(entries(access).text)"
    return rows + (output == .ids ? indexOrdering() : "") + page()
  }

  /// In the order in which the source gives them, which may be the order asked for.
  private mutating func streamedRows() -> String {
    let missed = missedParts()
    if case .score = plan.order, givesDocuments || output == .ids { return scoredRows(missed) }
    guard !missed.isEmpty, case .index(let first, let count, _) = plan.order else {
      let parts = ([candidates()] + missed).map { "SELECT \(columns)\n  FROM \($0)" }
      return parts.joined(separator: "\nUNION ALL ") + ordering() + page()
    }
    // SQLite merges the parts, each in its own order, by these keys.
    let keys = (first..<first + count).map { ", e.t\($0), e.v\($0)" }.joined()
    var parts = ["SELECT \(columns)\(keys)\n  FROM \(candidates())"]
    for part in missed { parts.append("SELECT \(columns)\(documentKeys())\n  FROM \(part)") }
    return parts.joined(separator: "\nUNION ALL ") + mergedOrdering(count) + page()
  }

  /// By the scores of the text index. What is not in it yet has none, and comes last.
  private mutating func scoredRows(_ missed: [String]) -> String {
    var rank = "1e999"
    if case .text = plan.source { rank = "f.rank" }
    var parts = ["SELECT \(columns), \(rank)\n  FROM \(candidates())"]
    for part in missed { parts.append("SELECT \(columns), 1e999\n  FROM \(part)") }
    return parts.joined(separator: "\nUNION ALL ") + "\nORDER BY \(columnCount + 1), 2" + page()
  }

  /// The keys that an index would have for a document, as two columns a sorted field.
  private mutating func documentKeys() -> String {
    var keys = ""
    for field in plan.sort.fields.indices {
      let sort = sortObject()
      keys += ", cdt_tag(\(sort), \(field), d.body), cdt_value(\(sort), \(field), d.body)"
    }
    return keys
  }

  /// Sorted by keys that a function makes of the bodies. Only sequences are sorted; bodies are fetched for the page.
  private mutating func sortedRows() -> String {
    var parts: [String] = []
    let order = sortObject()
    parts.append(
      "SELECT d.sequence AS sequence, d.id AS id, cdt_order(\(order), d.body, d.id, d.revision) AS k"
        + " FROM \(candidates())")
    for part in missedParts() {
      let order = sortObject()
      parts.append(
        "SELECT d.sequence, d.id, cdt_order(\(order), d.body, d.id, d.revision) FROM \(part)")
    }
    let sorted = parts.joined(separator: "\nUNION ALL ") + "\nORDER BY k, id" + page()
    guard givesDocuments else { return "SELECT sequence, id FROM (\(sorted))" }
    return "SELECT \(columns)\n  FROM (\(sorted)) s CROSS JOIN documents d ON d.sequence = s.sequence"
  }

  /// How many columns there are before those that rows are only ordered by.
  private var columnCount: Int {
    switch output {
    case .documents: 6
    case .texts: 3
    case .ids: 2
    case .count, .exists: 1
    }
  }

  private var columns: String {
    switch output {
    case .documents: "coalesce(d.written, d.sequence), d.id, d.revision, d.body, d.attachments, d.number"
    case .texts: "d.body, d.id, d.revision"
    case .ids: "d.sequence, d.id"
    case .count, .exists: "d.sequence"
    }
  }

  // MARK: Candidates

  /// The candidates with what they must satisfy, as what follows FROM.
  private mutating func candidates() -> String {
    switch plan.source {
    case .nothing: return "documents d WHERE 0"
    case .scan: return "documents d WHERE NOT d.deleted" + matching(plan.residual)
    case .ids(let ids): return documents(ids) + matching(plan.residual)
    case .index(let access):
      let rows = entries(access)
      guard access.mayRepeat else {
        return "\(rows.tables) \(Self.join)\n WHERE \(rows.conditions)" + matching(plan.residual)
      }
      return "(SELECT DISTINCT sequence FROM \(rows.text)) e \(Self.join) WHERE 1" + matching(plan.residual)
    case .text(let access):
      let words = words(access)
      return "\(words.tables) CROSS JOIN documents d ON d.sequence = f.sequence\n WHERE \(words.conditions)"
        + matching(plan.residual)
    case .union(let branches):
      var parts: [String] = []
      for branch in branches {
        switch branch {
        case .index(let access): parts.append("SELECT sequence FROM \(entries(access).text)")
        case .text(let access): parts.append("SELECT sequence FROM \(words(access).text)")
        }
      }
      if let apart = apart() { parts.append("SELECT sequence FROM \(apart)") }
      let rows = "(" + parts.joined(separator: " UNION ") + ") e"
      return "\(rows) \(Self.join) WHERE 1" + matching(plan.residual)
    }
  }

  /// CROSS keeps SQLite from starting at the documents.
  private static let join = "CROSS JOIN documents d ON d.sequence = e.sequence"

  /// The rows of an index that an access wants, as tables (the index's own is `e`) and conditions.
  private struct Rows {
    let tables: String
    let conditions: String
    var text: String { "\(tables) WHERE \(conditions)" }
  }

  private mutating func documents(_ ids: [String]) -> String {
    if ids.count == 1 {
      return "documents d WHERE d.id = \(parameter(.text(ids[0]))) AND NOT d.deleted"
    }
    let members = members(ids.map { IndexKey.string(Array($0.utf8)) })
    return "\(members) m CROSS JOIN documents d ON d.id = m.v WHERE NOT d.deleted"
  }

  private mutating func entries(_ access: IndexAccess) -> Rows {
    var tables: [String] = []
    var conditions: [String] = []
    for (number, field) in access.fields.enumerated() {
      switch field {
      case .points(let keys):
        switch keys.count {
        case 0: conditions.append("0")
        case 1:
          conditions.append("e.t\(number) = \(parameter(.int(keys[0].tag.rawValue)))")
          conditions.append("e.v\(number) = \(value(keys[0]))")
        default:
          tables.append("\(members(keys)) m\(number)")
          conditions.append("e.t\(number) = m\(number).t AND e.v\(number) = m\(number).v")
        }
      case .range(let lower, let upper):
        if let lower { conditions.append(bound(lower, number, key: ">", tag: ">=")) }
        if let upper { conditions.append(bound(upper, number, key: "<", tag: "<=")) }
      }
      if let absence = access.absence[number] { conditions.append(filter(absence, number)) }
    }
    if let floor, access.index.watermark > floor {
      conditions.append("e.sequence <= \(parameter(.int(floor)))")
    }
    let table = "\(IndexFile.schema).\(IndexFile.table(access.index.number)) e"
    return Rows(
      tables: (tables + [table]).joined(separator: " CROSS JOIN "),
      conditions: conditions.isEmpty ? "1" : conditions.joined(separator: " AND "))
  }

  /// The rows of the text index, as `f`.
  private mutating func words(_ access: TextAccess) -> Rows {
    let table = TextIndexTable.name(access.index.number)
    var condition = "f.\(table) MATCH \(parameter(.text(access.match)))"
    if let floor, access.index.watermark > floor {
      condition += " AND f.sequence <= \(parameter(.int(floor)))"
    }
    return Rows(tables: "\(IndexFile.schema).\(table) f", conditions: condition)
  }

  private mutating func bound(_ bound: FieldAccess.Bound, _ number: Int, key: String, tag: String) -> String {
    switch bound {
    case .tag(let type): return "e.t\(number) \(tag) \(parameter(.int(type.rawValue)))"
    case .key(let value, let inclusive):
      let comparison = inclusive ? "\(key)=" : key
      let wanted = "(\(parameter(.int(value.tag.rawValue))), \(self.value(value)))"
      return "(e.t\(number), e.v\(number)) \(comparison) \(wanted)"
    }
  }

  private func filter(_ absence: PredicateAccess.AbsenceFilter, _ number: Int) -> String {
    let bits = "(e.absent >> \(2 * number)) & 3"
    let nothing = IndexKey.Tag.nothing.rawValue
    switch absence {
    case .only(let wanted): return "\(bits) = \(wanted)"
    case .except(let unwanted): return "(e.t\(number) <> \(nothing) OR \(bits) <> \(unwanted))"
    }
  }

  /// Keys as a table with the columns t and v, one row a key, in order.
  private mutating func members(_ keys: [IndexKey]) -> String {
    let set = parameter(.object(KeySet(keys)))
    let again = parameter(.object(KeySet(keys)))
    return """
      (WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < \(keys.count)) \
      SELECT cdt_tag(\(set), i) AS t, cdt_value(\(again), i) AS v FROM n)
      """
  }

  /// The documents that the index rows do not stand for: those above the watermark, and those kept apart.
  private mutating func missedParts() -> [String] {
    var parts: [String] = []
    if let floor {
      parts.append(
        "documents d WHERE d.sequence > \(parameter(.int(floor))) AND NOT d.deleted" + matching(plan.clause))
    }
    if case .index = plan.source, let apart = apart() {
      parts.append("\(apart) e \(Self.join) WHERE 1" + matching(plan.clause))
    }
    return parts
  }

  /// The documents that have too many combinations of values for the indexes used.
  private mutating func apart() -> String? {
    let numbers = Set(plan.indexes.filter(\.hasApart).map(\.number)).sorted()
    guard !numbers.isEmpty else { return nil }
    let limit = floor.map { " AND sequence <= \(parameter(.int($0)))" } ?? ""
    return """
      (SELECT DISTINCT sequence FROM \(IndexFile.schema).apart \
      WHERE index_number IN (\(numbers.map(String.init).joined(separator: ", ")))\(limit))
      """
  }

  private mutating func matching(_ clause: Clause) -> String {
    if case .always = clause { return "" }
    let match = MatchObject(clause, text: plan.text)
    let others = match.readsDocumentFields ? "d.id, d.revision" : "d.sequence"
    return " AND cdt_match(\(parameter(.object(match))), d.body, \(others))"
  }

  // MARK: Order and page

  private func ordering() -> String {
    switch plan.order {
    case .unordered, .sorted, .score: ""
    case .id(let isDescending): "\nORDER BY d.id" + (isDescending ? " DESC" : "")
    case .index: indexOrdering()
    }
  }

  /// The order of several parts, by the key columns that follow the wanted ones, and then the id.
  private func mergedOrdering(_ count: Int) -> String {
    if output == .count || output == .exists { return "" }
    let firstKey = columnCount + 1
    let keys = (0..<count).flatMap { field in
      let direction = plan.sort.fields[field].isDescending ? " DESC" : ""
      return ["\(firstKey + 2 * field)\(direction)", "\(firstKey + 2 * field + 1)\(direction)"]
    }
    return "\nORDER BY " + (keys + ["2"]).joined(separator: ", ")
  }

  /// The index's own order; the id is the key's last part.
  private func indexOrdering() -> String {
    guard case .index(let first, _, _) = plan.order else { return "" }
    let keys = plan.sort.fields.enumerated().map { number, field in
      let direction = field.isDescending ? " DESC" : ""
      return "e.t\(first + number)\(direction), e.v\(first + number)\(direction)"
    }
    return "\nORDER BY " + keys.joined(separator: ", ") + ", e.id"
  }

  private mutating func page() -> String {
    guard plan.limit > 0 || plan.skip > 0 || plan.order == .sorted else { return "" }
    let limit = parameter(.int(plan.limit > 0 ? Int64(plan.limit) : -1))
    return "\nLIMIT \(limit) OFFSET \(parameter(.int(Int64(plan.skip))))"
  }

  // MARK: Parameters

  private mutating func parameter(_ parameter: Parameter) -> String {
    parameters.append(parameter)
    return "?\(parameters.count)"
  }

  private mutating func value(_ key: IndexKey) -> String {
    parameter(.key(key))
  }

  private mutating func sortObject() -> String {
    parameter(.object(SortObject(plan.sort)))
  }
}
