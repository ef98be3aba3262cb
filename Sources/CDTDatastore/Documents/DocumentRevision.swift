public import JSON

/// One revision of a document: a value, changed freely and saved by a datastore.
///
/// ```swift
/// var revision = DocumentRevision(id: "doc1", body: ["description": "Buy milk"])
/// revision = try store.createDocument(from: revision)
/// revision.body["completed"] = true
/// revision = try store.updateDocument(from: revision)
/// ```
///
/// Source: `docs/crud.md`, Documents.
public struct DocumentRevision: Sendable, Hashable {
  /// The document's id, or `nil` for one to be made when it is created.
  public var id: String?

  /// The revision's id, or `nil` when it has not been saved.
  public let revision: RevisionID?

  /// What the document says.
  ///
  /// - Complexity: O(*n*) when the body of a revision that was read is first looked at, where *n* is its length; then O(1).
  public var body: JSONObject {
    get { content.object }
    set {
      content = .object(newValue)
      hasBody = true
    }
    _modify {
      var body = content.object
      // Nothing else holds it now, so that a change is made in place.
      content = .object([:])
      defer {
        content = .object(body)
        hasBody = true
      }
      yield &body
    }
  }

  private var content: DocumentBody

  /// Whether there is a body. A new revision needs one to be saved, `[:]` if it is empty; one that was compacted has
  /// lost it.
  public private(set) var hasBody: Bool

  /// The attachments, by name.
  public var attachments: Attachments

  /// Whether the revision is a tombstone.
  public let isDeleted: Bool

  /// The number of the write that made the revision, rising within the datastore; 0 when it has not been saved.
  public let sequence: Int64

  /// Whether the body has only the fields that a query asked for; such a revision can't be saved.
  public let isProjected: Bool

  /// A revision to be saved as a new document.
  public init(id: String? = nil, body: JSONObject? = nil, attachments: Attachments = []) {
    self.init(id: id, revision: nil, body: body, attachments: attachments, sequence: 0)
  }

  /// A revision that was made elsewhere, for ``Datastore/forceInsert(_:history:)``.
  public init(
    id: String, revision: RevisionID, body: JSONObject?, isDeleted: Bool = false,
    attachments: Attachments = []
  ) {
    self.init(
      id: id, revision: revision, body: body, isDeleted: isDeleted, attachments: attachments, sequence: 0)
  }

  package init(
    id: String?, revision: RevisionID?, body: JSONObject?, isDeleted: Bool = false,
    attachments: Attachments = [],
    sequence: Int64, isProjected: Bool = false
  ) {
    self.init(
      id: id, revision: revision, content: body.map(DocumentBody.object), isDeleted: isDeleted,
      attachments: attachments, sequence: sequence, isProjected: isProjected)
  }

  init(
    id: String?, revision: RevisionID?, content: DocumentBody?, isDeleted: Bool, attachments: Attachments,
    sequence: Int64, isProjected: Bool = false
  ) {
    self.id = id
    self.revision = revision
    self.content = content ?? .object([:])
    hasBody = content != nil
    self.isDeleted = isDeleted
    self.attachments = attachments
    self.sequence = sequence
    self.isProjected = isProjected
  }

  /// The revision with only a part of its body, which can't be saved.
  package func projected(to body: JSONObject) -> DocumentRevision {
    DocumentRevision(
      id: id, revision: revision, body: body, isDeleted: isDeleted, attachments: attachments,
      sequence: sequence,
      isProjected: true)
  }

  /// Whether both say the same; ids are compared byte for byte, and bodies with their members in any order.
  public static func == (left: DocumentRevision, right: DocumentRevision) -> Bool {
    left.id.map(KeyBytes.init) == right.id.map(KeyBytes.init) && left.revision == right.revision
      && left.body == right.body && left.hasBody == right.hasBody && left.isDeleted == right.isDeleted
      && left.attachments == right.attachments && left.sequence == right.sequence
      && left.isProjected == right.isProjected
  }

  /// Equal revisions hash alike.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(id.map(KeyBytes.init))
    hasher.combine(revision)
    hasher.combine(body)
    hasher.combine(isDeleted)
    hasher.combine(sequence)
    hasher.combine(isProjected)
  }
}
