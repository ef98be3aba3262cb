public import CDTJSON

/// A revision of a document: a value that you can change and save as the next revision.
///
/// ```swift
/// var task = try store.document(withID: "milk")
/// task.body["completed"] = true
/// task = try store.updateDocument(from: task)
/// ```
///
/// A document that is not saved yet is a ``DocumentDraft``. See <doc:WorkingWithDocuments>.
public struct DocumentRevision: Sendable, Hashable, Identifiable {
  /// The document's id.
  public let id: String

  /// The revision's id.
  public let revisionID: RevisionID

  /// The document's content.
  ///
  /// - Complexity: O(*n*) on first use after the revision is read, where *n* is the body's length; then O(1).
  public var body: JSONObject {
    get { content.object }
    set {
      content = .object(newValue)
      hasBody = true
    }
    _modify {
      var body = content.object
      // Release the stored reference, so that the change happens in place.
      content = .object([:])
      defer {
        content = .object(body)
        hasBody = true
      }
      yield &body
    }
  }

  private var content: DocumentBody

  /// Whether there is a body. Compaction removes a revision's body: ``body`` is then empty, and the revision can't be
  /// saved until you set it.
  public private(set) var hasBody: Bool

  /// The attachments, by name.
  public var attachments: Attachments

  /// Whether the revision is a tombstone.
  public let isDeleted: Bool

  /// The number of the write that created the revision, which increases within the datastore; 0 for a revision created
  /// elsewhere.
  public let sequence: Int64

  /// Whether the body has only the fields selected by a query. Such a revision can be deleted, but not saved.
  public let isProjected: Bool

  /// Creates a revision from another store, for `Datastore.forceInsert(_:history:)`.
  ///
  /// - Parameters:
  ///   - id: The document's id.
  ///   - revisionID: The revision's id in the other store.
  ///   - body: The body, or `nil` for a tombstone without one.
  ///   - isDeleted: Whether the revision is a tombstone.
  ///   - attachments: The attachments, by name.
  public init(
    id: String, revisionID: RevisionID, body: JSONObject?, isDeleted: Bool = false,
    attachments: Attachments = []
  ) {
    self.init(
      id: id, revisionID: revisionID, body: body, isDeleted: isDeleted, attachments: attachments, sequence: 0)
  }

  package init(
    id: String, revisionID: RevisionID, body: JSONObject?, isDeleted: Bool = false,
    attachments: Attachments = [], sequence: Int64, isProjected: Bool = false
  ) {
    self.init(
      id: id, revisionID: revisionID, content: body.map(DocumentBody.object), isDeleted: isDeleted,
      attachments: attachments, sequence: sequence, isProjected: isProjected)
  }

  package init(
    id: String, revisionID: RevisionID, content: DocumentBody?, isDeleted: Bool, attachments: Attachments,
    sequence: Int64, isProjected: Bool = false
  ) {
    self.id = id
    self.revisionID = revisionID
    self.content = content ?? .object([:])
    hasBody = content != nil
    self.isDeleted = isDeleted
    self.attachments = attachments
    self.sequence = sequence
    self.isProjected = isProjected
  }

  /// The body as compact JSON text.
  package var bodyText: [UInt8] { content.text }

  /// Whether the body, with the spelling of its numbers, and the attachments are the same. Two long numbers can be equal
  /// and differ in their digits.
  package func says(theSameAs other: DocumentRevision) -> Bool {
    hasBody == other.hasBody && body.isSpelled(like: other.body) && attachments == other.attachments
  }

  /// The revision with only part of its body. It can't be saved.
  package func projected(to body: JSONObject) -> DocumentRevision {
    DocumentRevision(
      id: id, revisionID: revisionID, body: body, isDeleted: isDeleted, attachments: attachments,
      sequence: sequence, isProjected: true)
  }

  /// Whether both are equal. Ids are compared byte by byte, and bodies regardless of the order of members.
  public static func == (left: DocumentRevision, right: DocumentRevision) -> Bool {
    left.id.hasSameBytes(as: right.id) && left.revisionID == right.revisionID
      && left.body == right.body && left.hasBody == right.hasBody && left.isDeleted == right.isDeleted
      && left.attachments == right.attachments && left.sequence == right.sequence
      && left.isProjected == right.isProjected
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(KeyBytes(id))
    hasher.combine(revisionID)
    hasher.combine(body)
    hasher.combine(isDeleted)
    hasher.combine(sequence)
    hasher.combine(isProjected)
  }
}

extension DocumentRevision {
  /// The revision as CouchDB writes documents: `_id` and `_rev` first, `_deleted` for a tombstone, then the body.
  public var json: JSONObject {
    var json = JSONObject()
    json["_id"] = .string(id)
    json["_rev"] = .string(revisionID.description)
    if isDeleted { json["_deleted"] = true }
    for (key, value) in body { json[key] = value }
    return json
  }
}

extension DocumentDraft {
  /// Creates a draft whose body is encoded from a value of your own type.
  ///
  /// ```swift
  /// struct Todo: Codable { var description: String, completed: Bool }
  /// let milk = try DocumentDraft(id: "milk", encoding: Todo(description: "Buy milk", completed: false))
  /// ```
  ///
  /// By default, dates are encoded as ISO 8601 strings and data as Base64.
  ///
  /// - Throws: `EncodingError` with the path of a value that JSON can't represent, or if the value is not encoded as
  ///   an object; errors of the type's own encoding.
  ///
  /// See <doc:WorkingWithDocuments#Codable>.
  public init(
    id: String? = nil, encoding value: some Encodable, options: JSONCodingOptions = .init()
  ) throws {
    self.init(id: id, body: try JSONObject(encoding: value, options: options))
  }
}
