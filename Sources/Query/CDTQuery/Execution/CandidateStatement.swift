import CDTDatastore
import CDTJSON
import CDTPlan
import CDTSQLite

/// A statement that returns candidates: the rows of an index, of a text search, or of the documents.
///
/// An index:
///
/// ```sql
/// SELECT d.number, d.id, d.text, d.stored_revision, d.attachments, coalesce(d.written, d.sequence)
///   FROM query.entries_1 e CROSS JOIN main.documents d ON d.number = e.document
///  WHERE e.key >= ? AND e.key < ?
///  ORDER BY e.key
/// ```
///
/// The statement runs once for each range of keys, or for each id.
struct CandidateStatement: Sendable {
  /// The kind of rows that a statement returns.
  enum Form: Sendable {
    /// Documents.
    case documents
    /// Numbers and texts.
    case texts
    /// Numbers with ids or keys.
    case idsOnly
    /// The number of rows.
    case count
  }

  enum Value: Sendable {
    case int(Int64)
    case text(String)
    case double(Double)
  }

  /// The keys that a statement returns.
  struct Keys: Sendable {
    let layout: KeyLayout
    let filter: KeyFilter?
    let order: KeyOrder
  }

  let sql: String
  /// The values of the parameters, in order, after those of each run.
  var values: [Value] = []
  /// The range of keys of each run.
  var ranges: [KeyRange]?
  /// The id of each run.
  var ids: [String]?
  /// `nil` if the rows have no keys.
  var keys: Keys?
  /// Whether the candidates must be checked against the whole selector, not only the residual.
  var isUnindexed = false

  /// The number of runs.
  var runs: Int { ranges?.count ?? ids?.count ?? 1 }

  /// Binds the parameters for a run.
  func bind(run: Int, to statement: Statement) throws(SQLiteError) {
    var position = 1
    if let ranges {
      try ranges[run].bind(to: statement, at: 1)
      position = 3
    } else if let ids {
      try statement.bind(ids[run], at: 1)
      position = 2
    }
    for value in values {
      switch value {
      case .int(let int): try statement.bind(int, at: position)
      case .text(let text): try statement.bind(text, at: position)
      case .double(let double): try statement.bind(double, at: position)
      }
      position += 1
    }
  }

  // MARK: Sources

  /// The statements that return the candidates of a source, in order; empty for an intersection, whose parts run
  /// separately, and for ``NearestRows``.
  ///
  /// - Parameters:
  ///   - keys: The order in which the rows of an index are read.
  ///   - start: The position after which the candidates begin, if they are in the order of scores.
  static func of(
    _ source: QueryPlan.Source, order: QueryPlan.Order, keys: KeyOrder = KeyOrder(),
    after start: Bookmark? = nil,
    completeUpTo: Int64?, form: Form
  ) -> [CandidateStatement] {
    switch source {
    case .nothing, .nearest: []
    case .scan(let range): [scan(range, order, form)]
    case .ids(let ids): [documents(ids, order, form)]
    case .index(let access): [index(access, order, keys, completeUpTo, form)]
    case .text(let access): [text(access, order, start, completeUpTo, form)]
    case .union(let branches):
      branches.flatMap { of($0, order: .unordered, completeUpTo: completeUpTo, form: form) }
    case .intersection(let first, _):
      of(first, order: order, keys: keys, after: start, completeUpTo: completeUpTo, form: form)
    }
  }

  /// Whether there are design documents, also deleted ones. Most stores have none, and then no row has to be looked at.
  static func hasDesignDocuments(on connection: Connection) throws -> Bool {
    let statement = try connection.statement(
      "SELECT EXISTS (SELECT 1 FROM main.documents WHERE id >= ?1 AND id < ?2)")
    defer { statement.reset() }
    try statement.bind(DocumentID.designPrefix, at: 1)
    try statement.bind(DocumentID.designEnd, at: 2)
    return try statement.step() && statement.int64(0) != 0
  }

  static let designDocuments = CandidateStatement(
    sql: """
      SELECT \(Form.documents.columns())
        FROM main.documents d
       WHERE NOT d.deleted AND d.id >= ? AND d.id < ?
      """, values: [.text(DocumentID.designPrefix), .text(DocumentID.designEnd)])

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
    var ids = ids.sorted { $0.precedesInBytes($1) }
    if case .id(isDescending: true) = order { ids.reverse() }
    return CandidateStatement(
      sql: "SELECT \(form.columns())\n  FROM main.documents d\n WHERE d.id = ? AND NOT d.deleted", ids: ids)
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

  /// The rows of an index in a range of its keys, in the order of some terms.
  static func rows(of entry: IndexCatalog.Entry, in range: KeyRange, by terms: [OrderTerm])
    -> CandidateStatement
  {
    let order = IndexAccess(all: entry).keyOrder(terms)
    var statement = rows(of: entry, in: [range], isDescending: order.isDescending)
    statement.keys = Keys(layout: KeyLayout(entry.definition), filter: nil, order: order)
    return statement
  }

