public import CDTDatastore

/// CDTDatastore's ``ConflictResolver``.
@available(*, deprecated, renamed: "ConflictResolver")
public protocol CDTConflictResolver: ConflictResolver {
  /// The revision that is to stay, of the leaves that are not deleted; `nil` to leave the document conflicted.
  func resolve(_ docId: String, conflicts: [DocumentRevision]) -> DocumentRevision?
}

@available(*, deprecated, renamed: "ConflictResolver")
extension CDTConflictResolver {
  /// Asks what CDTDatastore asked.
  public func resolve(documentID: String, conflicts: [DocumentRevision]) throws -> DocumentRevision? {
    resolve(documentID, conflicts: conflicts)
  }
}

extension Datastore {
  /// CDTDatastore's spelling of ``Datastore/conflictedDocumentIDs()``; nothing when they can't be read.
  @available(*, deprecated, renamed: "conflictedDocumentIDs()")
  public func getConflictedDocumentIds() -> [String] {
    (try? conflictedDocumentIDs()) ?? []
  }

  /// CDTDatastore's spelling of ``Datastore/resolveConflicts(for:with:)``.
  @available(*, deprecated, renamed: "resolveConflicts(for:with:)")
  public func resolveConflictsForDocument(_ id: String, resolver: some ConflictResolver) throws {
    try resolveConflicts(for: id, with: resolver)
  }
}
