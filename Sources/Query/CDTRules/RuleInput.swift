import CDTDatastore
import CDTJSON
import CDTSelector

/// The input of the rules of writing, as JSON text:
///
/// ```json
/// {"newDoc": {"_id": "a", "title": "milk"}, "oldDoc": {…}, "userCtx": {"db": "tasks", "name": "anna", "roles": []}, "security": {}}
/// ```
struct RuleInput {
  private var text: [UInt8] = Array(#"{"newDoc":"#.utf8)

  /// - Parameters:
  ///   - new: The document that is written.
  ///   - old: The document that is replaced, which has no member without one.
  ///   - context: The members `userCtx` and `security`.
  init(_ new: [UInt8], replacing old: [UInt8]?, in context: [UInt8]) {
    text += new
    if let old {
      text += Array(#","oldDoc":"#.utf8)
      text += old
    }
    text += context
    text.append(UInt8(ascii: "}"))
  }

  /// Calls `body` with the text in the form of a document, which has neither id nor revision.
  func withBytes<R>(_ body: (DocumentBytes) throws(MatchFailure) -> R) throws(MatchFailure) -> R {
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    let result = text.withUnsafeBytes { text in
      Result { () throws(MatchFailure) in try body(DocumentBytes(id: none, revision: none, body: text)) }
    }
    return try result.get()
  }

  /// The text of the members that are the same for all documents.
  static func context(_ user: UserContext, inDatabase name: String, _ security: JSONObject) -> [UInt8] {
    var text = Array(#","userCtx":"#.utf8)
    user.json(inDatabase: name).write(to: &text)
    text += Array(#","security":"#.utf8)
    security.write(to: &text)
    return text
  }

  /// A document with its own members.
  ///
  /// - Parameter body: The compact text of an object.
  static func document(
    _ id: String, revision: RevisionID? = nil, isDeleted: Bool, _ attachments: Attachments, body: [UInt8]
  ) -> [UInt8] {
    var members: JSONObject = ["_id": .string(id)]
    if let revision { members["_rev"] = .string(revision.description) }
    if isDeleted { members["_deleted"] = true }
    if !attachments.isEmpty {
      members["_attachments"] = .object(JSONObject(attachments.map { ($0.name, .object($0.stub)) }))
    }
    var text: [UInt8] = []
    text.reserveCapacity(body.count + 64)
    members.write(to: &text)
    guard body.count > 2 else { return text }
    text[text.count - 1] = UInt8(ascii: ",")
    text += body.dropFirst()
    return text
  }
}

extension DocumentAttachment {
  /// The attachment without its content.
  fileprivate var stub: JSONObject {
    var json: JSONObject = ["content_type": .string(contentType), "stub": true]
    if let generation { json["revpos"] = .int(Int64(generation)) }
    if let digest = couchDigest { json["digest"] = .string(digest) }
    if let length { json["length"] = .int(length) }
    return json
  }
}

extension WriteTransaction {
  /// The document that a revision follows, with its own members; `nil` for a new document, also after a deletion.
  ///
  /// A revision made elsewhere follows the nearest ancestor that is stored, or, if there is none, the winner: a document that
  /// exists is not new.
  func documentReplaced(by revision: ProposedRevision) throws -> [UInt8]? {
    guard let winner = try currentRevision(of: revision.id) else { return nil }
    for ancestor in revision.ancestors {
      if ancestor == winner.id { return winner.isDeleted ? nil : try winningText(of: revision.id) }
      do {
        let found = try document(withID: revision.id, revisionID: ancestor)
        return found.isDeleted ? nil : RuleInput.text(of: found)
      } catch let error as DatastoreError where error.code == .notFound {}
    }
    return winner.isDeleted ? nil : try winningText(of: revision.id)
  }

  private func winningText(of id: String) throws -> [UInt8] {
    RuleInput.text(of: try document(withID: id))
  }
}

extension RuleInput {
  static func text(of revision: DocumentRevision) -> [UInt8] {
    var body: [UInt8] = []
    revision.body.write(to: &body)
    return document(
      revision.id, revision: revision.revisionID, isDeleted: revision.isDeleted, revision.attachments,
      body: body)
  }
}