  private static func index(
    _ access: IndexAccess, _ order: QueryPlan.Order, _ keys: KeyOrder, _ completeUpTo: Int64?, _ form: Form
  ) -> CandidateStatement {
    // A filter skips keys, for which they must have an order.
    let hasOrder = order != .unordered || access.filtersKeys
    var statement = rows(
      of: access.index, in: access.ranges(in: keys), isDescending: hasOrder ? keys.isDescending : nil,
      completeUpTo,
      form)
    if case .idsOnly = form {
      let layout = KeyLayout(access.index.definition)
      statement.keys = Keys(layout: layout, filter: KeyFilter(access, layout), order: keys)
    } else {
      statement.keys = nil
    }
    return statement
  }

  /// The rows of an index in ranges of its keys.
  ///
  /// - Parameter isDescending: The direction in which the keys are read; `nil` for any.
  static func rows(
    of entry: IndexCatalog.Entry, in ranges: [KeyRange], isDescending: Bool?, _ completeUpTo: Int64? = nil,
    _ form: Form = .idsOnly
  ) -> CandidateStatement {
    var values: [Value] = []
    let fresh = exclusion(of: "e.document", completeUpTo, &values)
    // This runs for every query, and costs less than interpolation.
    let (start, end) = form.ofIndex
    var sql = start
    sql.reserveCapacity(256)
    sql += String(entry.number)
    sql += end
    sql += fresh
    sql += Self.order(isDescending)
    return CandidateStatement(
      sql: sql, values: values, ranges: ranges,
      keys: Keys(layout: KeyLayout(entry.definition), filter: nil, order: KeyOrder()))
  }

  private static func order(_ isDescending: Bool?) -> String {
    isDescending.map { $0 ? "\n ORDER BY e.key DESC" : "\n ORDER BY e.key" } ?? ""
  }

  /// The groups of a level of a summary.
  static func groups(
    of entry: IndexCatalog.Entry, level: Int, in ranges: [KeyRange], isDescending: Bool? = false,
    _ filter: KeyFilter? = nil
  ) -> CandidateStatement {
    CandidateStatement(
      sql: """
        SELECT e.documents, e.key, e.sums
          FROM query.\(IndexFile.groups(entry.number)) e
         WHERE e.key >= ? AND e.key < ?\(Self.order(isDescending))
        """, ranges: ranges.map { SummaryTable.range($0, ofLevel: level) },
      keys: Keys(layout: KeyLayout(entry.definition, level: level), filter: filter, order: KeyOrder()))
  }

  /// Excludes index rows that do not match the current documents.
  private static func exclusion(of number: String, _ completeUpTo: Int64?, _ values: inout [Value]) -> String
  {
    guard let completeUpTo else { return "" }
    values.append(.int(completeUpTo))
    return "\n   AND \(number) NOT IN (SELECT number FROM main.documents WHERE sequence > ?)"
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
  /// The statement for an index, before and after the index's number.
  fileprivate var ofIndex: (String, String) {
    switch self {
    case .documents: Self.documentsOfIndex
    case .texts: Self.textsOfIndex
    case .idsOnly: Self.keysOfIndex
    case .count: Self.countOfIndex
    }
  }

  private static let documentsOfIndex = Self.documents.makeOfIndex()
  private static let textsOfIndex = Self.texts.makeOfIndex()
  private static let keysOfIndex = Self.idsOnly.makeOfIndex()
  private static let countOfIndex = Self.count.makeOfIndex()

  private func makeOfIndex() -> (String, String) {
    (
      "SELECT \(columns(CandidateRow.keyColumns))\n  FROM query.\(IndexFile.tablePrefix)",
      " e\(join("e.document"))\n WHERE e.key >= ? AND e.key < ?"
    )
  }

  /// - Parameter ids: The columns of a candidate without its document.
  fileprivate func columns(_ ids: String = CandidateRow.idColumns) -> String {
    switch self {
    case .documents: CandidateRow.columns
    case .texts: CandidateRow.textColumns
    case .idsOnly: ids
    case .count: "count(*)"
    }
  }

  /// CROSS keeps SQLite from using the documents as the outer loop.
  fileprivate func join(_ number: String) -> String {
    switch self {
    case .documents, .texts: " CROSS JOIN main.documents d ON d.number = " + number
    case .idsOnly, .count: ""
    }
  }
}

extension IDRange {
  /// The conditions on a column, each preceded by ` AND `; appends their parameters.
  func sql(of column: String, _ values: inout [CandidateStatement.Value]) -> String {
    var sql = ""
    for (bound, signs) in [(lower, (">", ">=")), (upper, ("<=", "<"))] {
      guard let bound = bound?.stringBound else { continue }
      sql += "\n   AND \(column) \(bound.isAfter ? signs.0 : signs.1) ?"
      values.append(.text(bound.string))
    }
    return sql
  }
}
