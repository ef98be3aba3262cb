import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTSQLite

/// A row of `docs`, with totals of the document's revisions.
struct TouchDBDocument {
  let number: Int64
  let id: String
  let revisions: Int64
  let bytes: Int64
}

/// A row of `revs` without the body.
struct TouchDBRevision {
  let sequence: Int64
  let id: RevisionID
  let parent: Int64?
  let isDeleted: Bool
  /// Whether only the id is known: the body was compacted or never replicated.
  let isStub: Bool
}

/// The documents and revisions of a CDTDatastore 2.x file.
struct TouchDBRevisions {
  let file: TouchDBFile

  /// The number of documents.
  func count() throws -> Int {
    try Int(file.read { try $0.scalar("SELECT count(DISTINCT doc_id) FROM revs") })
  }

  /// - Throws: ``TouchDBError`` if there are revisions without a document, which would be silently lost.
  func checkOwners() throws {
    let orphans = try file.read {
      try $0.scalar("SELECT count(*) FROM revs WHERE doc_id NOT IN (SELECT doc_id FROM docs)")
    }
    if orphans > 0 { throw TouchDBError.damaged(file.path, "\(orphans) revisions belong to no document") }
  }

  /// Calls `body` for each document, ordered by last change, as in a datastore's changes.
  ///
  /// - Parameter invalid: Called with the error of a document whose id is not text.
  func forEachDocument(
    _ body: (TouchDBDocument) throws -> Void, invalid: (TouchDBError) throws -> Void
  ) throws {
    let sql = """
      SELECT r.doc_id, d.docid, count(*), total(length(r.json)), max(r.sequence) AS newest
        FROM revs r JOIN docs d ON d.doc_id = r.doc_id GROUP BY r.doc_id ORDER BY newest
      """
    try file.forEachRow(sql) { row in
      guard let id = row.checkedText(1) else {
        return try invalid(.invalidText(file.path, row: row.int64(0), in: "docs"))
      }
      try body(
        TouchDBDocument(
          number: row.int64(0), id: id, revisions: row.int64(2),
          bytes: Int64(exactly: row.double(3)) ?? .max))
    }
  }

  /// Calls `body` for each revision of a document that has something to import, parents before children.
  func forEachRevision(
    of document: TouchDBDocument, _ body: (TouchDBRevision) throws -> Void
  ) throws {
    // A stub is imported as an ancestor of its children. A stub without children has lost its body.
    let sql = """
      SELECT sequence, revid, parent, deleted, json IS NULL,
             json IS NULL AND NOT EXISTS (SELECT 1 FROM revs c WHERE c.parent = r.sequence AND c.doc_id = r.doc_id)
        FROM revs r WHERE doc_id = ?1 ORDER BY CAST(revid AS INTEGER), sequence
      """
    try file.forEachRow(sql, document.number) { row in
      let revision = try self.revision(row, of: document)
      if !revision.isStub {
        try body(revision)
      } else if row.int64(5) != 0 {
        throw TouchDBError.missingBody(file.path, document.id, revision.id)
      }
    }
  }

  /// The ids from a revision back to its nearest ancestor that has a body or is already imported, or to the oldest known one.
  func history(
    of revision: TouchDBRevision, in document: TouchDBDocument, until imported: Set<RevisionID>
  ) throws -> [RevisionID] {
    var history = [revision.id]
    var next = revision.parent
    while let sequence = next {
      guard let parent = try self.revision(sequence, of: document) else { break }
      history.append(parent.id)
      // Generations decrease along a branch, so the loop ends.
      guard parent.id.generation == history[history.count - 2].generation - 1 else { break }
      next = parent.isStub && !imported.contains(parent.id) ? parent.parent : nil
    }
    return history
  }

  private func revision(_ sequence: Int64, of document: TouchDBDocument) throws -> TouchDBRevision? {
    var found: TouchDBRevision?
    let sql = "SELECT sequence, revid, parent, deleted, json IS NULL, doc_id FROM revs WHERE sequence = ?1"
    try file.forEachRow(sql, sequence) { row in
      if row.int64(5) == document.number { found = try revision(row, of: document) }
    }
    return found
  }

  private func revision(_ row: Statement, of document: TouchDBDocument) throws -> TouchDBRevision {
    guard let text = row.checkedText(1), let id = RevisionID(text) else {
      throw TouchDBError.invalidRevision(file.path, document.id, row.text(1))
    }
    let isDeleted = row.int64(3) != 0
    return TouchDBRevision(
      sequence: row.int64(0), id: id, parent: row.isNull(2) ? nil : row.int64(2), isDeleted: isDeleted,
      isStub: row.int64(4) != 0 && !isDeleted)
  }

  // MARK: Bodies

  /// The body of a revision as this package stores it.
  func body(of revision: TouchDBRevision, in document: TouchDBDocument) throws -> BodyText {
    var body = BodyText.none
    try file.forEachRow("SELECT json FROM revs WHERE sequence = ?1", revision.sequence) { row in
      guard let text = try normalized(row, 0, of: document.id, revision.id.description) else { return }
      body = BodyText(text)
    }
    return body
  }

  /// Calls `body` for each local document.
  func forEachLocalDocument(
    _ body: (_ id: String, _ body: JSONObject) throws -> Void, invalid: (TouchDBError) throws -> Void
  )
    throws
  {
    try file.forEachRow("SELECT docid, json, rowid FROM localdocs ORDER BY rowid") { row in
      let id: String
      let object: JSONObject
      do {
        guard let text = row.checkedText(0) else {
          throw TouchDBError.invalidText(file.path, row: row.int64(2), in: "localdocs")
        }
        id = text
        let normal = try normalized(row, 1, of: id, nil)
        object = normal.flatMap { try? JSONObject(parsing: $0.text) } ?? [:]
      } catch let error as TouchDBError where error.code == .invalidDocument {
        return try invalid(error)
      }
      try body(id, object)
    }
  }

  /// The members that CouchDB adds to a document's JSON. They are not part of the body, even if a file contains them.
  private static let added: Set<String> = [
    "_id", "_rev", "_attachments", "_deleted", "_revisions", "_revs_info", "_conflicts", "_deleted_conflicts",
    "_local_seq",
  ]

  /// The object in a column; `nil` if there is none. CDTDatastore wrote an empty body as empty text.
  private func normalized(
    _ row: Statement, _ column: Int, of id: String, _ revision: String?
  ) throws -> NormalizedObject? {
    let result: Result<NormalizedObject?, JSONError> = row.withBytes(column) { text in
      if text.isEmpty { return .success(nil) }
      do throws(JSONError) {
        return .success(try JSONText.normalize(whole: text))
      } catch {
        return .failure(error)
      }
    }
    switch result {
    case .success(let object):
      for (name, _) in object?.reserved ?? [] where !Self.added.contains(name) {
        throw TouchDBError.invalidBody(
          file.path, id, revision, "the key \(DatastoreError.quoted(name)) begins with an underscore")
      }
      return object
    case .failure(let error):
      throw TouchDBError.invalidBody(
        file.path, id, revision, "\(error.message) at line \(error.line), column \(error.column)")
    }
  }
}
