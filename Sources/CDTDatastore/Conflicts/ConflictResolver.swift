/// Decides what becomes of a conflicted document.
///
/// ```swift
/// struct KeepLatest: ConflictResolver {
///   func resolve(documentID: String, conflicts: [DocumentRevision]) -> DocumentRevision? {
///     conflicts.max { ($0.body["time"]?.doubleValue ?? 0) < ($1.body["time"]?.doubleValue ?? 0) }
///   }
/// }
/// try store.resolveConflicts(for: "doc1", with: KeepLatest())
/// ```
///
/// Source: `docs/conflicts.md`, Resolving.
public protocol ConflictResolver {
  /// The revision that is to stay.
  ///
  /// - Parameters:
  ///   - documentID: The document's id.
  ///   - conflicts: Its leaves that are not deleted, newest first, the winner among them; at least two.
  /// - Returns: One of the leaves, as it is or changed; `nil` to leave the document conflicted.
  /// - Throws: Whatever it likes: the document stays as it was, and the error passes through.
  func resolve(documentID: String, conflicts: [DocumentRevision]) throws -> DocumentRevision?
}
