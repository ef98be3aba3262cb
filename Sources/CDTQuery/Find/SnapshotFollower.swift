import SQLite

/// What has been written to the documents between one snapshot of a connection and the next.
///
/// Each write gives a document another sequence, so what was written since a sequence are the last rows of `documents`, and
/// all others are as they were. That holds as long as the history is the same one: it is another where a backup was brought
/// back, and then a session that left another token wrote the sequence that was the newest before.
struct SnapshotFollower {
  enum Written {
    case nothing
    /// The documents above a sequence; all others are as they were.
    case after(Int64)
    /// Whatever was known may be otherwise now.
    case unknown
  }

  /// Whether there was a snapshot before.
  private var isFollowing = false
  /// The file as it was then: SQLite's version of the data, unless that was another connection's; the newest sequence; and
  /// the session that wrote it.
  private var version: UInt32?
  private var lastSequence: Int64 = 0
  private var session: String?
  private var statement: Statement?

  /// Follows the connection into a snapshot that has just begun, which is never earlier than the one before.
  mutating func follow(to newest: Int64, on connection: Connection) throws -> Written {
    let version = connection.dataVersion
    if isFollowing, let version, version == self.version { return .nothing }
    // What is written has a higher sequence; another version without one is nobody's write that is known here.
    let mayFollow = isFollowing && (newest > lastSequence || newest == lastSequence && self.version == nil)
    // Should anything fail, the next snapshot follows none.
    isFollowing = false
    let (token, start) = try session(of: newest, on: connection)
    var isSame = mayFollow && token == session
    if mayFollow, start > lastSequence {
      isSame = try session(of: lastSequence, on: connection).token == session
    }
    defer { (isFollowing, self.version, lastSequence, session) = (true, version, newest, token) }
    return isSame ? .after(lastSequence) : .unknown
  }

  /// Goes on with another connection to the same file.
  mutating func changeConnection() {
    version = nil
    statement = nil
  }

  /// The token of the session that wrote a sequence, and the sequence that it began with.
  private mutating func session(
    of sequence: Int64, on connection: Connection
  ) throws -> (token: String?, start: Int64) {
    let statement =
      try self.statement
      ?? connection.statement(
        "SELECT token, start FROM main.sessions WHERE start <= ?1 ORDER BY start DESC LIMIT 1")
    self.statement = statement
    // Left stepped, it would hold the connection's snapshots beyond the transaction.
    defer { statement.reset() }
    try statement.bind(sequence, at: 1)
    return try statement.step() ? (statement.text(0), statement.int64(1)) : (nil, 0)
  }
}
