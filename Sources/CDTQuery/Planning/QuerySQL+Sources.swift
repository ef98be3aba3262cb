/// What follows FROM: the rows of a plan's source, and the documents that those do not stand for.
extension QuerySQL {
  /// One SELECT's source. Unless the rows are enough, documents are joined as `d`.
  struct Branch {
    let text: String
    /// The table that has the columns `sequence` and `id`.
    let alias: String
    let isCovered: Bool
    /// Whether documents are joined by ``cachedJoin(_:)``, so that their columns may be NULL.
    var isCached = false
  }

  /// The source in parts that give a row as soon as they find one.
  mutating func branches(isCovered: Bool) -> [Branch] {
    guard case .union(let members) = plan.source else { return [branch(plan.source, isCovered: isCovered)] }
    return members.map { branch($0, isCovered: isCovered) }
  }

  private mutating func branch(_ source: QueryPlan.Source, isCovered: Bool) -> Branch {
    switch source {
    case .nothing: return Branch(text: "documents d WHERE 0", alias: "d", isCovered: false)
    case .scan:
      return Branch(text: everyDocument + matching(plan.residual), alias: "d", isCovered: false)
    case .ids(let ids):
      return Branch(text: documents(ids) + matching(plan.residual), alias: "d", isCovered: isCovered)
    case .index, .intersection, .text, .union:
      let rows = rows(of: source)
      if isCovered { return Branch(text: rows.text + fresh(), alias: rows.alias, isCovered: true) }
      let isCached = mayUseCache(for: source)
      let join = isCached ? cachedJoin(rows.alias) : Self.join(rows.alias)
      return Branch(
        text: "\(rows.tables) \(join)\n WHERE \(rows.conditions)"
          + matching(plan.residual, sequence: isCached ? "\(rows.alias).sequence" : "d.sequence"),
        alias: rows.alias, isCovered: false, isCached: isCached)
    }
  }

  /// Where nothing is deleted, nothing is asked of a row. Then SQLite could take ids from their index, in another order
  /// than that of whole documents.
  private var everyDocument: String {
    if hasTombstones { return "documents d WHERE NOT d.deleted" }
    return order == .unordered ? "documents d NOT INDEXED WHERE 1" : "documents d WHERE 1"
  }

  /// The source as one part without repetitions, for a sort. Documents kept apart are among those of a union, as another
  /// branch may give them.
  mutating func sortedSource(isCovered: Bool) -> Branch {
    let source = plan.source
    guard source.mayRepeat else { return branch(source, isCovered: isCovered) }
    let all: String
    if isUnion, let apart = apart() {
      all = "(SELECT sequence FROM \(set(source)) UNION SELECT sequence FROM \(apart))"
    } else {
      all = "(SELECT DISTINCT sequence FROM \(set(source)))"
    }
    return Branch(
      text: "\(all) e \(Self.join("e")) WHERE 1" + matching(plan.residual), alias: "e", isCovered: false)
  }

  /// Sequences, perhaps repeated, as a table.
  private mutating func set(_ source: QueryPlan.Source) -> String {
    switch source {
    case .union(let members):
      return "(" + members.map { "SELECT sequence FROM \(set($0))" }.joined(separator: " UNION ALL ") + ")"
    case .ids(let ids): return "(SELECT d.sequence FROM \(documents(ids)))"
    default:
      let rows = rows(of: source)
      return "(SELECT \(rows.alias).sequence FROM \(rows.text))"
    }
  }

  private var isUnion: Bool {
    if case .union = plan.source { true } else { false }
  }

  /// CROSS keeps SQLite from starting at the documents.
  static func join(_ alias: String) -> String {
    "CROSS JOIN documents d ON d.sequence = \(alias).sequence"
  }

  /// Joins documents that the reader does not have.
  ///
  /// `cdt_wanted` gives the sequence of a document that has to be looked up. Of one that is in the reader's cache it gives
  /// NULL, so that nothing is looked up; then its columns are NULL, and the functions and ``RunningQuery`` take the
  /// document from there. A row whose document has moved on is found in neither place, and has to be left out by whoever
  /// asks for its body.
  mutating func cachedJoin(_ alias: String) -> String {
    leavesToCache = true
    return "LEFT JOIN documents d ON d.sequence = cdt_wanted(\(parameter(.cache)), \(alias).sequence)"
  }

  /// Whether a source's documents can be joined by ``cachedJoin(_:)``: whether each row is asked for its body.
  private func mayUseCache(for source: QueryPlan.Source) -> Bool {
    guard usesCache, source.isCovered else { return false }
    if case .always = plan.residual { return order.isStreamed ? givesDocuments : firstsWanted != nil }
    return true
  }

