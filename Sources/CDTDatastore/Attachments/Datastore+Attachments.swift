import SQLite

/// What a datastore keeps for attachments.
public struct AttachmentUsage: Sendable, Hashable {
  /// How many contents there are; one that several revisions have is there once.
  public let count: Int
  /// How many bytes they take.
  public let bytes: Int64
}

extension Datastore {
  /// How many attachments are kept, and how many bytes they take.
  ///
  /// - Complexity: O(*a*) in the number of attachments of all revisions.
  public func attachmentUsage() throws -> AttachmentUsage {
    try read { connection in
      let statement = try connection.statement(
        "SELECT count(*), total(length) FROM (SELECT max(length) AS length FROM attachments GROUP BY key)")
      defer { statement.reset() }
      guard try statement.step() else { return AttachmentUsage(count: 0, bytes: 0) }
      return AttachmentUsage(count: Int(statement.int64(0)), bytes: statement.int64(1))
    }
  }
}
