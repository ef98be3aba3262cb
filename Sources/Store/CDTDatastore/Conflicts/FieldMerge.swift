public import CDTJSON

/// A merge of conflicting revisions field by field, against their common ancestor.
///
/// ```swift
/// let result = try store.write {
///   try $0.resolveConflicts(for: "task", by: .fields(arrays: ["tags": .set, "steps": .keyed(by: "id")]))
/// }
/// for field in result?.conflicts ?? [] { print(field.path, field.base ?? .null, field.versions) }
/// ```
///
/// A field that one revision has changed gets the changed value. If several have changed it to the same value, it gets that. If
/// they have changed it to different values, the document stays in conflict, and the field is listed.
///
/// The result depends on the revisions alone: two devices that have the same ones make the same revision.
///
/// See <doc:ResolvingConflicts#Merging-by-fields>.
public struct FieldMerge: Sendable, Hashable {
  /// The comparison of the arrays at a path.
  public enum ArrayRule: Sendable, Hashable {
    /// As one value.
    case whole
    /// As a set: what was added by any revision is added, what was removed by any is removed. Equal elements become one if the sets
    /// are merged.
    case set
    /// Element by element: those with the same value of a member are merged as documents are. Arrays with other elements, with two of
    /// the same value, or whose order several revisions have changed differently, are compared as a whole.
    case keyed(by: String)
  }

  /// The merge that compares arrays as a whole.
  public static let fields = FieldMerge(arrays: [:])

  /// The merge with other rules for some arrays, by their paths: `tags`, `owner.phones`, and `steps[].tags` for those in the elements
  /// of the array `steps`.
  public static func fields(arrays: [String: ArrayRule]) -> FieldMerge { FieldMerge(arrays: arrays) }

  let arrays: [String: ArrayRule]
}

/// A field that conflicting revisions have changed to different values.
public struct FieldConflict: Sendable, Hashable {
  /// The path, such as `owner.city`, `steps[3].text` in the element whose key is 3, or `_attachments.photo.jpg`.
  public let path: String
  /// The value in the common ancestor; `nil` if the field was not there, or the ancestor's content is not stored.
  public let base: JSONValue?
  /// The value in each revision, the winner first; `nil` if the field is not there. An attachment is shown by its type, digest and length.
  public let versions: [Version]

  /// The value of a field in a revision.
  public struct Version: Sendable, Hashable {
    /// The leaf.
    public let revisionID: RevisionID
    /// The value; `nil` if the leaf does not have the field.
    public let value: JSONValue?
  }

  /// `{"path": "age", "base": 36, "versions": {"2-b": 37, "2-a": 38}}`; what is not there is left out.
  package var json: JSONObject {
    var json: JSONObject = ["path": .string(path)]
    json["base"] = base
    json["versions"] = .object(
      JSONObject(
        versions.compactMap { version in version.value.map { (version.revisionID.description, $0) } }))
    return json
  }
}

/// The result of a merge by fields.
public struct FieldMergeResult: Sendable {
  /// The document's id.
  public let documentID: String
  /// The document after the merge; `nil` if it stays in conflict.
  public let revision: DocumentRevision?
  /// The fields for which the document stays in conflict, and nothing was saved.
  public let conflicts: [FieldConflict]
  /// Whether the content of the common ancestor is there. Without it, which was compacted or has never been here, each field that
  /// differs is in conflict. Revisions of documents that were created apart have an empty ancestor.
  public let hasAncestor: Bool
}

extension WriteTransaction {
  /// Resolves a document's conflict by merging its fields.
  ///
  /// The merged revision follows the winner, and the other leaves get tombstones.
  ///
  /// - Returns: The merged revision, or the fields that are in conflict; `nil` if the document has no conflict.
  /// - Throws: ``DatastoreError``: `.notFound`, and the errors of an update. The document is then unchanged.
  /// - Complexity: O(*s*), where *s* is the size of the leaves.
  ///
  /// See <doc:ResolvingConflicts#Merging-by-fields>.
  @discardableResult
  public func resolveConflicts(for id: String, by merge: FieldMerge) throws -> FieldMergeResult? {
    try resolveConflicts(for: id, by: merge) { _, _ in true }
  }

  /// - Parameter accept: Whether the leaves are resolved by the merged revision, which is `nil` before they are merged.
  func resolveConflicts(
    for id: String, by merge: FieldMerge, if accept: ([DocumentRevision], DocumentRevision?) throws -> Bool
  ) throws -> FieldMergeResult? {
    let leaves = try currentRevisions(ofDocument: id)
    guard leaves.count > 1, try accept(leaves, nil) else { return nil }
    let ancestor = try commonAncestor(of: leaves, in: id)
    var merging = FieldMerging(leaves, since: ancestor, by: merge)
    guard let merged = merging.merged() else { return nil }
    let isResolved = try merging.conflicts.isEmpty && accept(leaves, merged)
    return FieldMergeResult(
      documentID: id, revision: isResolved ? try keep(merged, of: leaves, in: id) : nil,
      conflicts: merging.conflicts, hasAncestor: ancestor.isKnown)
  }
}
