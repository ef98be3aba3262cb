package import CDTDatastore
package import CDTJSON

/// A document as clients and replicators send it.
///
/// ```
/// {"_id": "task1", "_rev": "2-b", "_revisions": {"start": 2, "ids": ["b", "a"]}, "title": "Buy milk"}
///
/// id task1   revisionID 2-b   history [2-b, 1-a]   body {"title": "Buy milk"}
/// ```
package struct IncomingDocument: Sendable {
  /// The value of `_id`. Whether a document can have it is not checked.
  package let id: String?
  /// The revision that is sent, or that an edit is based on.
  package let revisionID: RevisionID?
  /// That revision and its ancestors, newest first; empty if there is no revision.
  package let history: [RevisionID]
  /// Whether `_deleted` is true.
  package let isDeleted: Bool
  /// The members that are not special.
  package let body: JSONObject
  /// The attachments in the order of their members, which is the order of their parts in a multipart body.
  package let attachments: [IncomingAttachment]

  /// Reads a document.
  ///
  /// - Throws: ``CouchError`` with status 400 if a member that begins with an underscore is unknown or has an invalid
  ///   value. If `_rev` and `_revisions` disagree, `_revisions` is right, as at CouchDB.
  package init(json: JSONValue) throws(CouchError) {
    guard case .object(let object) = json else { throw .documentNotAnObject }
    try self.init(object)
  }

  /// Reads a document.
  package init(_ object: JSONObject) throws(CouchError) {
    var id: String?
    var revision: RevisionID?
    var list: RevisionList?
    var isDeleted = false
    var attachments: [IncomingAttachment] = []
    for (name, value) in object where ReservedMember.isReserved(name) {
      switch name {
      case "_id":
        guard case .string(let text) = value else { throw .documentIDNotAString }
        id = text
      case "_rev": revision = try RevisionID(json: value)
      case "_revisions": list = try RevisionList(json: value)
      case "_deleted":
        guard case .bool(let flag) = value else { throw .badSpecialMember(name) }
        isDeleted = flag
      case "_attachments": attachments = try IncomingAttachment.list(json: value)
      case "_conflicts", "_deleted_conflicts", "_revs_info", "_local_seq": break
      default: throw .badSpecialMember(name)
      }
    }
    self.id = id
    history = list?.revisions ?? revision.map { [$0] } ?? []
    revisionID = history.first
    self.isDeleted = isDeleted
    body = object.filter { !ReservedMember.isReserved($0.key) }
    self.attachments = attachments
  }
}
