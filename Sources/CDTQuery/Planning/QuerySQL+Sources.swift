/// What follows FROM: the rows of a plan's source, and the documents that those do not stand for.
extension QuerySQL {
  /// One SELECT's source, which gives a row as soon as it finds one. Unless the rows are enough, documents are joined as
  /// `d`.
  mutating func writeBranch(_ source: QueryPlan.Source) {
    switch source {
    case .nothing: sql.write("documents d WHERE 0")
    case .scan:
      writeEveryDocument()
      writeMatching(plan.residual)
    case .ids(let ids):
      writeDocuments(ids)
      writeMatching(plan.residual)
    case .index, .intersection, .text, .union:
      writeTables(of: source)
      if isCovered {
        sql.write(" WHERE ")
        writeConditions(on: source)
        writeFresh()
      } else {
        let isCached = isCached(source)
        if isCached { writeCachedJoin(source.alias) } else { writeJoin(source.alias) }
        sql.write("\n WHERE ")
        writeConditions(on: source)
        writeMatching(plan.residual, sequenceOf: isCached ? source.alias : "d")
      }
    }
  }

  /// Where nothing is deleted, nothing is asked of a row. Then SQLite could take ids from their index, in another order
  /// than that of whole documents.
  private mutating func writeEveryDocument() {
    if hasTombstones {
      sql.write("documents d WHERE NOT d.deleted")
    } else {
      sql.write(order == .unordered ? "documents d NOT INDEXED WHERE 1" : "documents d WHERE 1")
    }
  }

  /// The source as one part without repetitions, for a sort. Documents kept apart are among those of a union, as another
  /// branch may give them.
  mutating func writeSortedSource() {
    let source = plan.source
    guard source.mayRepeat else { return writeBranch(source) }
    if isUnion, hasApart {
      sql.write("(SELECT sequence FROM ")
      writeSet(source)
      sql.write(" UNION SELECT sequence FROM ")
      writeApart()
      sql.write(") e")
    } else {
      sql.write("(SELECT DISTINCT sequence FROM ")
      writeSet(source)
      sql.write(") e")
    }
    writeJoin("e")
    sql.write(" WHERE 1")
    writeMatching(plan.residual)
  }

  /// Sequences, perhaps repeated, as a table.
  private mutating func writeSet(_ source: QueryPlan.Source) {
    sql.write("(SELECT ")
    switch source {
    case .union(let members):
      for (number, member) in members.enumerated() {
        sql.write(number > 0 ? " UNION ALL SELECT sequence FROM " : "sequence FROM ")
        writeSet(member)
      }
    case .ids(let ids):
      sql.write("d.sequence FROM ")
      writeDocuments(ids)
    default:
      sql.write(source.alias)
      sql.write(".sequence FROM ")
      writeTables(of: source)
      sql.write(" WHERE ")
      writeConditions(on: source)
    }
    sql.write(")")
  }

  private var isUnion: Bool {
    if case .union = plan.source { true } else { false }
  }

  /// CROSS keeps SQLite from starting at the documents.
  mutating func writeJoin(_ alias: StaticString) {
    sql.write(" CROSS JOIN documents d ON d.sequence = ")
    sql.write(alias)
    sql.write(".sequence")
  }

  /// Joins documents that the reader does not have.
  ///
  /// `cdt_wanted` gives the sequence of a document that has to be looked up. Of one that is in the reader's cache it gives
  /// NULL, so that nothing is looked up; then its columns are NULL, and the functions and ``RunningQuery`` take the
  /// document from there. A row whose document has moved on is found in neither place, and has to be left out by whoever
  /// asks for its body.
  mutating func writeCachedJoin(_ alias: StaticString) {
    leavesToCache = true
    sql.write(" LEFT JOIN documents d ON d.sequence = cdt_wanted(")
    write(.cache)
    sql.write(", ")
    sql.write(alias)
    sql.write(".sequence)")
  }

  /// Whether a branch joins documents by ``writeCachedJoin(_:)``: whether each row is asked for its body.
  func isCached(_ source: QueryPlan.Source) -> Bool {
    guard usesCache, !isCovered, source.isCovered else { return false }
    switch source {
    case .nothing, .scan, .ids: return false
    case .index, .intersection, .text, .union: break
    }
    if case .always = plan.residual { return order.isStreamed ? givesDocuments : firstsWanted != nil }
    return true
  }

  /// The table that has the sequence and the id of every row of ``writeSortedSource()``.
  var sortedAlias: StaticString {
    !plan.source.mayRepeat && isCached(plan.source) ? plan.source.alias : "d"
  }

  /// What leaves out the rows of documents that have changed since, where documents are not joined.
  private mutating func writeFresh() {
    guard let floor else { return }
    sql.write(" AND e.id NOT IN (SELECT id FROM documents WHERE sequence > ")
    write(.int(floor))
    sql.write(")")
  }

  private mutating func writeDocuments(_ ids: [String]) {
    if ids.count == 1 {
      sql.write("documents d WHERE d.id = ")
      write(.text(ids[0]))
      sql.write(" AND NOT d.deleted")
    } else {
      writeMembers(ids.map { IndexKey.string(Array($0.utf8)) })
      sql.write(" m CROSS JOIN documents d ON d.id = m.v WHERE NOT d.deleted")
    }
    if let floor {
      sql.write(" AND d.sequence <= ")
      write(.int(floor))
    }
  }

  // MARK: Rows

