package import CDTDatastore
package import CDTJSON

/// A document as clients and replicators send it: its special members, and its other members as text that can be stored.
///
/// ```
/// {"_id": "task1", "_rev": "2-b", "_revisions": {"start": 2, "ids": ["b", "a"]}, "title": "Buy milk"}
///
/// id task1   revisionID 2-b   history [2-b, 1-a]   body {"title": "Buy milk"}
/// ```
package struct DocumentInput: Sendable {
  /// The value of `_id`. Whether a document can have it is not checked.
  package private(set) var id: String?
  /// The revision that is sent, or that an edit is based on.
  package var revisionID: RevisionID?
  /// The revision that is sent and its ancestors, newest first; empty if there is no revision.
  package private(set) var history: [RevisionID] = []
  /// Whether `_deleted` is true.
  package private(set) var isDeleted = false
  /// Whether `_removed` is true: a server withholds the revision from the user.
  package private(set) var isRemoved = false
  /// The attachments in the order of their members, which is the order of their parts in a multipart body.
  package private(set) var attachments: [IncomingAttachment] = []
  /// The members that are not special.
  package let body: BodyText

  /// The length of the text, without inline attachments.
  package var length: Int { body.text.count }

  /// Reads one JSON object and nothing else.
  package static func object(_ bytes: UnsafeRawBufferPointer) throws(CouchError) -> NormalizedObject {
    do throws(JSONError) {
      return try JSONText.normalize(whole: bytes)
    } catch {
      throw error.code == .notAnObject ? .documentNotAnObject : .invalidJSON(error)
    }
  }

  /// Reads a document that is one JSON object and nothing else.
  ///
  /// - Parameter mayBeRemoved: Whether `_removed` is allowed.
  package init(_ bytes: UnsafeRawBufferPointer, mayBeRemoved: Bool = false) throws(CouchError) {
    try self.init(Self.object(bytes), mayBeRemoved: mayBeRemoved)
  }

  /// Reads a document.
  ///
  /// - Throws: ``CouchError`` with status 400 if a member that begins with an underscore is unknown or has an invalid
  ///   value. If `_rev` and `_revisions` disagree, `_revisions` is right, as at CouchDB.
  package init(_ object: NormalizedObject, mayBeRemoved: Bool = false) throws(CouchError) {
    body = BodyText(object)
    var revision: RevisionID?
    var list: RevisionList?
    // Of a repeated member, the last one counts.
    for (name, value) in JSONObject(object.reserved.map { ($0.name, $0.value) }) {
      switch name {
      case "_id":
        guard case .string(let text) = value else { throw .documentIDNotAString }
        id = text
      case "_rev": revision = try RevisionID(json: value)
      case "_revisions": list = try RevisionList(json: value)
      case "_deleted":
        guard case .bool(let flag) = value else { throw .badSpecialMember(name) }
        isDeleted = flag
      case "_removed" where mayBeRemoved: isRemoved = value == true
      case "_attachments": attachments = try IncomingAttachment.list(json: value)
      case "_conflicts", "_deleted_conflicts", "_revs_info", "_local_seq": break
      default: throw .badSpecialMember(name)
      }
    }
    history = list?.revisions ?? revision.map { [$0] } ?? []
    revisionID = history.first
  }
}

extension CouchError {
  package static func invalidJSON(_ error: JSONError) -> CouchError {
    .badRequest("invalid UTF-8 JSON: \(error)")
  }
}
