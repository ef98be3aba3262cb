import CDTDatastore
import CDTSQLite

/// The index file turned out to be damaged, or may be. Queries are then answered from the documents.
struct DamagedIndex: Error {
  let reason: String
  /// Whether it is certainly the index file, not the documents.
  var isCertain = true

  /// The error if the query can't begin again.
  var published: DatastoreError { DatastoreError(.damagedIndexOrStore(reason)) }
}

/// The only place where SQLite errors leave a query.
package enum QueryFailure {
  /// Runs `body` and converts its errors to those of queries and datastores.
  ///
  /// - Parameter usesIndex: Whether damage may be that of the index file.
  /// - Throws: ``DamagedIndex``, which must not reach the caller of the library.
  package static func mapping<R>(
    of store: Datastore, usesIndex: Bool, _ stop: QueryStop = QueryStop(), _ body: () throws -> R
  ) throws -> R {
    do {
      try stop.check()
      return try body()
    } catch let error as SQLiteError {
      if error.isInterrupted { try stop.check() }
      try store.checkFile()
      guard usesIndex, IndexRecovery.isDamage(error) else {
        throw DatastoreError(error, path: store.directory)
      }
      throw DamagedIndex(reason: error.message, isCertain: error.damagedFile != nil)
    } catch let error as IndexDamage {
      try store.checkFile()
      throw DamagedIndex(reason: "the index file \(error.what)")
    } catch let error as DatastoreError {
      return try store.mappingFailures { throw error }
    }
  }

  /// Runs `body`, which can't begin again without the indexes.
  package static func publishing<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let damage as DamagedIndex {
      throw damage.published
    }
  }
}
