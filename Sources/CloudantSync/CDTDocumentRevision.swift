public import CDTDatastore
public import CDTJSON

/// CDTDatastore's revision, the same type whether saved or not.
@available(*, deprecated, message: "use DocumentDraft for a new document, DocumentRevision for a saved one")
public struct CDTDocumentRevision: Sendable, Hashable {
  /// The document's id, or `nil` to generate one.
  public var docId: String?
  /// The attachments, by name.
  public var attachments: Attachments
  private var content: JSONObject?
  private let saved: DocumentRevision?

  /// The document's content.
  public var body: JSONObject {
    get { content ?? [:] }
    set { content = newValue }
  }

  /// Creates a revision to save as a new document.
  public init(docId: String? = nil) {
    self.docId = docId
    attachments = []
    saved = nil
  }

  /// The form of ``init(docId:)`` in CDTDatastore's guide.
  public init(_ docId: String) {
    self.init(docId: docId)
  }

  /// Creates a revision from a saved one.
  public init(_ revision: DocumentRevision) {
    docId = revision.id
    attachments = revision.attachments
    content = revision.hasBody ? revision.body : nil
    saved = revision
  }

  /// The revision's id as text; `nil` before it is saved.
  public var revId: String? { saved?.revisionID.description }

  /// Whether the revision is a tombstone.
  public var deleted: Bool { saved?.isDeleted ?? false }

  /// The number of the write that created the revision; 0 before it is saved.
  public var sequence: Int64 { saved?.sequence ?? 0 }

  /// Copies the revision. CDTDatastore required this; now a revision is a value, which assignment copies.
  public func copy() -> CDTDocumentRevision { self }

  /// Returns a revision to change. CDTDatastore 0.7 to 0.17 required this; now a revision in a `var` can be changed.
  public func mutableCopy() -> CDTDocumentRevision { self }

  // MARK: Current types

  /// The revision as a draft of a new document.
  ///
  /// - Throws: `DatastoreError`: `.missingBody`; `.conflict` if the revision is saved and not a tombstone.
  public func draft() throws(DatastoreError) -> DocumentDraft {
    if let saved, !saved.isDeleted {
      throw DatastoreError(
        .conflict, documentID: docId,
        "document \"\(saved.id)\" has a revision already; update it, or create one from its body")
    }
    guard let content else {
      throw DatastoreError(
        .missingBody, documentID: docId,
        "the revision has no body; set one before saving, {} for an empty body"
      )
    }
    return DocumentDraft(id: docId, body: content, attachments: attachments)
  }

  /// The revision as a change of a saved document.
  ///
  /// - Throws: `DatastoreError`: `.invalidRevision` if the revision is not saved or its id was changed, `.invalidID`
  ///   if it has no id.
  public func revision() throws(DatastoreError) -> DocumentRevision {
    guard let docId else {
      throw DatastoreError(
        .invalidID, "the revision has no document id; read the document before changing it")
    }
    guard var revision = saved, docId.hasSameBytes(as: revision.id) else {
      throw DatastoreError(
        .invalidRevision, documentID: docId,
        "the revision has not been saved under this id; read the document before changing it")
    }
    if let content, !content.isSpelled(like: revision.body) { revision.body = content }
    if attachments != revision.attachments { revision.attachments = attachments }
    return revision
  }
}

extension DocumentRevision {
  /// CDTDatastore's name of `DocumentRevision.id`.
  @available(*, deprecated, renamed: "id")
  public var docId: String { id }

  /// CDTDatastore's name of `DocumentRevision.revisionID`, as text.
  @available(*, deprecated, renamed: "revisionID")
  public var revId: String { revisionID.description }

  /// CDTDatastore's name of `DocumentRevision.isDeleted`.
  @available(*, deprecated, renamed: "isDeleted")
  public var deleted: Bool { isDeleted }
}

// The guide uses the result of `datastore.getDocumentForId("anotherId")` without unwrapping it.
@available(
  *, deprecated, message: "use document(withID:), which throws if there is no such document"
)
extension Optional where Wrapped == CDTDocumentRevision {
  /// The attachments of a document; empty if the document does not exist.
  public var attachments: Attachments { self?.attachments ?? Attachments() }
}
