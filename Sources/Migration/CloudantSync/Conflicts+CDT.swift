public import CDTDatastore

/// CDTDatastore's `ConflictResolver`.
@available(*, deprecated, renamed: "ConflictResolver")
public protocol CDTConflictResolver: ConflictResolver {
  /// Returns the revision to keep, among the leaves that are not deleted; `nil` to leave the conflict.
  func resolve(_ docId: String, conflicts: [CDTDocumentRevision]) -> CDTDocumentRevision?
}

@available(*, deprecated, renamed: "ConflictResolver")
extension CDTConflictResolver {
  /// Calls CDTDatastore's form of the method.
  public func resolve(documentID: String, conflicts: [DocumentRevision]) throws -> DocumentRevision? {
    try resolve(documentID, conflicts: conflicts.map { CDTDocumentRevision($0) })?.revision()
  }
}

extension Datastore {
  /// CDTDatastore's form of `ReadTransaction.conflictedDocumentIDs()`; empty if they can't be read.
  @available(*, deprecated, message: "use read { try $0.conflictedDocumentIDs() }")
  public func getConflictedDocumentIds() -> [String] {
    (try? read { try $0.conflictedDocumentIDs() }) ?? []
  }

  /// CDTDatastore's form of `WriteTransaction.resolveConflicts(for:with:)`.
  @available(*, deprecated, message: "use write { try $0.resolveConflicts(for:with:) }")
  public func resolveConflictsForDocument(_ id: String, resolver: some ConflictResolver) throws {
    try write { try $0.resolveConflicts(for: id, with: resolver) }
  }

  /// CDTDatastore's form of `WriteTransaction.resolveConflicts(for:with:)` since Swift 3.
  @available(*, deprecated, message: "use write { try $0.resolveConflicts(for:with:) }")
  public func resolveConflicts(forDocument id: String, resolver: some ConflictResolver) throws {
    try write { try $0.resolveConflicts(for: id, with: resolver) }
  }
}