  /// What leaves out the rows of documents that have changed since, where documents are not joined.
  private mutating func fresh() -> String {
    guard let floor else { return "" }
    return " AND e.id NOT IN (SELECT id FROM documents WHERE sequence > \(parameter(.int(floor))))"
  }

  // MARK: Rows

  /// Rows of an index as tables and conditions; the index's own table is `e`, the text index's `f`.
  private struct Rows {
    var tables: String
    var conditions: String
    let alias: String
    var text: String { "\(tables) WHERE \(conditions)" }
  }

  private mutating func rows(of source: QueryPlan.Source) -> Rows {
    switch source {
    case .index(let access): return entries(access)
    case .text(let access): return words(access)
    case .intersection(let first, let others):
      var rows = rows(of: first)
      for other in others {
        rows.conditions += "\n   AND \(rows.alias).sequence IN (SELECT sequence FROM \(set(other)))"
      }
      return rows
    case .nothing, .scan, .ids, .union:
      return Rows(tables: set(source) + " e", conditions: "1", alias: "e")
    }
  }

  private mutating func documents(_ ids: [String]) -> String {
    var text: String
    if ids.count == 1 {
      text = "documents d WHERE d.id = \(parameter(.text(ids[0]))) AND NOT d.deleted"
    } else {
      let members = members(ids.map { IndexKey.string(Array($0.utf8)) })
      text = "\(members) m CROSS JOIN documents d ON d.id = m.v WHERE NOT d.deleted"
    }
    if let floor { text += " AND d.sequence <= \(parameter(.int(floor)))" }
    return text
  }

  private mutating func entries(_ access: IndexAccess) -> Rows {
    var tables: [String] = []
    var conditions: [String] = []
    for (number, field) in access.fields.enumerated() {
      if case .points(let keys) = field, keys.count > 1 {
        tables.append("\(members(keys)) m\(number)")
        conditions.append("e.t\(number) = m\(number).t AND e.v\(number) = m\(number).v")
      } else if let condition = condition(field, number) {
        conditions.append(condition)
      }
      if let absence = access.absence[number] { conditions.append(condition(absence, number)) }
    }
    for filter in access.filters { conditions.append(condition(filter.condition)) }
    if let limit = upToFloor(access.index, "e") { conditions.append(limit) }
    let table = "\(IndexFile.schema).\(IndexFile.table(access.index.number)) e"
    return Rows(
      tables: (tables + [table]).joined(separator: " CROSS JOIN "),
      conditions: conditions.isEmpty ? "1" : conditions.joined(separator: " AND "), alias: "e")
  }

  /// The rows of the text index.
  private mutating func words(_ access: TextAccess) -> Rows {
    let table = TextIndexTable.name(access.index.number)
    var condition = "f.\(table) MATCH \(parameter(.text(access.match)))"
    if let limit = upToFloor(access.index, "f") { condition += " AND \(limit)" }
    return Rows(tables: "\(IndexFile.schema).\(table) f", conditions: condition, alias: "f")
  }

  /// What leaves out the rows of documents that are put to the matcher, where an index has any.
  private mutating func upToFloor(_ entry: IndexCatalog.Entry, _ alias: String) -> String? {
    guard let floor, entry.watermark > floor || entry.mayBeAhead else { return nil }
    return "\(alias).sequence <= \(parameter(.int(floor)))"
  }

  // MARK: What rows do not stand for

  /// Whether there may be documents that the source's rows do not stand for.
  var hasMissedParts: Bool { floor != nil || plan.indexes.contains(where: \.hasApart) }

  /// The documents that the index rows do not stand for: those above the watermark, and those kept apart.
  ///
  /// - Parameter isSorted: Whether ``sortedSource(isCovered:)`` is the source.
  mutating func missedParts(isSorted: Bool = false) -> [String] {
    var parts: [String] = []
    if let floor {
      parts.append(
        "documents d WHERE d.sequence > \(parameter(.int(floor))) AND NOT d.deleted" + matching(plan.clause))
    }
    if !(isSorted && isUnion), let apart = apart() {
      parts.append("\(apart) e \(Self.join("e")) WHERE 1" + matching(plan.clause))
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

  private mutating func matching(_ clause: Clause, sequence: String = "d.sequence") -> String {
    if case .always = clause { return "" }
    let match = MatchObject(clause, text: plan.text)
    let others = match.readsDocumentFields ? "d.id, d.revision" : sequence
    return " AND cdt_match(\(parameter(.object(match))), d.body, \(others))"
  }
}

extension QueryPlan.Order {
  /// Whether rows come in the order asked for, so that a limit ends the work.
  var isStreamed: Bool {
    switch self {
    case .unordered, .index, .id: true
    case .columns, .score, .sorted: false
    }
  }
}
