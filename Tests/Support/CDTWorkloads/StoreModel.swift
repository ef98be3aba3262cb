package import CDTDatastore
import CDTJSON
import CDTQuery

/// The content of a datastore, as plain values that can be compared.
package struct StoreModel: Hashable, Sendable {
  package struct Document: Hashable, Sendable {
    /// The winner's body as text.
    package var body: String
    /// The content of each attachment of the winner.
    package var attachments: [String: String] = [:]
    /// The bodies of the losing leaves, sorted.
    package var rivals: [String] = []
  }

  package var documents: [String: Document] = [:]
  package var locals: [String: String] = [:]
  /// The names of the indexes.
  package var indexes: Set<String> = []

  package init() {}

  /// Reads everything that a datastore contains.
  package init(reading store: Datastore) throws {
    for document in try store.read({ try $0.allDocuments() }) {
      var read = Document(body: document.body.text)
      for attachment in document.attachments {
        read.attachments[attachment.name] = String(decoding: try attachment.data(), as: UTF8.self)
      }
      documents[document.id] = read
    }
    for id in try store.read({ try $0.conflictedDocumentIDs() }) {
      documents[id]?.rivals = try store.read { try $0.currentRevisions(ofDocument: id) }.dropFirst().map(
        \.body.text
      ).sorted()
    }
    for id in try store.read({ try $0.localDocumentIDs() }) {
      locals[id] = try store.read { try $0.localDocument(withID: id) }?.text
    }
    indexes = Set(try store.listIndexes().map(\.name))
  }

  /// Whether documents and local documents are the same. Indexes are in another file, which has its own commits.
  package func hasSameDocuments(as other: StoreModel) -> Bool {
    documents == other.documents && locals == other.locals
  }

  /// Whether each document is as in one of two states, so that a step between them may have been interrupted.
  package func isBetween(_ before: StoreModel, _ after: StoreModel) -> Bool {
    let ids = Set(documents.keys).union(before.documents.keys).union(after.documents.keys)
    return ids.allSatisfy { id in
      documents[id] == before.documents[id] || documents[id] == after.documents[id]
    } && (locals == before.locals || locals == after.locals)
  }

  /// The difference from another state, in one line.
  package func difference(from other: StoreModel) -> String {
    let ids = Set(documents.keys).union(other.documents.keys)
    let changed = ids.filter { documents[$0] != other.documents[$0] }.sorted().map { id in
      "\(id): \(Self.brief(documents[id])) instead of \(Self.brief(other.documents[id]))"
    }
    var parts = Array(changed.prefix(4))
    if changed.count > 4 { parts.append("and \(changed.count - 4) more documents") }
    if locals != other.locals { parts.append("local documents \(locals) instead of \(other.locals)") }
    if indexes != other.indexes {
      parts.append("indexes \(indexes.sorted()) instead of \(other.indexes.sorted())")
    }
    return parts.isEmpty ? "none" : parts.joined(separator: "; ")
  }

  private static func brief(_ document: Document?) -> String {
    guard let document else { return "absent" }
    let attachments = document.attachments.sorted { $0.key < $1.key }.map { "\($0.key) of \($0.value.count)" }
    return "\(document.body.prefix(60)) \(attachments) \(document.rivals.map { $0.prefix(20) })"
  }
}
