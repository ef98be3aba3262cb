import JSON
import SQLite

/// A document that has changed.
public struct Change: Sendable, Hashable {
  /// The document's newest sequence.
  public let sequence: Int64
  /// The document's id.
  public let id: String
  /// The winner.
  public let revision: RevisionID
  /// Whether the document is deleted.
  public let isDeleted: Bool

  /// Whether both say the same; ids are compared byte for byte.
  public static func == (left: Change, right: Change) -> Bool {
    left.sequence == right.sequence && left.id.hasSameBytes(as: right.id) && left.revision == right.revision
      && left.isDeleted == right.isDeleted
  }

  /// Equal changes hash alike.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(sequence)
    hasher.combine(KeyBytes(id))
    hasher.combine(revision)
    hasher.combine(isDeleted)
  }
}

/// Some of a datastore's changes, and where to go on.
public struct Changes: Sendable, Hashable {
  /// The documents that have changed, each once, in the order of their newest sequences.
  public let documents: [Change]
  /// What to give as `since` next time: nothing is missed and nothing comes twice.
  public let lastSequence: Int64
}

extension Datastore {
  /// The documents that have changed since a sequence, each once, at its newest.
  ///
  /// ```swift
  /// var last: Int64 = 0
  /// let changes = try store.changes(since: last)
  /// last = changes.lastSequence
  /// ```
  ///
  /// - Parameters:
  ///   - sequence: The `lastSequence` of the changes that were read before; 0 gives every document.
  ///   - limit: How many changes to give at most, or `nil` for all; fewer than none are none.
  /// - Complexity: O(log *n* + *changes*).
  ///
  /// Source: `docs/changes.md`, Asking.
  public func changes(since sequence: Int64 = 0, limit: Int? = nil) throws -> Changes {
    try read { connection in
      let statement = try connection.statement(
        "SELECT sequence, id, revision, deleted FROM documents WHERE sequence > ?1 ORDER BY sequence LIMIT ?2"
      )
      defer { statement.reset() }
      try statement.bind(sequence, at: 1)
      try statement.bind(limit.map { Int64(max(0, $0)) } ?? -1, at: 2)
      var documents: [Change] = []
      while try statement.step() {
        documents.append(
          Change(
            sequence: statement.int64(0), id: statement.text(1),
            revision: try RevisionID(stored: statement.text(2)), isDeleted: statement.int64(3) != 0))
      }
      return Changes(documents: documents, lastSequence: documents.last?.sequence ?? sequence)
    }
  }

  /// The sequence of the newest write; 0 in an empty datastore.
  public var lastSequence: Int64 {
    get throws { try read { try $0.scalar("SELECT max(sequence) FROM documents") } }
  }
}
