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

  /// Follows the connection into a snapshot that has just begun, which is never earlier than the one before.
  mutating func follow(to newest: Int64, on connection: Connection) throws(SQLiteError) -> Written {
    let version = connection.dataVersion
    if isFollowing, let version, version == self.version { return .nothing }
    // What is written has a higher sequence; another version without one is nobody's write that is known here.
    let mayFollow = isFollowing && (newest > lastSequence || newest == lastSequence && self.version == nil)
    // Should anything fail, the next snapshot follows none.
    isFollowing = false
    let writer = try IndexCatalog.session(of: newest, in: "main", on: connection)
    var isSame = mayFollow && writer?.token == session
    if mayFollow, let writer, writer.start > lastSequence {
      isSame = try IndexCatalog.session(of: lastSequence, in: "main", on: connection)?.token == session
    }
    defer { (isFollowing, self.version, lastSequence, session) = (true, version, newest, writer?.token) }
    return isSame ? .after(lastSequence) : .unknown
  }

  /// Goes on with another connection to the same file.
  mutating func changeConnection() {
    version = nil
  }
}
