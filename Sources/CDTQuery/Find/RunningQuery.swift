import CDTDatastore
package import SQLite

/// A statement of a plan that has its parameters.
package final class RunningQuery {
  package let statement: Statement
  let output: QuerySQL.Output
  private let connection: Connection
  private let documents: DocumentCache?
  /// The document of the row, if the reader has it; then the row's columns are NULL.
  private var cached: CachedDocument?
  private let usesIndex: Bool
  private var objects: [QueryObject] = []
  private let numberColumn: Int
  /// Whether rows may have to be left out, so that the page is cut here.
  private let leavesOut: Bool
  /// Whether rows may name a document that has moved on.
  private let namesGone: Bool
  /// Whether rows may leave the document to the reader's cache.
  private let takesCached: Bool
  /// What the documents that are not in the indexes yet cost: see ``QuerySQL/tailCost``.
  private(set) var tailCost: Int64
  /// What a ``TailWalk`` that follows the statement's rows is made of, if one does.
  private let rest: (plan: QueryPlan, snapshot: QueryReader.Snapshot, reader: QueryReader)?
  /// The walk, once the statement's rows have ended.
  private var tail: TailWalk?
  /// The documents that were met, where rows may name one again.
  private var met: SequenceSet?
  /// Of a statement that leaves the page to us: how many results are passed over, and how many given.
  private var page: (skip: Int, limit: Int) = (0, 0)
  private var given = 0

  /// - Parameters:
  ///   - reader: The one that is in the snapshot.
  ///   - looksUpAll: Whether each document is looked up, whatever the reader knows of it.
  init(
    _ plan: QueryPlan, output: QuerySQL.Output, snapshot: QueryReader.Snapshot, reader: QueryReader,
    looksUpAll: Bool = false
  ) throws {
    self.output = output
    connection = reader.connection
    documents = looksUpAll ? nil : reader.documents
    usesIndex = plan.usesIndex
    let leavesTail = !looksUpAll && QuerySQL.mayLeaveTail(plan, output)
    let sql = QuerySQL(
      plan, output: output, lastSequence: snapshot.lastSequence,
      tail: looksUpAll || leavesTail ? nil : reader.tailCandidates(of: plan, in: snapshot),
      leavesTail: leavesTail,
      hasTombstones: try !plan.isScan || Self.hasTombstones(connection), usesCache: documents != nil)
    // A scan may well be what a long tail has left as the cheapest way.
    tailCost = plan.isScan ? snapshot.tailLength : sql.tailCost
    statement = try connection.statement(sql.text)
    numberColumn = sql.numberColumn
    namesGone = sql.namesGone
    rest = sql.leavesTail ? (plan, snapshot, reader) : nil
    leavesOut = sql.repeats || sql.namesGone
    takesCached = sql.leavesToCache && sql.givesDocuments
    if leavesOut { page = (plan.skip, plan.limit) }
    if sql.repeats { met = SequenceSet() }
    for (index, parameter) in sql.parameters.enumerated() {
      let position = index + 1
      switch parameter {
      case .int(let int): try statement.bind(int, at: position)
      case .text(let text): try statement.bind(text, at: position)
      case .key(let key): try statement.bind(value: key, at: position)
      case .cache:
        guard let documents else { continue }
        try statement.bind(object: documents, type: DocumentCache.pointerType, at: position)
      case .object(let object):
        object.documents = documents
        objects.append(object)
        try statement.bind(object: object, type: Swift.type(of: object).pointerType, at: position)
      }
    }
  }

  /// One look into an index, which spares a scan a condition on each of its rows.
  private static func hasTombstones(_ connection: Connection) throws -> Bool {
    try connection.scalar("SELECT EXISTS (SELECT 1 FROM main.documents WHERE deleted)") != 0
  }

  /// Goes on to the next row.
  @inline(__always)
  func step() throws -> Bool {
    if !leavesOut { return try next() }
    return try nextWanted()
  }

  private func nextWanted() throws -> Bool {
    let limit = page.limit > 0 ? page.skip + page.limit : .max
    while given < limit, try next() {
      if namesGone, cached == nil, statement.isNull(QuerySQL.revisionColumn) { continue }
      if met?.insert(sequence) == false { continue }
      given += 1
      if given > page.skip { return true }
    }
    statement.reset()
    return false
  }

  private func next() throws -> Bool {
    if tail != nil { return try nextInTail() }
    do {
      if try statement.step() {
        if takesCached { cached = cachedDocument() }
        return true
      }
      guard let rest else { return false }
      let walk = TailWalk(rest.plan, snapshot: rest.snapshot, reader: rest.reader)
      tail = walk
      tailCost += walk.cost
      return try nextInTail()
    } catch let error as SQLiteError {
      cached = nil
      if let failure = documents?.failure {
        if failure.isCorrupt, usesIndex { throw DatastoreError.damagedIndexOrStore(failure.message) }
        throw DatastoreError(failure)
      }
      let matches = objects.lazy.compactMap { $0 as? MatchObject }
      if let failure = matches.compactMap(\.failure).first {
        throw QueryError.matchLimit(pattern: failure.match.pattern, documentID: try id(of: failure.document))
      }
      throw error.isCorrupt && usesIndex
        ? DatastoreError.damagedIndexOrStore(error.message) : DatastoreError(error)
    }
  }

  /// Goes on with the documents that are not in the indexes.
  private func nextInTail() throws -> Bool {
    do {
      cached = try tail?.step()
      return cached != nil
    } catch let error as SQLiteError {
      cached = nil
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

  /// The sequence of the row's document.
  private var sequence: Int64 { cached?.sequence ?? statement.int64(numberColumn) }

  /// The document of a row whose columns are NULL.
  private func cachedDocument() -> CachedDocument? {
    guard statement.isNull(QuerySQL.revisionColumn) else { return nil }
    return documents?.find(statement.int64(numberColumn))
  }

  // MARK: The row, of a query for documents or texts; bytes are valid until the next step

  @inline(__always)
  var id: UnsafeRawBufferPointer { cached?.id ?? statement.unsafeBytes(1) }

  @inline(__always)
  var revision: UnsafeRawBufferPointer { cached?.revision ?? statement.unsafeBytes(QuerySQL.revisionColumn) }

  @inline(__always)
  var body: UnsafeRawBufferPointer {
    cached?.body ?? statement.unsafeBytes(QuerySQL.bodyColumn(of: output))
  }

  /// The sequence at which the revision was written.
  var written: Int64 { cached?.written ?? statement.int64(0) }

  /// How many attachments it has.
  var attachments: Int64 { cached?.attachments ?? statement.int64(4) }

  /// The number under which its attachments are kept.
  var documentNumber: Int64 { cached?.number ?? statement.int64(5) }

  // MARK: Results

  /// The number that a statement for a count gives, or 1 and 0 for whether there is a result.
  func number() throws -> Int64 {
    guard leavesOut else { return try step() ? statement.int64(0) : 0 }
    if output == .exists { return try step() ? 1 : 0 }
    var count: Int64 = 0
    while try step() { count += 1 }
    return count
  }

  /// How many times a document's body was read by a function.
  var documentCalls: Int { objects.reduce(0) { $0 + $1.calls } }

  func end() {
    tail?.end()
    statement.reset()
  }
}
