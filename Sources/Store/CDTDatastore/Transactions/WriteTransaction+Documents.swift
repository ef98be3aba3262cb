public import CDTJSON
import CDTSQLite

extension WriteTransaction {
  /// Saves a new document. See `Datastore.createDocument(from:)`.
  @discardableResult
  public func createDocument(from draft: DocumentDraft) throws -> DocumentRevision {
    let id = draft.id ?? DocumentID.make()
    try AttachmentSaving.check(draft.attachments, of: draft.id)
    let body = try BodyText(draft.body, id: draft.id)
    let made = try create(id: id, body: body, attachments: draft.attachments)
    return try saved(made, id: id, body: draft.body)
  }

  /// Saves stored text as a new document without decoding it.
  ///
  /// - Parameter isDeleted: Whether the document begins as a tombstone.
  @discardableResult
  package func createDocument(
    id: String, isDeleted: Bool = false, body: BodyText, attachments: Attachments = []
  ) throws -> (revision: RevisionID, sequence: Int64) {
    let made = try create(id: id, isDeleted: isDeleted, body: body, attachments: attachments)
    return (made.id, made.sequence)
  }

  private func create(
    id: String, isDeleted: Bool = false, body: BodyText, attachments: Attachments
  ) throws -> NewRevision {
    try DocumentID.check(id)
    try checkSeen(id)
    return try use { connection in
      try DocumentSize.check(id, body, on: connection)
      let found = try rowToReplace(id, on: connection)
      let existing = found?.isPurged == true ? nil : found
      if let existing, !existing.isDeleted { throw DatastoreError(.documentExists(id)) }
      try checkRules(
        ProposedRevision(
          id: id, isDeleted: isDeleted, body: body, attachments: attachments,
          ancestors: existing.map { [$0.revision] } ?? [], isReplicated: false))
      let new = try revision(
        after: existing?.revision, of: id, isDeleted: isDeleted, body: body, attachments: attachments,
        known: [])
      if let existing {
        try Self.add(new, to: existing, id: id, on: connection)
      } else {
        try DocumentWriting(connection: connection).insert(id: id, new, over: found)
      }
      return new
    }
  }

  /// Adds a child to a leaf. If a replicator has brought the same edit without its history, the two are joined.
  private static func add(
    _ new: NewRevision, to row: DocumentRow, id: String, on connection: Connection
  ) throws {
    // In a tree with one leaf, every other revision has a lower generation than a child of that leaf.
    guard let parent = new.parent, row.leaves > 1, try TreeMerging.has(new.id, of: row, on: connection) else {
      return try DocumentWriting(connection: connection).graft(new, onto: row)
    }
    let isJoined = try TreeMerging.merge(
      [new.id, parent], of: id, on: connection, nextSequence: { new.sequence }, new: { _ in new })
    guard isJoined else { throw DatastoreError(.notALeaf(parent, of: id)) }
  }

  /// Saves a changed document. See `Datastore.updateDocument(from:)`.
  @discardableResult
  public func updateDocument(from revision: DocumentRevision) throws -> DocumentRevision {
    let (id, parent) = (revision.id, revision.revisionID)
    if revision.isProjected { throw DatastoreError(.projected(id)) }
    let body = try BodyText(of: revision)
    try AttachmentSaving.check(revision.attachments, of: id)
    let made = try append(to: parent, of: id, body: body, attachments: revision.attachments)
    return try saved(made, id: id, body: revision.body)
  }

  /// Reads a document, lets a closure change it and saves it. See `Datastore.updateDocument(withID:_:)`.
  @discardableResult
  public func updateDocument(
    withID id: String, _ change: (inout DocumentRevision) throws -> Void
  ) throws -> DocumentRevision {
    let known = try document(withID: id)
    var changed = known
    try change(&changed)
    if changed == known, changed.says(theSameAs: known) { return known }
    guard changed.id.hasSameBytes(as: id), changed.revisionID == known.revisionID else {
      throw DatastoreError(.otherDocument(changed.id, than: id))
    }
    return try updateDocument(from: changed)
  }

  /// Applies a JSON Merge Patch to a document's body, which keeps what the patch does not name, and its attachments.
  ///
  /// ```swift
  /// try store.write { try $0.patchDocument(withID: "rex", ["age": 4, "owner": ["city": nil]]) }
  /// ```
  ///
  /// - Returns: The new revision, or the current one if nothing changes.
  /// - Throws: ``DatastoreError`` with the code `.notFound` if the document does not exist.
  ///
  /// Source: RFC 7396.
  @discardableResult
  public func patchDocument(withID id: String, _ patch: JSONObject) throws -> DocumentRevision {
    try updateDocument(withID: id) { $0.body.merge(patch: patch) }
  }

