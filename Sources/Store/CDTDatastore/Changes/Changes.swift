import CDTJSON

/// A changed document.
public struct Change: Sendable, Hashable {
  /// The document's latest sequence.
  public let sequence: Int64
  /// The document's id.
  public let id: String
  /// The id of the winner.
  public let revisionID: RevisionID
  /// Whether the document is deleted.
  public let isDeleted: Bool
  /// The number of the document's leaves, including deleted ones.
  package let leafCount: Int
  /// Whether the user has seen the document, and does not see it any more.
  package var hasLeft = false

  /// Whether both are equal; ids are compared byte by byte.
  public static func == (left: Change, right: Change) -> Bool {
    left.sequence == right.sequence && left.id.hasSameBytes(as: right.id)
      && left.revisionID == right.revisionID
      && left.isDeleted == right.isDeleted
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(sequence)
    hasher.combine(KeyBytes(id))
    hasher.combine(revisionID)
    hasher.combine(isDeleted)
  }
}

/// A batch of a datastore's changes, and the sequence from which to continue.
public struct Changes: Sendable, Hashable {
  /// The changed documents, each once, ordered by their latest sequence.
  public let documents: [Change]
  /// The `since` for the next call. No change is missed or repeated.
  public let lastSequence: Int64
}
