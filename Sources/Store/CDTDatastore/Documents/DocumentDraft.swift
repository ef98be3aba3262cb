public import CDTJSON

/// A document that is not saved yet.
///
/// ```swift
/// let draft = DocumentDraft(id: "milk", body: ["description": "Buy milk"])
/// let milk = try store.createDocument(from: draft)
/// milk.revisionID.description  // "1-…"
/// ```
///
/// See <doc:WorkingWithDocuments#Create>.
public struct DocumentDraft: Sendable, Hashable {
  /// The document's id, or `nil` to generate one.
  public var id: String?

  /// The document's content.
  public var body: JSONObject

  /// The attachments, by name.
  public var attachments: Attachments

  /// Creates a draft.
  public init(id: String? = nil, body: JSONObject, attachments: Attachments = []) {
    self.id = id
    self.body = body
    self.attachments = attachments
  }

  /// Creates a draft with a body written as a literal with variables.
  ///
  /// ```swift
  /// let draft = DocumentDraft(body: ["name": name, "age": age])
  /// ```
  @_disfavoredOverload
  public init(id: String? = nil, body: JSONLiteral, attachments: Attachments = []) {
    self.init(id: id, body: JSONObject(body), attachments: attachments)
  }

  /// Creates a draft with the content of a revision, to copy the document or move it to another datastore.
  ///
  /// - Parameters:
  ///   - revision: The revision whose body and attachments are copied.
  ///   - id: The copy's id, or `nil` to generate one.
  /// - Throws: ``DatastoreError``: `.invalidRevision` if the revision has only some of its fields, `.missingBody` if
  ///   it was compacted.
  public init(copying revision: DocumentRevision, id: String?) throws(DatastoreError) {
    if revision.isProjected { throw DatastoreError(.projected(revision.id)) }
    guard revision.hasBody else { throw DatastoreError(.missingBody(revision.id)) }
    self.init(id: id, body: revision.body, attachments: revision.attachments)
  }

  /// Whether both are equal. Ids are compared byte by byte, and bodies regardless of the order of members.
  public static func == (left: DocumentDraft, right: DocumentDraft) -> Bool {
    left.id.map(KeyBytes.init) == right.id.map(KeyBytes.init) && left.body == right.body
      && left.attachments == right.attachments
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(id.map(KeyBytes.init))
    hasher.combine(body)
  }
}
