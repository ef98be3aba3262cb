package import CDTDatastore

/// What a client wants to know of a document besides its members.
package struct DocumentOptions: Sendable {
  /// `_revisions`: the ids of the ancestors.
  package var revisions = false
  /// `_revs_info`: the ancestors, and whether they can be read.
  package var revisionsInfo = false
  /// `_conflicts`: the other leaves that are not deleted.
  package var conflicts = false
  /// `_deleted_conflicts`: the other leaves that are deleted.
  package var deletedConflicts = false
  /// `_local_seq`: the sequence of the change.
  package var localSequence = false
  /// The content of attachments, not only their names.
  package var attachments = false
  /// With `attachments`: only those that none of these revisions has.
  package var attachmentsSince: [RevisionID] = []

  package init() {}

  /// Whether a document tells something that can change while its revision stays.
  package var tellsMore: Bool { revisionsInfo || conflicts || deletedConflicts || localSequence }

  /// Whether the revision tree is needed.
  package var needsTree: Bool {
    revisions || revisionsInfo || conflicts || deletedConflicts || !attachmentsSince.isEmpty
  }
}
