import JSON
import SQLite

/// A statement that gives candidates: the rows of an index, of a text search, or of the documents themselves.
///
/// An index on (name, age), asked for name = X and age ≥ Y:
///
/// ```sql
/// SELECT d.number, d.id, d.revision, d.body, d.attachments, coalesce(d.written, d.sequence)
///   FROM query.entries_1 e CROSS JOIN main.documents d ON d.number = e.document
///  WHERE e.v0 = ? AND e.t0 = ? AND e.v1 >= ? AND e.t1 = ?
/// ```
///
/// It is run once for each combination of the values that are looked up: a field asked for one of several values is looked
/// up for each.
struct CandidateStatement: Sendable {
  /// What a statement gives.
  enum Form: Sendable {
    /// Documents.
    case documents
    /// Numbers and ids.
    case bare
    /// How many there are.
    case count
  }

  enum Value: Sendable {
    case int(Int64)
    case text(String)
    case key(IndexKey)
  }

  /// Parameters that have another value in each run.
  struct Lookup: Sendable {
    /// Which parameter has the key's value; the next one has its tag, if that is asked for.
    let position: Int
    let keys: [IndexKey]
    let hasTag: Bool
  }

  let sql: String
  /// The values of the parameters, in their order.
  let values: [Value]
  var lookups: [Lookup] = []
  /// Whether what it gives has to be put to the whole selector, not just to what the plan has left.
  var isUnindexed = false

  /// How many times it is run.
  var runs: Int { lookups.reduce(1) { $0 * $1.keys.count } }

