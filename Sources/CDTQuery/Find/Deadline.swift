import CDTDatastore
import SQLite

/// When a query has to be done.
struct Deadline: Sendable {
  let limit: Duration
  private let end: ContinuousClock.Instant

  init?(_ limit: Duration?) {
    guard let limit else { return nil }
    self.limit = limit
    end = ContinuousClock.now + limit
  }

  var isOver: Bool { ContinuousClock.now >= end }

  /// Has statements on a connection fail once the time is over.
  func watch(_ connection: Connection) {
    connection.setProgressCheck { !isOver }
  }
}

/// The one place where errors of SQLite leave a query.
enum QueryFailure {
  /// Runs `body` with its errors turned into those of queries and datastores.
  ///
  /// - Parameter usesIndex: Whether damage that is found may be the index file's.
  static func mapping<R>(usesIndex: Bool, _ deadline: Deadline?, _ body: () throws -> R) throws -> R {
    do {
      if let deadline, deadline.isOver { throw QueryError.timedOut(deadline.limit) }
      return try body()
    } catch let error as SQLiteError {
      if error.isInterrupted, let deadline, deadline.isOver { throw QueryError.timedOut(deadline.limit) }
      throw (error.isCorrupt || error.isMissingTable) && usesIndex
        ? DatastoreError.damagedIndexOrStore(error.message) : DatastoreError(error)
    }
  }
}
