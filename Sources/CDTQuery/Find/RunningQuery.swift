import CDTDatastore
package import SQLite

/// A statement of a plan that has its parameters.
package final class RunningQuery {
  package let statement: Statement
  let output: QuerySQL.Output
  private let connection: Connection
  private let usesIndex: Bool
  private var objects: [QueryObject] = []
  /// The documents that were met, where rows may name one again.
  private var met: SequenceSet?
  /// Of a statement that leaves the page to us: how many results are passed over, and how many given.
  private var page: (skip: Int, limit: Int) = (0, 0)
  private var given = 0

  init(
    _ plan: QueryPlan, output: QuerySQL.Output, snapshot: QueryReader.Snapshot, on connection: Connection
  ) throws {
    self.output = output
    self.connection = connection
    usesIndex = plan.usesIndex
    let sql = QuerySQL(plan, output: output, lastSequence: snapshot.lastSequence)
    statement = try connection.statement(sql.text)
    if sql.repeats {
      met = SequenceSet()
      page = (plan.skip, plan.limit)
    }
    for (index, parameter) in sql.parameters.enumerated() {
      let position = index + 1
      switch parameter {
      case .int(let int): try statement.bind(int, at: position)
      case .text(let text): try statement.bind(text, at: position)
      case .key(let key): try statement.bind(value: key, at: position)
      case .object(let object):
        objects.append(object)
        try statement.bind(object: object, type: Swift.type(of: object).pointerType, at: position)
      }
    }
  }

  @inline(__always)
  func step() throws -> Bool {
    if met == nil { return try next() }
    return try nextUnmet()
  }

  private func nextUnmet() throws -> Bool {
    let limit = page.limit > 0 ? page.skip + page.limit : .max
    while given < limit, try next() {
      guard met?.insert(statement.int64(QuerySQL.numberColumn(of: output))) == true else { continue }
      given += 1
      if given > page.skip { return true }
    }
    statement.reset()
    return false
  }

  private func next() throws -> Bool {
    do {
      return try statement.step()
    } catch {
      let matches = objects.lazy.compactMap { $0 as? MatchObject }
      if let failure = matches.compactMap(\.failure).first {
        throw QueryError.matchLimit(pattern: failure.match.pattern, documentID: try id(of: failure.document))
      }
      if error.isCorrupt, usesIndex { throw DatastoreError.damagedIndexOrStore(error.message) }
      throw DatastoreError(error)
    }
  }

  private func id(of document: MatchObject.FailedDocument) throws -> String {
    switch document {
    case .id(let id): return id
    case .sequence(let sequence):
      let statement = try connection.statement("SELECT id FROM main.documents WHERE sequence = ?1")
      defer { statement.reset() }
      try statement.bind(sequence, at: 1)
      return try statement.step() ? statement.text(0) : ""
    }
  }

  /// The number that a statement for a count gives, or 1 and 0 for whether there is a result.
  func number() throws -> Int64 {
    guard met != nil else { return try step() ? statement.int64(0) : 0 }
    if output == .exists { return try step() ? 1 : 0 }
    var count: Int64 = 0
    while try step() { count += 1 }
    return count
  }

  /// How many times a document's body was read by a function.
  var documentCalls: Int { objects.reduce(0) { $0 + $1.calls } }

  func end() {
    statement.reset()
  }
}
