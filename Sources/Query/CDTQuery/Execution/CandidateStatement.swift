import CDTJSON
import CDTPlan
import CDTSQLite

/// A statement that returns candidates: the rows of an index, of a text search, or of the documents.
///
/// An index on (name, age) with the conditions name = X and age ≥ Y:
///
/// ```sql
/// SELECT d.number, d.id, d.text, d.stored_revision, d.attachments, coalesce(d.written, d.sequence)
///   FROM query.entries_1 e CROSS JOIN main.documents d ON d.number = e.document
///  WHERE e.v0 = ? AND e.t0 = ? AND e.v1 >= ? AND e.t1 = ?
/// ```
///
/// The statement runs once for each combination of looked-up values: a field with a condition on several values is
/// looked up for each.
struct CandidateStatement: Sendable {
  /// The kind of rows that a statement returns.
  enum Form: Sendable {
    /// Documents.
    case documents
    /// The first columns of documents.
    case parts
    /// Numbers and texts.
    case texts
    /// Numbers and ids.
    case idsOnly
    /// The number of rows.
    case count
    /// Columns of index rows, which meet another condition and are grouped: what is appended to the conditions.
    case values(
      String, condition: String = "", grouping: String = "", table: StaticString = IndexFile.tablePrefix)
  }

  enum Value: Sendable {
    case int(Int64)
    case text(String)
    case double(Double)
    case key(IndexKey)
  }

  /// Parameters that change with each run.
  struct Lookup: Sendable {
    /// The parameter of the key's value; the next one is its tag, if the statement has one.
    let position: Int
    /// In the order of the lookups.
    var keys: [IndexKey]
    let hasTag: Bool
    /// The field of the index, if it is one.
    var field: Int?
  }

  let sql: String
  /// The values of the parameters, in order.
  let values: [Value]
  var lookups: [Lookup] = []
  /// Whether the candidates must be checked against the whole selector, not only the residual.
  var isUnindexed = false

  /// The number of runs.
  var runs: Int { lookups.reduce(1) { $0 * $1.keys.count } }

  /// Binds the parameters for a run.
  func bind(run: Int, to statement: Statement) throws(SQLiteError) {
    for (index, value) in values.enumerated() {
      switch value {
      case .int(let int): try statement.bind(int, at: index + 1)
      case .text(let text): try statement.bind(text, at: index + 1)
      case .double(let double): try statement.bind(double, at: index + 1)
      case .key(let key): try statement.bind(value: key, at: index + 1)
      }
    }
    var run = run
    for lookup in lookups.reversed() {
      let key = lookup.keys[run % lookup.keys.count]
      try statement.bind(value: key, at: lookup.position + 1)
      if lookup.hasTag { try statement.bind(key.tag.rawValue, at: lookup.position + 2) }
      run /= lookup.keys.count
    }
  }

  // MARK: Sources

  /// The statements that return the candidates of a source, in order; empty for an intersection, whose parts run
  /// separately.
  ///
  /// - Parameter start: The position after which the candidates begin, if they are in an order.
  static func of(
    _ source: QueryPlan.Source, order: QueryPlan.Order, after start: Bookmark? = nil, completeUpTo: Int64?,
    form: Form
  ) -> [CandidateStatement] {
    switch source {
    case .nothing: []
    case .scan(let range): [scan(range, order, form)]
    case .ids(let ids): [documents(ids, order, form)]
    case .index(let access): [index(access, order, start, completeUpTo, form)]
    case .text(let access): [text(access, order, start, completeUpTo, form)]
    case .union(let branches):
      branches.flatMap { of($0, order: .unordered, completeUpTo: completeUpTo, form: form) }
    case .intersection(let first, _):
      of(first, order: order, after: start, completeUpTo: completeUpTo, form: form)
    }
  }

  private static func scan(_ range: IDRange, _ order: QueryPlan.Order, _ form: Form) -> CandidateStatement {
    let end =
      switch order {
      case .id(let isDescending): "\n ORDER BY d.id\(isDescending ? " DESC" : "")"
      default: ""
      }
    var values: [Value] = []
    let conditions = range.sql(of: "d.id", &values)
    return CandidateStatement(
      sql: "SELECT \(form.columns())\n  FROM main.documents d\n WHERE NOT d.deleted\(conditions)\(end)",
      values: values)
  }

