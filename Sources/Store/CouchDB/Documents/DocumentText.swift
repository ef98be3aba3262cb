package import CDTDatastore
package import CDTJSON
import CDTPlatform

/// Writes documents as CouchDB does: `_id`, `_rev`, `_deleted`, the members, and then what the options ask for.
package struct DocumentText {
  private let transaction: ReadTransaction
  private let options: DocumentOptions

  package init(_ transaction: ReadTransaction, _ options: DocumentOptions) {
    self.transaction = transaction
    self.options = options
  }

  /// The JSON text of a revision.
  ///
  /// - Parameter content: The form of an attachment whose content is wanted.
  package func text(
    of revision: DocumentRevision, content: AttachmentContentForm = .inline
  ) throws -> [UInt8] {
    let tree = options.needsTree ? try transaction.tree(ofDocument: revision.id) : nil
    var text: [UInt8] = Array(#"{"_id":"#.utf8)
    let body = revision.bodyText
    text.reserveCapacity(body.count + 200)
    JSONString.write(revision.id, to: &text)
    text += #","_rev":""#.utf8
    text += revision.revisionID.description.utf8
    text.append(UInt8(ascii: "\""))
    if revision.isDeleted { text += #","_deleted":true"#.utf8 }
    if body.count > 2 {
      text.append(UInt8(ascii: ","))
      text += body[1..<(body.count - 1)]
    }
    var members = JSONObject()
    if let tree { add(tree, of: revision, to: &members) }
    if options.localSequence { members["_local_seq"] = .int(revision.sequence) }
    if !revision.attachments.isEmpty {
      members["_attachments"] = .object(try attachments(of: revision, tree, content))
    }
    if !members.isEmpty {
      text.append(UInt8(ascii: ","))
      let object = members.utf8Text
      text += object[1..<(object.count - 1)]
    }
    text.append(UInt8(ascii: "}"))
    return text
  }

  private func add(_ tree: DocumentTree, of revision: DocumentRevision, to members: inout JSONObject) {
    let history = tree.history(of: revision.revisionID)
    if options.revisions { members["_revisions"] = .object(RevisionList(history.map(\.id)).json) }
    if options.revisionsInfo {
      members["_revs_info"] = .array(
        history.map { node in
          .object(
            RevisionInfo(node.id, !node.hasBody ? .missing : node.isDeleted ? .deleted : .available).json)
        })
    }
    func list(_ name: String, areDeleted: Bool) {
      let leaves = tree.leaves.filter { $0.isDeleted == areDeleted && $0.id != tree.winner.id }
      if !leaves.isEmpty { members[name] = .array(leaves.map { .string($0.id.description) }) }
    }
    if options.conflicts { list("_conflicts", areDeleted: false) }
    if options.deletedConflicts { list("_deleted_conflicts", areDeleted: true) }
  }

  /// Whether the text tells something that can change while the revision stays.
  package func tellsMore(of revision: DocumentRevision) throws -> Bool {
    if options.revisionsInfo || options.localSequence { return true }
    guard options.conflicts || options.deletedConflicts else { return false }
    let others = try transaction.tree(ofDocument: revision.id)?.leaves.dropFirst() ?? []
    return others.contains { $0.isDeleted ? options.deletedConflicts : options.conflicts }
  }

  // MARK: Attachments

  /// The attachments of a revision whose content follows in parts, in the order in which they are written.
  ///
  /// Attachments without content are in the JSON: CouchDB's replicator waits five minutes after a part that is empty.
  package func followingAttachments(of revision: DocumentRevision) throws -> [DocumentAttachment] {
    let tree = options.attachmentsSince.isEmpty ? nil : try transaction.tree(ofDocument: revision.id)
    return revision.attachments.filter { $0.length != 0 && isWanted($0, of: revision, tree) }
  }

  /// Whether the content is wanted: no ancestor that the client has is as new as the attachment.
  private func isWanted(
    _ attachment: DocumentAttachment, of revision: DocumentRevision, _ tree: DocumentTree?
  )
    -> Bool
  {
    guard options.attachments else { return false }
    guard let tree, !options.attachmentsSince.isEmpty else { return true }
    // Without a generation, which clients may leave out, every ancestor may have other content.
    guard let generation = attachment.generation, generation > 0 else { return true }
    let known = Set(options.attachmentsSince)
    let newest = tree.history(of: revision.revisionID).first { known.contains($0.id) }?.id.generation ?? 0
    return generation > newest
  }

  /// Attachments without their content.
  package static func stubs(_ attachments: Attachments) -> JSONObject {
    JSONObject(
      attachments.map { ($0.name, .object(entry($0, ["length": .int($0.length ?? 0), "stub": true]))) })
  }

  /// The member `_attachments` that a selector sees of a revision, without content; empty if it has no attachments.
  package static func attachmentMembers(of revision: DocumentRevision) -> JSONObject {
    revision.attachments.isEmpty ? [:] : ["_attachments": .object(stubs(revision.attachments))]
  }

  private static func entry(_ attachment: DocumentAttachment, _ content: JSONObject) -> JSONObject {
    var entry: JSONObject = [
      "content_type": .string(attachment.contentType), "revpos": .int(Int64(attachment.generation ?? 0)),
      "digest": .string(attachment.couchDigest ?? ""),
    ]
    for (name, value) in content { entry[name] = value }
    return entry
  }

  private func attachments(
    of revision: DocumentRevision, _ tree: DocumentTree?, _ content: AttachmentContentForm
  ) throws -> JSONObject {
    var json = JSONObject()
    for attachment in revision.attachments {
      let length = JSONValue.int(attachment.length ?? 0)
      let members: JSONObject =
        if !isWanted(attachment, of: revision, tree) {
          ["length": length, "stub": true]
        } else if content == .follows, attachment.length != 0 {
          ["length": length, "follows": true]
        } else {
          ["data": .string(try attachment.data().base64EncodedString())]
        }
      json[attachment.name] = .object(Self.entry(attachment, members))
    }
    return json
  }
}

/// The form in which the content of attachments is sent.
package enum AttachmentContentForm: Sendable {
  /// As base64 in the JSON.
  case inline
  /// In parts of a multipart body, after the JSON.
  case follows
}

/// The members that a client wants of a document besides its own.
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

  /// Whether the revision tree is needed.
  package var needsTree: Bool {
    revisions || revisionsInfo || conflicts || deletedConflicts || !attachmentsSince.isEmpty
  }
}