  /// The tables of an index's rows; its own table is `e`, the text index's `f`.
  private mutating func writeTables(of source: QueryPlan.Source) {
    switch source {
    case .index(let access):
      for (number, field) in access.fields.enumerated() {
        guard case .points(let keys) = field, keys.count > 1 else { continue }
        writeMembers(keys)
        sql.write(" m", Int64(number), " CROSS JOIN ")
      }
      sql.write("query.entries_", access.index.number, " e")
    case .text(let access): sql.write("query.text_", access.index.number, " f")
    case .intersection(let first, _): writeTables(of: first)
    case .nothing, .scan, .ids, .union:
      writeSet(source)
      sql.write(" e")
    }
  }

  private mutating func writeConditions(on source: QueryPlan.Source) {
    switch source {
    case .index(let access): writeConditions(on: access)
    case .text(let access):
      sql.write("f.text_", access.index.number, " MATCH ")
      write(.text(access.match))
      if needsLimit(access.index) {
        sql.write(" AND ")
        writeLimit("f")
      }
    case .intersection(let first, let others):
      writeConditions(on: first)
      for other in others {
        sql.write("\n   AND ")
        sql.write(first.alias)
        sql.write(".sequence IN (SELECT sequence FROM ")
        writeSet(other)
        sql.write(")")
      }
    case .nothing, .scan, .ids, .union: sql.write("1")
    }
  }

  private mutating func writeConditions(on access: IndexAccess) {
    var isFirst = true
    func separate(_ sql: inout SQLText) {
      if !isFirst { sql.write(" AND ") }
      isFirst = false
    }
    for (number, field) in access.fields.enumerated() {
      if case .points(let keys) = field, keys.count > 1 {
        separate(&sql)
        let number = Int64(number)
        sql.write("e.t", number, " = m")
        sql.write("", number, ".t AND e.v")
        sql.write("", number, " = m")
        sql.write("", number, ".v")
      } else if field.leavesOut {
        separate(&sql)
        write(field, number)
      }
      if let absence = access.absence[number] {
        separate(&sql)
        write(absence, number)
      }
    }
    for filter in access.filters {
      separate(&sql)
      write(filter.condition)
    }
    if needsLimit(access.index) {
      separate(&sql)
      writeLimit("e")
    }
    if isFirst { sql.write("1") }
  }

  /// Whether an index has rows of documents that are put to the matcher.
  private func needsLimit(_ entry: IndexCatalog.Entry) -> Bool {
    guard let floor else { return false }
    return entry.watermark > floor || entry.mayBeAhead
  }

  /// What leaves those rows out.
  private mutating func writeLimit(_ alias: StaticString) {
    sql.write(alias)
    sql.write(".sequence <= ")
    write(.int(floor ?? 0))
  }

  // MARK: What rows do not stand for

  /// Whether there may be documents that the source's rows do not stand for.
  var hasMissedParts: Bool { hasTail || hasApart }

  /// Whether there are documents above the watermark that may match.
  private var hasTail: Bool { floor != nil && !leavesTail && tail?.isEmpty != true }

  /// What the documents that are not in the indexes yet cost the statement, as a number of documents that are put to the
  /// matcher one after the other.
  var tailCost: Int64 {
    guard let floor else { return 0 }
    let all = lastSequence - floor
    let matched = leavesTail ? 0 : tail.map { Int64($0.count) } ?? all
    return isCovered ? all + matched : matched
  }

  /// Documents that index rows do not stand for.
  enum MissedPart {
    /// Those above the watermark.
    case tail
    /// Those that have too many combinations of values for the indexes used.
    case apart
  }

  /// - Parameter isSorted: Whether ``writeSortedSource()`` has written the source.
  func missedParts(isSorted: Bool = false) -> [MissedPart] {
    guard hasMissedParts else { return [] }
    let tail: [MissedPart] = hasTail ? [.tail] : []
    return hasApart && !(isSorted && isUnion) ? [.apart] + tail : tail
  }

  mutating func writeMissed(_ part: MissedPart) {
    switch part {
    case .tail:
      if let tail {
        // None of them is deleted.
        writeMembers(tail.map { IndexKey($0) })
        sql.write(" m CROSS JOIN documents d ON d.sequence = m.v WHERE 1")
      } else {
        sql.write("documents d WHERE d.sequence > ")
        write(.int(floor ?? 0))
        sql.write(" AND NOT d.deleted")
      }
    case .apart:
      writeApart()
      sql.write(" e")
      writeJoin("e")
      sql.write(" WHERE 1")
    }
    writeMatching(plan.clause, isDeferred: true)
  }

  private mutating func writeApart() {
    sql.write("(SELECT DISTINCT sequence FROM query.apart WHERE index_number IN (")
    let numbers = Set(plan.indexes.filter(\.hasApart).map(\.number)).sorted()
    for (position, number) in numbers.enumerated() { sql.write(position > 0 ? ", " : "", number) }
    sql.write(")")
    if let floor {
      sql.write(" AND sequence <= ")
      write(.int(floor))
    }
    sql.write(")")
  }

  /// - Parameter isDeferred: Whether it is often not asked of any document.
  private mutating func writeMatching(
    _ clause: Clause, sequenceOf alias: StaticString = "d", isDeferred: Bool = false
  ) {
    if case .always = clause { return }
    let match = MatchObject(clause, text: plan.text, isDeferred: isDeferred)
    sql.write(" AND cdt_match(")
    write(.object(match))
    if match.readsDocumentFields { return sql.write(", d.body, d.id, d.revision)") }
    sql.write(", d.body, ")
    sql.write(alias)
    sql.write(".sequence)")
  }
}

extension QueryPlan.Source {
  /// The name of the table that has the columns `sequence` and `id`, where only rows are read.
  var alias: StaticString {
    switch self {
    case .index, .union: "e"
    case .text: "f"
    case .intersection(let first, _): first.alias
    case .nothing, .scan, .ids: "d"
    }
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
