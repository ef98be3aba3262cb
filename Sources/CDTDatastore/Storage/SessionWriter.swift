import FoundationEssentials
import SQLite

/// The writing connection, and the mark that it leaves of itself with its first write.
///
/// A session is the life of one writer. Which session wrote a sequence tells two histories apart that have the same
/// sequences: one that went on from a backup, and the one that was there before the backup was restored.
final class SessionWriter {
  let connection: Connection
  /// What tells the session from every other.
  private let token = UUID().uuidString.lowercased()
  private var isRecorded = false
  /// How many sessions are kept: a process that writes once leaves one, too.
  private static let kept = 1_000

  init(_ connection: Connection) {
    self.connection = connection
  }

  /// Runs a transaction that ends on disk, or leaves nothing.
  func transaction<R>(_ body: (Connection) throws -> R) throws -> R {
    let result = try connection.transaction(.immediate) {
      if !isRecorded { try record() }
      return try body(connection)
    }
    isRecorded = true
    return result
  }

  private func record() throws {
    let statement = try connection.statement(
      "INSERT OR REPLACE INTO sessions SELECT coalesce(max(sequence), 0) + 1, ?1 FROM documents")
    try statement.bind(token, at: 1)
    try statement.run()
    // An index that was last complete before all that is kept is rebuilt.
    try connection.execute(
      """
      DELETE FROM sessions
       WHERE start < (SELECT start FROM sessions ORDER BY start DESC LIMIT 1 OFFSET \(Self.kept - 1))
      """)
  }
}