  private static func documents(_ ids: [String], _ order: QueryPlan.Order, _ form: Form) -> CandidateStatement
  {
    var ids = ids.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
    if case .id(isDescending: true) = order { ids.reverse() }
    return CandidateStatement(
      sql: "SELECT \(form.columns())\n  FROM main.documents d\n WHERE d.id = ? AND NOT d.deleted",
      values: [.int(0)],
      lookups: [Lookup(position: 0, keys: ids.map { .string($0) }, hasTag: false)])
  }

  private static func text(
    _ access: TextAccess, _ order: QueryPlan.Order, _ start: Bookmark?, _ completeUpTo: Int64?, _ form: Form
  ) -> CandidateStatement {
    let name = TextIndexTable.name(access.index.number)
    let isByScore = order == .score
    let end = isByScore ? "\n ORDER BY f.rank, d.id" : ""
    var values = [Value.text(access.match)]
    let fresh = exclusion(of: "f.rowid", completeUpTo, &values)
    // The id in a text index is not the document's: it has spaces instead of NULs.
    let documents = if case .count = form { "" } else { Form.documents.join("f.rowid") }
    var rest = ""
    if isByScore, let start {
      if let rank = start.rank {
        rest = "\n   AND (f.rank, d.id) > (?, ?)"
        values += [.double(rank), .text(start.id)]
      } else {
        // Only documents without a score follow.
        rest = "\n   AND 0"
      }
    }
    return CandidateStatement(
      sql: """
        SELECT \(form.columns())\(isByScore ? ", f.rank" : "")
          FROM query.\(name) f\(documents)
         WHERE f.\(name) MATCH ?\(fresh)\(rest)\(end)
        """, values: values)
  }

  private static func index(
    _ access: IndexAccess, _ order: QueryPlan.Order, _ start: Bookmark?, _ completeUpTo: Int64?, _ form: Form
  ) -> CandidateStatement {
    var access = access
    if let start, case .index(let terms) = order { access.begin(at: start, in: terms) }
    var sql = SQLText()
    sql += "SELECT "
    var table = IndexFile.tablePrefix
    if case .values(let columns, _, _, let own) = form {
      sql += columns
      table = own
    } else {
      sql += form.columns(CandidateRow.idIndexColumns)
    }
    sql += "\n  FROM query."
    sql += table
    sql += Int(access.index.number)
    sql += " e"
    sql += form.join("e.document")
    var conditions = IndexConditions(access, after: sql)
    conditions.sql += access.ids.sql(of: "e.id", &conditions.values)
    conditions.sql += exclusion(of: "e.document", completeUpTo, &conditions.values)
    var lookups = conditions.lookups
    if case .index(let terms) = order {
      if let start {
        conditions.sql += "\n   AND \(rows(of: access, after: start, terms[...], 0, &conditions.values))"
      }
      for position in lookups.indices
      where terms.contains(where: { $0.field == lookups[position].field && $0.isDescending }) {
        lookups[position].keys.reverse()
      }
    }
    if case .values(_, let condition, let grouping, _) = form {
      conditions.sql += condition
      conditions.sql += grouping
    }
    append(order, to: &conditions.sql)
    return CandidateStatement(sql: conditions.sql.text, values: conditions.values, lookups: lookups)
  }

  /// The condition on the rows after a position in their order, where the index is entered.
  ///
  /// ```sql
  /// (e.t0, e.v0, e.id) > (?, ?, ?)
  /// ```
  ///
  /// If the directions differ, the first comparison of each field is where the index is entered:
  ///
  /// ```sql
  /// (e.t0, e.v0) <= (?, ?) AND ((e.t0, e.v0) < (?, ?) OR e.id > ?)
  /// ```
  private static func rows(
    of access: IndexAccess, after start: Bookmark, _ terms: ArraySlice<OrderTerm>, _ position: Int,
    _ values: inout [Value]
  ) -> String {
    guard let term = terms.first else { return "0" }
    let sign = term.isDescending ? "<" : ">"
    guard let field = term.field, start.values.indices.contains(position) else {
      values.append(.text(start.id))
      return "e.id \(sign) ?"
    }
    let key = start.key(at: position)
    if let constant = access.constant(of: term) {
      if constant != key { return (key < constant) != term.isDescending ? "1" : "0" }
      return rows(of: access, after: start, terms.dropFirst(), position + 1, &values)
    }
    if access.comparesRows(after: start, terms, position) {
      return rowValue(of: access, after: start, terms, position, &values)
    }
    let pair = [Value.int(key.tag.rawValue), .key(key)]
    values += pair + pair
    let columns = "(e.t\(field), e.v\(field)) \(sign)"
    let rest = rows(of: access, after: start, terms.dropFirst(), position + 1, &values)
    return "\(columns)= (?, ?) AND (\(columns) (?, ?) OR \(rest))"
  }

