public import CDTPlatform
package import CDTSQLite

/// The time at which a revision was written to a datastore, and the user who wrote it.
///
/// ```swift
/// let arrival = try store.read { try $0.arrival(of: $0.document(withID: "milk")) }
/// ```
public struct Arrival: Sendable, Hashable {
  /// To the minute: the revision was written at this time, or up to a minute later.
  public let time: Date
  /// The name of the user of a server who wrote the revision. A revision that an app writes, or a replicator pulls, has no user.
  public fileprivate(set) var user: String?

  /// The value as it is stored: the seconds since 1970, and after a space the user.
  fileprivate init?(stored text: String?) {
    guard let parts = text?.split(separator: " ", maxSplits: 1),
      let seconds = parts.first.flatMap({ Double($0) })
    else { return nil }
    time = Date(timeIntervalSince1970: seconds)
    user = parts.count > 1 ? String(parts[1]) : nil
  }
}

/// The marks from which arrivals are known, as a writer sets them.
///
/// A mark is a row of `meta`: it says when, and by whom, the changes from its sequence on were written, up to the next mark. Without
/// users there is at most one in a minute. The changes of a user end with a mark, as another process may write next, which does
/// not know of this one.
package struct ArrivalMarks {
  private static let interval: Int64 = 60
  /// The number of marks that are kept, and a tenth: those of two weeks if something is written in each minute.
  private static let kept = 20_000
  private static let prefix = "arrival:"

  /// The content of the last mark of this writer.
  private var last: (user: String?, time: Int64)?
  /// The sequence of the mark that ended the changes of a user.
  private var end: Int64?
  /// The number of marks that were set since the oldest ones were removed.
  private var set = 0

  package init() {}

  /// Sets a mark for a change if it needs one.
  ///
  /// - Parameter now: In seconds since 1970.
  package mutating func note(
    _ sequence: Int64, by user: String?, now: Int64, on connection: Connection
  ) throws(SQLiteError) {
    if let last, last.user == user, (0..<Self.interval).contains(now - last.time) {
      guard end != nil else { return }
      if end == sequence {
        // Nobody has written since: the changes of this user go on.
        end = nil
        return try Self.removeMarks(from: sequence, on: connection)
      }
    }
    (last, end) = ((user, now), nil)
    set += 1
    if set == Self.kept / 10 {
      set = 0
      try Self.removeOldest(on: connection)
    }
    try Self.put(sequence, "\(now)\(user.map { " \($0)" } ?? "")", on: connection)
  }

  /// Ends the changes of a user with a transaction.
  package mutating func finish(on connection: Connection) throws(SQLiteError) {
    guard let last, last.user != nil, end == nil else { return }
    // A change that failed may have used a sequence.
    let sequence = try connection.scalar("SELECT max(sequence) FROM documents")
    guard sequence < Int64.max else { return }
    end = sequence + 1
    try Self.put(sequence + 1, "\(last.time)", on: connection)
  }

  private static func key(_ sequence: Int64) -> String {
    let digits = String(sequence)
    return prefix + String(repeating: "0", count: max(0, 19 - digits.count)) + digits
  }

  private static func put(_ sequence: Int64, _ value: String, on connection: Connection) throws(SQLiteError) {
    try removeMarks(from: sequence, on: connection)
    let statement = try connection.statement("INSERT INTO meta VALUES (?1, ?2)")
    try statement.bind(key(sequence), at: 1)
    try statement.bind(value, at: 2)
    try statement.run()
  }

  /// Marks behind the newest sequence are of changes that are not there any more.
  private static func removeMarks(
    from sequence: Int64, on connection: Connection
  ) throws(SQLiteError) {
    let statement = try connection.statement("DELETE FROM meta WHERE key >= ?1 AND key < 'arrival;'")
    try statement.bind(key(sequence), at: 1)
    try statement.run()
  }

  /// Removes the oldest marks if there are too many.
  static func removeOldest(on connection: Connection) throws(SQLiteError) {
    try connection.execute(
      """
      DELETE FROM meta WHERE key >= '\(prefix)' AND key <
        (SELECT key FROM meta WHERE key >= '\(prefix)' AND key < 'arrival;' ORDER BY key DESC LIMIT 1 OFFSET \(kept))
      """)
  }

  /// The time at which a sequence was written, and the user; `nil` if it is older than the marks.
  package static func arrival(of sequence: Int64, on connection: Connection) throws(SQLiteError) -> Arrival? {
    let statement = try connection.statement(
      "SELECT value FROM meta WHERE key >= '\(prefix)' AND key <= ?1 ORDER BY key DESC LIMIT 1")
    defer { statement.reset() }
    try statement.bind(key(sequence), at: 1)
    return try statement.step() ? Arrival(stored: statement.text(0)) : nil
  }
}

extension ReadTransaction {
  /// The time at which a revision was written to this datastore, and the user who wrote it; `nil` if that is not known any more.
  ///
  /// Times are not replicated, and the state of a backup has none. To users from whom rules withhold documents, no names are given.
  public func arrival(of revision: DocumentRevision) throws -> Arrival? {
    guard store.stateTime == nil,
      var arrival = try use({ try ArrivalMarks.arrival(of: revision.sequence, on: $0) })
    else { return nil }
    if try visibility() != nil { arrival.user = nil }
    return arrival
  }
}
