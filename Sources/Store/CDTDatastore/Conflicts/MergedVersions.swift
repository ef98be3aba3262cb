import CDTJSON

extension Array where Element == DocumentRevision {
  /// The first version with what the others have changed since their common ancestor; `nil` for an empty array.
  ///
  /// ```swift
  /// try transaction.resolveConflicts(for: "task") { _, leaves, base in leaves.merged(since: base) }
  /// ```
  ///
  /// Members are compared at any depth, arrays as a whole, and attachments by their content and type. What several versions
  /// have changed is taken from the first of them. ``WriteTransaction/resolveConflicts(for:by:)`` leaves such a conflict.
  ///
  /// - Parameter base: The common ancestor. Without it, what others have changed is not known, and the first version is
  ///   returned.
  ///
  /// See <doc:ResolvingConflicts#Resolving>.
  public func merged(since base: DocumentRevision?) -> DocumentRevision? {
    guard let base else { return first }
    var merging = FieldMerging(self, since: .revision(base), by: .fields)
    return merging.merged()
  }
}
