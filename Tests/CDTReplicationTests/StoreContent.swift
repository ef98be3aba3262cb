import CDTDatastore
import CDTJSON
import CouchDB

/// Everything of a store that replication transfers.
struct StoreContent: Sendable {
  struct Leaf: Sendable, Hashable {
    let isDeleted: Bool
    let body: String
    let history: [RevisionID]
    /// Name, type, generation and content.
    let attachments: [[String]]
  }

  struct Document: Sendable, Hashable {
    let winner: RevisionID
    let leaves: [RevisionID: Leaf]
  }

  /// By the bytes of the ids.
  let documents: [[UInt8]: Document]

  init(documents: [[UInt8]: Document]) {
    self.documents = documents
  }

  init(of store: Datastore) throws {
    documents = try store.read { transaction in
      var documents: [[UInt8]: Document] = [:]
      for change in try transaction.changes().documents {
        guard let tree = try transaction.tree(ofDocument: change.id) else { continue }
        let leaves = try tree.leaves.map { leaf in
          (
            leaf.id,
            try Leaf(
              transaction.document(withID: change.id, revisionID: leaf.id),
              tree.history(of: leaf.id).map(\.id))
          )
        }
        documents[Array(change.id.utf8)] = Document(
          winner: change.revisionID, leaves: Dictionary(uniqueKeysWithValues: leaves))
      }
      return documents
    }
  }

  /// What differs, in words.
  func differences(from other: StoreContent) -> [String] {
    Set(documents.keys).union(other.documents.keys).compactMap { id in
      let (mine, theirs) = (documents[id], other.documents[id])
      guard mine != theirs else { return nil }
      func text(_ document: Document?) -> String { document.map { "\($0)" } ?? "missing" }
      return "\(String(decoding: id, as: UTF8.self)):\n  \(text(mine))\n  \(text(theirs))"
    }.sorted()
  }
}

extension StoreContent.Leaf {
  fileprivate init(_ revision: DocumentRevision, _ history: [RevisionID]) throws {
    isDeleted = revision.isDeleted
    body = revision.body.canonicalText
    self.history = history
    attachments = revision.attachments.map { attachment in
      [
        attachment.name, attachment.contentType, "\(attachment.generation ?? -1)",
        attachment.digest ?? "",
      ]
    }.sorted { $0[0].utf8.lexicographicallyPrecedes($1[0].utf8) }
  }
}
