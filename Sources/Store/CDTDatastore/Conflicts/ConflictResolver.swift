/// Decides how to resolve a document's conflict.
///
/// ```swift
/// struct KeepLatest: ConflictResolver {
///   func resolve(documentID: String, conflicts: [DocumentRevision]) -> DocumentRevision? {
///     conflicts.max { ($0.body["time"]?.doubleValue ?? 0) < ($1.body["time"]?.doubleValue ?? 0) }
///   }
/// }
/// try store.write { try $0.resolveConflicts(for: "doc1", with: KeepLatest()) }
/// ```
///
/// See <doc:ResolvingConflicts#Resolving>.
public protocol ConflictResolver: SendableMetatype {
  /// Returns the revision to keep.
  ///
  /// - Parameters:
  ///   - documentID: The document's id.
  ///   - conflicts: The leaves that are not deleted, at least two, newest first: in descending order of their revision
  ///     ids, including the winner.
  /// - Returns: One of the leaves, changed or unchanged; `nil` to leave the conflict.
  /// - Throws: Any error; it is rethrown, and the document is unchanged.
  func resolve(documentID: String, conflicts: [DocumentRevision]) throws -> DocumentRevision?

  /// Returns the revision to keep, with the common ancestor of the leaves at hand. Unless it is implemented, it calls
  /// ``resolve(documentID:conflicts:)``.
  ///
  /// - Parameters:
  ///   - documentID: The document's id.
  ///   - conflicts: The leaves that are not deleted, the winner first.
  ///   - base: The newest revision from which all leaves descend; `nil` if there is none, or its content is not stored: it was
  ///     compacted, or has never been here.
  func resolve(
    documentID: String, conflicts: [DocumentRevision], base: DocumentRevision?
  ) throws -> DocumentRevision?
}

extension ConflictResolver {
  /// Calls ``resolve(documentID:conflicts:)``.
  public func resolve(
    documentID: String, conflicts: [DocumentRevision], base: DocumentRevision?
  ) throws -> DocumentRevision? {
    try resolve(documentID: documentID, conflicts: conflicts)
  }
}
