import CDTDatastore
import CDTJSON
import CDTSQLite
import Foundation
import Testing

/// A revision that was made elsewhere.
func remote(
  _ revision: String, of id: String = "a", body: JSONObject? = [:], isDeleted: Bool = false,
  attachments: Attachments = []
) throws -> DocumentRevision {
  DocumentRevision(
    id: id, revisionID: try #require(RevisionID(revision)), body: body, isDeleted: isDeleted,
    attachments: attachments)
}

func revisionIDs(_ texts: [String]) throws -> [RevisionID] {
  try texts.map { try #require(RevisionID($0)) }
}

extension Datastore {
  /// Inserts a revision whose body says which one it is.
  @discardableResult
  func insert(
    _ revision: String, after ancestors: [String] = [], of id: String = "a", isDeleted: Bool = false,
    attachments: Attachments = []
  ) throws -> Bool {
    let body: JSONObject? = isDeleted ? nil : ["by": .string(revision)]
    return try write {
      try $0.forceInsert(
        try remote(revision, of: id, body: body, isDeleted: isDeleted, attachments: attachments),
        history: try revisionIDs([revision] + ancestors))
    }
  }

  /// The names of the files of attachments, sorted.
  var attachmentFileNames: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "\(directory)/attachments")) ?? []).sorted()
  }
}

/// What one can see of a document's tree, without the sequences.
struct TreeState: Equatable {
  /// The parent of each revision; an empty text where it is not known.
  var parents: [String: String] = [:]
  /// Each leaf with what it says.
  var leaves: [String: String] = [:]
  var winner = ""

  init() {}

  init(of id: String, in store: Datastore) throws {
    let connection = try Connection(path: store.databasePath, mode: .readWrite)
    defer { connection.close() }
    let statement = try connection.statement(
      """
      SELECT revision, parent, 1, (SELECT count(*) = 0 FROM revisions c WHERE c.document = d.number AND c.parent = d.revision)
        FROM (SELECT *, \(StoredText.revisionSQL) AS revision FROM documents) d WHERE id = ?1
      UNION ALL
      SELECT r.revision, r.parent, 0, r.leaf FROM revisions r JOIN documents d ON d.number = r.document WHERE d.id = ?1
      """)
    try statement.bind(id, at: 1)
    while try statement.step() {
      let text = statement.text(0)
      parents[text] = statement.text(1)
      if statement.int64(2) == 1 { winner = text }
      if statement.int64(3) == 1 {
        let leaf = try store.read { try $0.document(withID: id, revisionID: try #require(RevisionID(text))) }
        leaves[text] = Self.content(of: leaf)
      }
    }
  }

  static func content(of revision: DocumentRevision) -> String {
    let attachments = revision.attachments.map { "\($0.name) \((try? $0.data().count) ?? -1)" }
    return "\(revision.isDeleted) \(JSONValue.object(revision.body).text) \(attachments)"
  }
}
