import CDTDatastore
import SQLite
import Synchronization

/// What may end a query before its last result: its time limit, and being cancelled.
struct QueryStop: Sendable {
  private let limit: Duration?
  private let deadline: ContinuousClock.Instant?
  private let cancellation: Cancellation?

  init(timeLimit: Duration? = nil, cancellation: Cancellation? = nil) {
    limit = timeLimit
    deadline = timeLimit.map { ContinuousClock.now + $0 }
    self.cancellation = cancellation
  }

  /// - Throws: ``QueryError`` with the code `.cancelled` or `.timedOut` when the query has to end.
  func check() throws(QueryError) {
    if let cancellation, cancellation.isCancelled { throw .cancelled }
    if let limit, let deadline, ContinuousClock.now >= deadline { throw .timedOut(limit) }
  }

  /// Has statements on a connection fail once the query has to end.
  func watch(_ connection: Connection) {
    guard limit != nil || cancellation != nil else { return }
    connection.setProgressCheck {
      do throws(QueryError) {
        try check()
        return true
      } catch {
        return false
      }
    }
  }
}

/// Whether a query was cancelled, from any thread.
final class Cancellation: Sendable {
  private let flag = Atomic(false)

  var isCancelled: Bool { flag.load(ordering: .relaxed) }

  func cancel() { flag.store(true, ordering: .relaxed) }
}

/// The one place where errors of SQLite leave a query.
enum QueryFailure {
  /// Runs `body` with its errors turned into those of queries and datastores.
  ///
  /// - Parameter usesIndex: Whether damage that is found may be the index file's.
  static func mapping<R>(
    of store: Datastore, usesIndex: Bool, _ stop: QueryStop = QueryStop(), _ body: () throws -> R
  ) throws -> R {
    do {
      try stop.check()
      return try body()
    } catch let error as SQLiteError {
      if error.isInterrupted { try stop.check() }
      throw (error.isCorrupt || error.isMissingTable) && usesIndex
        ? DatastoreError.damagedIndexOrStore(error.message) : DatastoreError(error, path: store.directory)
    } catch let error as IndexDamage {
      throw DatastoreError.damagedIndexOrStore("the index file \(error.what)")
    }
  }
}