  /// The comparison of rows with a position, in an order with one direction.
  private static func rowValue(
    of access: IndexAccess, after start: Bookmark, _ terms: ArraySlice<OrderTerm>, _ position: Int,
    _ values: inout [Value]
  ) -> String {
    var columns: [String] = []
    for (term, position) in zip(terms, position...) where access.constant(of: term) == nil {
      if let field = term.field, start.values.indices.contains(position) {
        let key = start.key(at: position)
        columns += ["e.t\(field)", "e.v\(field)"]
        values += [.int(key.tag.rawValue), .key(key)]
      } else {
        columns.append("e.id")
        values.append(.text(start.id))
      }
    }
    let sign = terms.first?.isDescending == true ? "<" : ">"
    let parameters = Array(repeating: "?", count: columns.count).joined(separator: ", ")
    return "(\(columns.joined(separator: ", "))) \(sign) (\(parameters))"
  }

  /// Excludes index rows that do not match the current documents.
  private static func exclusion(of number: String, _ completeUpTo: Int64?, _ values: inout [Value]) -> String
  {
    guard let completeUpTo else { return "" }
    values.append(.int(completeUpTo))
    return "\n   AND \(number) NOT IN (SELECT number FROM main.documents WHERE sequence > ?)"
  }

  private static func append(_ order: QueryPlan.Order, to sql: inout SQLText) {
    guard case .index(let terms) = order else { return }
    for (number, term) in terms.enumerated() {
      sql += number == 0 ? "\n ORDER BY " : ", "
      guard let field = term.field else {
        sql += term.isDescending ? "e.id DESC" : "e.id"
        continue
      }
      sql += "e.t"
      sql += field
      sql += term.isDescending ? " DESC, e.v" : ", e.v"
      sql += field
      if term.isDescending { sql += " DESC" }
    }
  }

  // MARK: Documents missing from indexes

  /// Documents that the indexes may lack.
  static func unindexed(above completeUpTo: Int64) -> CandidateStatement {
    CandidateStatement(
      sql: """
        SELECT \(CandidateRow.columns)
          FROM main.documents d
         WHERE d.sequence > ? AND NOT d.deleted
         ORDER BY d.sequence
        """, values: [.int(completeUpTo)], isUnindexed: true)
  }

  /// Documents with too many combinations of values for some of the indexes.
  static func overflow(from indexes: [IndexCatalog.Entry], completeUpTo: Int64?) -> CandidateStatement {
    let numbers = Set(indexes.filter(\.hasOverflow).map(\.number)).sorted()
    var values: [Value] = []
    let fresh = exclusion(of: "d.number", completeUpTo, &values)
    return CandidateStatement(
      sql: """
        SELECT \(CandidateRow.columns)
          FROM main.documents d
         WHERE d.number IN (SELECT document FROM query.overflow
                             WHERE index_number IN (\(numbers.map(String.init).joined(separator: ", "))))\(fresh)
         ORDER BY d.number
        """, values: values, isUnindexed: true)
  }

  /// One document by its number, and its id alone.
  static let identity = "SELECT \(CandidateRow.idColumns) FROM main.documents d WHERE d.number = ?"
  static let document = "SELECT \(CandidateRow.columns) FROM main.documents d WHERE d.number = ?"
}

extension CandidateStatement.Form {
  /// - Parameter ids: The columns of a candidate without its document.
  fileprivate func columns(_ ids: StaticString = CandidateRow.idColumns) -> StaticString {
    switch self {
    case .documents: CandidateRow.columns
    case .parts: CandidateRow.partColumns
    case .texts: CandidateRow.textColumns
    case .idsOnly, .values: ids
    case .count: "count(*)"
    }
  }

  /// CROSS keeps SQLite from using the documents as the outer loop.
  fileprivate func join(_ number: String) -> String {
    switch self {
    case .documents, .parts, .texts: " CROSS JOIN main.documents d ON d.number = \(number)"
    case .idsOnly, .count, .values: ""
    }
  }
}