  /// Replaces the body of a revision given by its id. Attachments are kept.
  @discardableResult
  public func updateDocument(
    withID id: String, revisionID: RevisionID, body: JSONObject
  ) throws -> DocumentRevision {
    let made = try updateDocument(id: id, revision: revisionID, body: BodyText(body, id: id))
    return try document(withID: id, revisionID: made.revision)
  }

  /// Replaces the body of a document with stored text without decoding it.
  ///
  /// - Parameters:
  ///   - attachments: The new attachments; `nil` keeps the current ones.
  ///   - isDeleted: Whether the new revision is a tombstone, which may have a body.
  @discardableResult
  package func updateDocument(
    id: String, revision: RevisionID, isDeleted: Bool = false, body: BodyText, attachments: Attachments? = nil
  ) throws -> (revision: RevisionID, sequence: Int64) {
    let made = try append(
      to: revision, of: id, isDeleted: isDeleted, body: body, attachments: attachments)
    return (made.id, made.sequence)
  }

  /// Adds a tombstone to a revision. See `Datastore.deleteDocument(from:)`.
  @discardableResult
  public func deleteDocument(from revision: DocumentRevision) throws -> DocumentRevision {
    try delete(revision.revisionID, of: revision.id)
  }

  /// Deletes a whole document. See `Datastore.deleteDocument(withID:)`.
  @discardableResult
  public func deleteDocument(withID id: String) throws -> [DocumentRevision] {
    try checkSeen(id)
    let leaves = try use { connection in
      guard let row = try rowToChange(id, on: connection) else {
        throw DatastoreError(.noSuchDocument(id))
      }
      guard !row.isDeleted else { throw DatastoreError(.documentDeleted(id)) }
      let withheld = try withheldLeaves(of: id, row)
      return try DocumentWriting(connection: connection).currentLeaves(of: row).filter {
        !withheld.contains($0)
      }
    }
    // A leaf that can't have a child is the newest, so all leaves are deleted or none.
    return try leaves.map { try delete($0, of: id) }
  }

  func delete(_ parent: RevisionID, of id: String) throws -> DocumentRevision {
    let made = try append(to: parent, of: id, isDeleted: true, body: .none, attachments: [])
    return DocumentRevision(id: id, revisionID: made.id, body: [:], isDeleted: true, sequence: made.sequence)
  }

  /// Adds a child to a leaf.
  ///
  /// - Parameter attachments: The attachments of the child, or `nil` to keep those of its parent.
  private func append(
    to parent: RevisionID, of id: String, isDeleted: Bool = false, body: BodyText, attachments: Attachments?
  ) throws -> NewRevision {
    try checkSeen(id)
    return try use { connection in
      try DocumentSize.check(id, body, on: connection)
      guard let row = try rowToChange(id, on: connection) else {
        throw DatastoreError(.noSuchDocument(id))
      }
      let writing = DocumentWriting(connection: connection)
      guard let leaf = try writing.leaf(parent, of: row), try !withheldLeaves(of: id, row).contains(parent)
      else {
        throw DatastoreError(.notALeaf(parent, of: id))
      }
      if isDeleted, leaf.isDeleted {
        throw row.isDeleted
          ? DatastoreError(.documentDeleted(id)) : DatastoreError(.revisionDeleted(parent, of: id))
      }
      var known: [AttachmentRow] = []
      if row.attachments > 0 || row.leaves > 1 {
        known = try AttachmentRow.find(document: row.number, revision: parent, on: connection)
      }
      let attachments = attachments ?? Attachments(known, in: files)
      try checkRules(
        ProposedRevision(
          id: id, isDeleted: isDeleted, body: body, attachments: attachments, ancestors: [parent],
          isReplicated: false))
      let new = try revision(
        after: parent, of: id, isDeleted: isDeleted, body: body, attachments: attachments, known: known)
      try Self.add(new, to: row, id: id, on: connection)
      return new
    }
  }

  /// Creates a revision with its id and sequence, and saves the content of its attachments.
  private func revision(
    after parent: RevisionID?, of document: String, isDeleted: Bool, body: BodyText, attachments: Attachments,
    known: [AttachmentRow]
  ) throws -> NewRevision {
    let generation = try parent?.childGeneration() ?? 1
    var rows: [AttachmentRow] = []
    if !attachments.isEmpty {
      rows = try save(attachments, known: known, generation: generation)
    }
    let id = try RevisionDigest.revision(
      after: parent, isDeleted: isDeleted, attachments: rows.map(\.key), canonicalBody: body.canonical)
    return NewRevision(
      id: id, parent: parent, sequence: try nextSequence(of: document), isDeleted: isDeleted, body: body.text,
      attachments: rows)
  }

  /// The result for a saved revision.
  private func saved(_ made: NewRevision, id: String, body: JSONObject) throws -> DocumentRevision {
    DocumentRevision(
      id: id, revisionID: made.id, body: body, attachments: Attachments(made.attachments, in: files),
      sequence: made.sequence)
  }
}
