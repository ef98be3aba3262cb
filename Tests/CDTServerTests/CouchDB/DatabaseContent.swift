import CDTJSON
import CDTServerTestSupport
import CouchDB

/// Everything of a database that replication transfers.
struct DatabaseContent: Sendable {
  struct Document: Sendable, Hashable {
    /// The winner's id; `nil` if the winner is deleted.
    var winner: String?
    var leaves: [String: Leaf] = [:]
  }

  struct Leaf: Sendable, Hashable {
    let isDeleted: Bool
    /// The members that don't begin with an underscore.
    let body: JSONObject
    /// The suffixes of the revision and its ancestors, newest first.
    let history: [String]
    let attachments: [String: DocumentAttachment]
  }

  struct DocumentAttachment: Sendable, Hashable {
    let type: String
    let revpos: Int
    let length: Int
    /// Of the content: the digests that servers name are of different kinds.
    let digest: String
  }

  /// By the documents' paths, as strings that differ only in their Unicode form are equal in Swift.
  private(set) var documents: [String: Document] = [:]

  /// Reads a database, document by document and leaf by leaf.
  init(of database: RemoteDatabase) async throws {
    let changes = try await database.json("GET", "/_changes?style=all_docs")["results"]?.arrayValue ?? []
    documents = try await withThrowingTaskGroup(of: (String, Document).self) { group in
      var found: [String: Document] = [:]
      for (number, change) in changes.enumerated() {
        guard let id = change["id"]?.stringValue else { continue }
        // So many at once.
        if number >= 8, let (id, document) = try await group.next() { found[id] = document }
        group.addTask { (RemoteDatabase.path(id), try await Document(id, change, of: database)) }
      }
      for try await (id, document) in group { found[id] = document }
      return found
    }
  }

  /// What differs, in words.
  func differences(from other: DatabaseContent) -> [String] {
    var differences: [String] = []
    for id in Set(documents.keys).union(other.documents.keys).sorted() {
      let (mine, theirs) = (documents[id], other.documents[id])
      guard mine != theirs else { continue }
      guard let mine, let theirs else {
        differences.append("\(id): only in one database")
        continue
      }
      if mine.winner != theirs.winner {
        differences.append("\(id): winner \(mine.winner ?? "deleted"), \(theirs.winner ?? "deleted")")
      }
      for revision in Set(mine.leaves.keys).union(theirs.leaves.keys).sorted()
      where mine.leaves[revision] != theirs.leaves[revision] {
        let texts = [mine, theirs].map { $0.leaves[revision].map { "\($0)" } ?? "missing" }
        differences.append("\(id) \(revision):\n  \(texts[0])\n  \(texts[1])")
      }
    }
    return differences
  }
}

extension DatabaseContent.Document {
  fileprivate init(_ id: String, _ change: JSONValue, of database: RemoteDatabase) async throws {
    let path = RemoteDatabase.path(id)
    if change["deleted"] != true {
      winner = try await database.json("GET", path)["_rev"]?.stringValue
    }
    let leaves = try await database.json("GET", "\(path)?open_revs=all&revs=true").arrayValue ?? []
    for leaf in leaves {
      guard let revision = leaf["ok"]?["_rev"]?.stringValue, let document = leaf["ok"]?.objectValue else {
        throw RequestFailure(request: "GET \(path)?open_revs=all", status: 200, reply: leaf.text)
      }
      self.leaves[revision] = try await DatabaseContent.Leaf(document, at: path, revision, of: database)
    }
    // The feed of changes lists the same leaves.
    let listed = change["changes"]?.arrayValue?.compactMap { $0["rev"]?.stringValue } ?? []
    guard Set(listed) == Set(self.leaves.keys), listed.count == leaves.count else {
      throw RequestFailure(request: "GET \(path)?open_revs=all", status: 200, reply: "\(listed) are listed")
    }
  }
}

extension DatabaseContent.Leaf {
  fileprivate init(
    _ document: JSONObject, at path: String, _ revision: String, of database: RemoteDatabase
  ) async throws {
    isDeleted = document["_deleted"] == true
    body = document.filter { !$0.key.hasPrefix("_") }
    history = document["_revisions"]?["ids"]?.arrayValue?.compactMap(\.stringValue) ?? []
    var attachments: [String: DatabaseContent.DocumentAttachment] = [:]
    for (name, entry) in document["_attachments"]?.objectValue ?? [:] {
      let content = try await database.server.send(
        "GET", "/\(database.name)\(path)/\(PercentCoding.encode(name))?rev=\(revision)")
      var digest = ContentDigest(.md5)
      digest.update(content.body)
      attachments[name] = DatabaseContent.DocumentAttachment(
        type: entry["content_type"]?.stringValue ?? "", revpos: entry["revpos"]?.intValue ?? -1,
        length: entry["length"]?.intValue ?? -1, digest: digest.text)
    }
    self.attachments = attachments
  }
}
