public import CDTDatastore
import CDTJSON
public import Foundation

/// The body of a document in CDTDatastore before 0.8.
@available(*, deprecated, message: "use DocumentDraft for a new document, DocumentRevision for a saved one")
public struct CDTDocumentBody {
  fileprivate let dictionary: NSMutableDictionary

  /// Creates a body.
  public init(dictionary: [String: Any]) {
    self.dictionary = NSMutableDictionary(dictionary: dictionary)
  }

  /// Creates a body.
  public init(dictionary: NSDictionary) {
    self.dictionary = CDTDocumentRevision.copy(dictionary)
  }
}

// The methods of CDTDatastore before 0.8.
@available(*, deprecated, message: "use DocumentDraft for a new document, DocumentRevision for a saved one")
extension Datastore {
  /// Creates a document with an id of its own.
  @discardableResult
  public func createDocumentWithBody(_ body: CDTDocumentBody) throws -> CDTDocumentRevision {
    try createDocumentWithId(nil, body: body)
  }

  /// Creates a document.
  @discardableResult
  public func createDocumentWithId(_ id: String?, body: CDTDocumentBody) throws -> CDTDocumentRevision {
    CDTDocumentRevision(
      try createDocument(from: DocumentDraft(id: id, body: try JSONObject(body.dictionary))))
  }

  /// Replaces the body of a revision.
  @discardableResult
  public func updateDocumentWithId(
    _ id: String, prevRev: String, body: CDTDocumentBody
  ) throws -> CDTDocumentRevision {
    var revision = try getDocumentWithId(id, rev: prevRev)
    revision.body = body.dictionary
    return try updateDocumentFromRevision(revision)
  }

  /// Adds a tombstone to a revision.
  @discardableResult
  public func deleteDocumentWithId(_ id: String, rev: String) throws -> CDTDocumentRevision {
    try deleteDocumentFromRevision(getDocumentWithId(id, rev: rev))
  }

  /// The attachment of a revision; `nil` if it has none of that name.
  public func attachmentNamed(_ name: String, forRev revision: CDTDocumentRevision) throws
    -> DocumentAttachment?
  {
    revision.attachments[name]
  }

  /// Adds and replaces attachments of a revision.
  @discardableResult
  public func updateAttachments(
    _ attachments: [DocumentAttachment], forRev revision: CDTDocumentRevision
  ) throws -> CDTDocumentRevision {
    var revision = revision
    for attachment in attachments { revision.attachments[attachment.name] = attachment }
    return try updateDocumentFromRevision(revision)
  }

  /// Removes attachments of a revision.
  @discardableResult
  public func removeAttachments(
    _ names: [String], fromRev revision: CDTDocumentRevision
  ) throws -> CDTDocumentRevision {
    var revision = revision
    for name in names { revision.attachments.removeValue(forKey: name) }
    return try updateDocumentFromRevision(revision)
  }
}
