public import CDTDatastore
import CDTJSON
public import Foundation

/// CDTDatastore's revision, the same type whether saved or not.
///
/// Its body is a reference, so copies share it; ``copy()`` copies it too.
@available(*, deprecated, message: "use DocumentDraft for a new document, DocumentRevision for a saved one")
public struct CDTDocumentRevision {
  /// The document's id, or `nil` to generate one.
  public var docId: String?
  /// The attachments, by name.
  public var attachments: Attachments
  private var content = NSMutableDictionary()
  private var hasBody = false
  private let saved: DocumentRevision?

  /// The document's content: strings, numbers, booleans, arrays, dictionaries and `NSNull`. Members that you don't change are saved as
  /// it was read. Setting copies the dictionary.
  public var body: NSMutableDictionary {
    get { content }
    set { (content, hasBody) = (Self.copy(newValue), true) }
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
    saved = revision
    if revision.hasBody { (content, hasBody) = (revision.body.foundation(), true) }
  }

  /// The revision's id as text; `nil` before it is saved.
  public var revId: String? { saved?.revisionID.description }

  /// Whether the revision is a tombstone.
  public var deleted: Bool { saved?.isDeleted ?? false }

  /// The number of the write that created the revision; 0 before it is saved.
  public var sequence: Int64 { saved?.sequence ?? 0 }

  /// Copies the revision and its body.
  public func copy() -> CDTDocumentRevision {
    var copy = self
    copy.content = Self.copy(content)
    return copy
  }

  static func copy(_ dictionary: NSDictionary) -> NSMutableDictionary {
    let copy = NSMutableDictionary()
    for (key, value) in dictionary {
      if let key = key as? AnyHashable { copy[key] = value }
    }
    return copy
  }

  /// Returns a revision to change. CDTDatastore 0.7 to 0.17 required this; now a revision in a `var` can be changed.
  public func mutableCopy() -> CDTDocumentRevision { copy() }

  // MARK: Current types

  /// The revision as a draft of a new document.
  ///
  /// - Throws: `DatastoreError`: `.missingBody`; `.invalidBody` for a value that JSON can't represent; `.conflict` if the
  ///   revision is saved and not a tombstone.
  public func draft() throws(DatastoreError) -> DocumentDraft {
    if let saved, !saved.isDeleted {
      throw DatastoreError(
        .conflict, documentID: docId,
        "document \"\(saved.id)\" has a revision already; update it, or create one from its body")
    }
    guard hasBody || content.count > 0 else {
      throw DatastoreError(
        .missingBody, documentID: docId,
        "the revision has no body; set one before saving, {} for an empty body"
      )
    }
    return DocumentDraft(
      id: docId, body: try JSONObject.converted(content, was: saved?.body, path: []), attachments: attachments
    )
  }

  /// The revision as a change of a saved document.
  ///
  /// - Throws: `DatastoreError`: `.invalidRevision` if the revision is not saved or its id was changed, `.invalidID`
  ///   if it has no id, `.invalidBody` for a value that JSON can't represent.
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
    if hasBody || content.count > 0 {
      let body = try JSONObject.converted(content, was: revision.body, path: [])
      if !body.isSpelled(like: revision.body) { revision.body = body }
    }
    if attachments != revision.attachments { revision.attachments = attachments }
    return revision
  }
}

@available(*, deprecated, message: "use DocumentDraft for a new document, DocumentRevision for a saved one")
extension CDTDocumentRevision: Hashable {
  /// Whether both have the same ids, bodies and attachments.
  public static func == (left: CDTDocumentRevision, right: CDTDocumentRevision) -> Bool {
    left.docId == right.docId && left.revId == right.revId && left.deleted == right.deleted
      && left.content == right.content && left.attachments == right.attachments
  }

  /// Hashes the ids.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(docId)
    hasher.combine(revId)
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
