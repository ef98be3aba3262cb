/// The order of a statement's rows, and the page that is cut of them.
extension QuerySQL {
  // MARK: Rows that are sorted

  /// Sorted by columns of the index, or by keys that a function makes of the bodies. Only sequences are sorted; documents
  /// are fetched for the page.
  mutating func writeSortedRows() {
    sql.write("SELECT ")
    if givesDocuments { writeColumns(usesCache ? "s" : "d") } else { sql.write("sequence, id") }
    sql.write(givesDocuments ? "\n  FROM (" : " FROM (")
    if case .columns(let columns) = order {
      let alias = isCovered ? "e" : sortedAlias
      sql.write("SELECT ")
      sql.write(alias)
      sql.write(".sequence AS sequence, ")
      sql.write(alias)
      sql.write(".id AS id")
      for column in columns { writeKeyColumns(column) }
      sql.write(" FROM ")
      writeSortedSource()
    } else {
      writeKeyedRows()
    }
    for part in missedParts(isSorted: true) {
      sql.write("\nUNION ALL SELECT d.sequence, d.id")
      if case .columns = order {
        writeDocumentKeys()
      } else {
        sql.write(", cdt_order(")
        write(.object(SortObject(plan.sort)))
        writeSortedColumns()
        sql.write(")")
      }
      sql.write(" FROM ")
      writeMissed(part)
    }
    if order == .sorted { sql.write("\nORDER BY k, id") } else { writeKeyOrdering(from: 3) }
    writePage()
    sql.write(")")
    guard givesDocuments else { return }
    sql.write(" s")
    if usesCache { writeCachedJoin("s") } else { writeJoin("s") }
  }

  /// The source with the keys of its documents. Where nothing else is asked of documents, so that no other condition can
  /// come later, those that can't be among the first are left out before SQLite sorts.
  private mutating func writeKeyedRows() {
    sql.write("SELECT ")
    sql.write(sortedAlias)
    sql.write(".sequence AS sequence, ")
    sql.write(sortedAlias)
    sql.write(".id AS id, ")
    guard let wanted = firstsWanted else {
      sql.write("cdt_order(")
      write(.object(SortObject(plan.sort)))
      writeSortedColumns()
      sql.write(") AS k FROM ")
      return writeSortedSource()
    }
    let sort = add(.object(SortObject(plan.sort, wanted: wanted)))
    sql.write("cdt_kept(?", sort, ") AS k FROM ")
    writeSortedSource()
    sql.write(" AND cdt_keep(?", sort)
    writeSortedColumns()
    sql.write(")")
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
  private mutating func writeSortedColumns() {
    sql.write(plan.sort.takesDocumentFields ? ", d.body, d.id, d.revision" : ", d.body")
  }

  // MARK: Order and page

  mutating func writeOrdering(isMerged: Bool) {
    let firstKey: Int64 = output == .documents ? (usesCache ? 8 : 7) : output == .texts ? 5 : 3
    switch order {
    case .unordered, .sorted, .columns: break
    case .id(let isDescending): sql.write(isDescending ? "\nORDER BY d.id DESC" : "\nORDER BY d.id")
    case .score: sql.write("\nORDER BY ", firstKey, ", 2")
    case .index(let first, _, _):
      if isMerged { writeKeyOrdering(from: firstKey) } else { writeIndexOrdering(from: Int64(first)) }
    }
  }

  /// The order by key columns, two a field, and then the id, which is the second column.
  private mutating func writeKeyOrdering(from first: Int64) {
    var column = first
    sql.write("\nORDER BY ")
    for field in plan.sort.fields {
      let rest: StaticString = field.isDescending ? " DESC, " : ", "
      sql.write("", column, rest)
      sql.write("", column + 1, rest)
      column += 2
    }
    sql.write("2")
  }

  /// The index's own order; the id is the key's last part.
  private mutating func writeIndexOrdering(from first: Int64) {
    var column = first
    sql.write("\nORDER BY ")
    for field in plan.sort.fields {
      let rest: StaticString = field.isDescending ? " DESC, " : ", "
      sql.write("e.t", column, rest)
      sql.write("e.v", column, rest)
      column += 1
    }
    sql.write("e.id")
  }

  mutating func writePage() {
    guard plan.limit > 0 || plan.skip > 0 || !order.isStreamed else { return }
    sql.write("\nLIMIT ")
    write(.int(plan.limit > 0 ? Int64(plan.limit) : -1))
    sql.write(" OFFSET ")
    write(.int(Int64(plan.skip)))
  }
}