  /// Binds the parameters for a run.
  func bind(run: Int, to statement: Statement) throws(SQLiteError) {
    for (index, value) in values.enumerated() {
      switch value {
      case .int(let int): try statement.bind(int, at: index + 1)
      case .text(let text): try statement.bind(text, at: index + 1)
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

  /// The statements that give the candidates of a source, one after the other; none for an intersection, whose parts are
  /// asked for one by one.
  static func of(
    _ source: QueryPlan.Source, order: QueryPlan.Order, floor: Int64?, form: Form
  ) -> [CandidateStatement] {
    switch source {
    case .nothing: []
    case .scan: [scan(order, form)]
    case .ids(let ids): [documents(ids, order, form)]
    case .index(let access): [index(access, order, floor, form)]
    case .text(let access): [text(access, order, floor, form)]
    case .union(let branches): branches.flatMap { of($0, order: .unordered, floor: floor, form: form) }
    case .intersection(let first, _): of(first, order: order, floor: floor, form: form)
    }
  }

  private static func scan(_ order: QueryPlan.Order, _ form: Form) -> CandidateStatement {
    let end =
      switch order {
      case .id(let isDescending): "\n ORDER BY d.id\(isDescending ? " DESC" : "")"
      default: ""
      }
    return CandidateStatement(
      sql: "SELECT \(form.columns(of: "d"))\n  FROM main.documents d\n WHERE NOT d.deleted\(end)", values: [])
  }

  private static func documents(_ ids: [String], _ order: QueryPlan.Order, _ form: Form) -> CandidateStatement
  {
    var ids = ids.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
    if case .id(isDescending: true) = order { ids.reverse() }
    return CandidateStatement(
      sql: "SELECT \(form.columns(of: "d"))\n  FROM main.documents d\n WHERE d.id = ? AND NOT d.deleted",
      values: [.int(0)],
      lookups: [Lookup(position: 0, keys: ids.map { .string($0) }, hasTag: false)])
  }

  private static func text(
    _ access: TextAccess, _ order: QueryPlan.Order, _ floor: Int64?, _ form: Form
  ) -> CandidateStatement {
    let name = TextIndexTable.name(access.index.number)
    let order = order == .score ? "\n ORDER BY f.rank, f.id" : ""
    var values = [Value.text(access.match)]
    let fresh = exclusion(of: "f.rowid", floor, &values)
    return CandidateStatement(
      sql: """
        SELECT \(form.columns(joining: "f", number: "f.rowid"))
          FROM query.\(name) f\(form.join("f.rowid"))
         WHERE f.\(name) MATCH ?\(fresh)\(order)
        """, values: values)
  }

  private static func index(
    _ access: IndexAccess, _ order: QueryPlan.Order, _ floor: Int64?, _ form: Form
  ) -> CandidateStatement {
    var conditions = IndexConditions(access)
    let fresh = exclusion(of: "e.document", floor, &conditions.values)
    return CandidateStatement(
      sql: """
        SELECT \(form.columns(joining: "e", number: "e.document"))
          FROM query.\(IndexFile.table(access.index.number)) e\(form.join("e.document"))
         WHERE \(conditions.sql)\(fresh)\(ordering(order))
        """, values: conditions.values, lookups: conditions.lookups)
  }

  /// Leaves the rows of documents out that are not in the index as they are now.
  private static func exclusion(of number: String, _ floor: Int64?, _ values: inout [Value]) -> String {
    guard let floor else { return "" }
    values.append(.int(floor))
    return "\n   AND \(number) NOT IN (SELECT number FROM main.documents WHERE sequence > ?)"
  }

  private static func ordering(_ order: QueryPlan.Order) -> String {
    guard case .index(let terms) = order else { return "" }
    let columns = terms.map { term in
      let direction = term.isDescending ? " DESC" : ""
      guard let field = term.field else { return "e.id\(direction)" }
      return "e.t\(field)\(direction), e.v\(field)\(direction)"
    }
    return "\n ORDER BY \(columns.joined(separator: ", "))"
  }

  // MARK: Documents that indexes do not have

  /// Documents above the floor of the indexes.
  static func unindexed(above floor: Int64) -> CandidateStatement {
    CandidateStatement(
      sql: """
        SELECT \(DocumentRow.columns(of: "d"))
          FROM main.documents d
         WHERE d.sequence > ? AND NOT d.deleted
         ORDER BY d.sequence
        """, values: [.int(floor)], isUnindexed: true)
  }

  /// Documents that have too many combinations of values for some of the indexes.
  static func apart(from indexes: [IndexCatalog.Entry], floor: Int64?) -> CandidateStatement {
    let numbers = Set(indexes.filter(\.hasApart).map(\.number)).sorted()
    var values: [Value] = []
    let fresh = exclusion(of: "d.number", floor, &values)
    return CandidateStatement(
      sql: """
        SELECT \(DocumentRow.columns(of: "d"))
          FROM main.documents d
         WHERE d.number IN (SELECT document FROM query.apart
                             WHERE index_number IN (\(numbers.map(String.init).joined(separator: ", "))))\(fresh)
         ORDER BY d.number
        """, values: values, isUnindexed: true)
  }

  /// One document by its number.
  static let document = "SELECT \(DocumentRow.columns(of: "d")) FROM main.documents d WHERE d.number = ?"
}

extension CandidateStatement.Form {
  /// The columns where the documents' own table is read.
  fileprivate func columns(of table: String) -> String {
    switch self {
    case .documents: DocumentRow.columns(of: table)
    case .bare: DocumentRow.columns(number: "\(table).number", id: "\(table).id")
    case .count: "count(*)"
    }
  }

  /// The columns where an index is read, with documents joined if they are wanted.
  fileprivate func columns(joining table: String, number: String) -> String {
    switch self {
    case .documents: DocumentRow.columns(of: "d")
    case .bare: DocumentRow.columns(number: number, id: "\(table).id")
    case .count: "count(*)"
    }
  }

  /// CROSS keeps SQLite from starting at the documents.
  fileprivate func join(_ number: String) -> String {
    if case .documents = self { return " CROSS JOIN main.documents d ON d.number = \(number)" }
    return ""
  }
}
