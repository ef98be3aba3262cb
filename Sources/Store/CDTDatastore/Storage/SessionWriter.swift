import CDTPlatform
package import CDTSQLite

/// The writing connection. Its first write records the session.
///
/// A session is the lifetime of one writer. The session that wrote a sequence distinguishes histories with the same
/// sequences: the one continued from a restored backup, and the one before the backup was restored.
final class SessionWriter {
  let connection: Connection
  /// The unique id of the session.
  private let token = RandomID.uuid()
  private var isRecorded = false
  /// The marks of what was committed.
  var arrivals = ArrivalMarks()
  /// The number of sessions kept: a process that writes only once records one, too.
  private static let kept = 1_000

  init(_ connection: Connection) throws(SQLiteError) {
    self.connection = connection
    try connection.countLog()
    _ = try SeenDocuments.predicate(on: connection)
  }

  /// Runs a transaction that is committed to disk or rolled back.
  func transaction<R>(_ body: (Connection) throws -> R) throws -> R {
    let result = try connection.transaction(.immediate) {
      if !isRecorded { try record() }
      return try body(connection)
    }
    isRecorded = true
    return result
  }

  /// Checkpoints the write-ahead log when it is long. Call it after a write, when the indexes are up to date: while
  /// they are updated, their connection reads the documents as they were before the write, and the log can't restart
  /// while an earlier state is read.
  func shortenLog() throws(SQLiteError) {
    try connection.shortenLog()
  }

  private func record() throws {
    let statement = try connection.statement(
      "INSERT OR REPLACE INTO sessions SELECT coalesce(max(sequence), 0) + 1, ?1 FROM documents")
    try statement.bind(token, at: 1)
    try statement.run()
    // An index that was last complete before the kept sessions is rebuilt.
    try connection.execute(
      """
      DELETE FROM sessions
       WHERE start < (SELECT start FROM sessions ORDER BY start DESC LIMIT 1 OFFSET \(Self.kept - 1))
      """)
    try ArrivalMarks.removeOldest(on: connection)
  }
}

/// The lifetimes of writers, as they are recorded.
package enum WriterSession {
  /// The token of the session in which a sequence was written: the last session that began before it. With concurrent
  /// writers this may be another session than the writer's, but it never changes.
  ///
  /// - Returns: `nil` if it is not recorded any more.
  package static func token(
    of sequence: Int64, in schema: String = "main", on connection: Connection
  ) throws(SQLiteError) -> String? {
    let statement = try connection.statement(
      "SELECT token FROM \(schema).sessions WHERE start <= ?1 ORDER BY start DESC LIMIT 1")
    defer { statement.reset() }
    try statement.bind(sequence, at: 1)
    return try statement.step() ? statement.text(0) : nil
  }
}

extension ReadTransaction {
  /// The token of the session in which a sequence was written; `nil` if it is not recorded any more.
  package func session(of sequence: Int64) throws -> String? {
    try use { try WriterSession.token(of: sequence, on: $0) }
  }
}
