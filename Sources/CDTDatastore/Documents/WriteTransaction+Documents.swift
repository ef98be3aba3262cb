import JSON
import SQLite

extension WriteTransaction {
  /// Saves a revision as a new document, as ``Datastore/createDocument(from:)``.
  @discardableResult
  public func createDocument(from revision: DocumentRevision) throws -> DocumentRevision {
    let id = revision.id ?? DocumentID.make()
    try Self.check(revision, id: id)
    let body = try BodyText(of: revision)
    let made = try create(id: id, body: body, attachments: revision.attachments)
    return try saved(made, id: id, body: revision.body)
  }

  private static func check(_ revision: DocumentRevision, id: String) throws {
    if revision.isProjected { throw DatastoreError.projected(id) }
    if let known = revision.revision, !revision.isDeleted {
      throw DatastoreError.hasRevision(revision.id ?? known.description)
    }
    try AttachmentSaving.check(revision.attachments, of: revision.id)
  }

  /// Saves stored text as a new document, with no value made of it.
  @discardableResult
  package func createDocument(
    id: String, body: BodyText, attachments: Attachments = []
  ) throws -> (revision: RevisionID, sequence: Int64) {
    let made = try create(id: id, body: body, attachments: attachments)
    return (made.id, made.sequence)
  }

  private func create(id: String, body: BodyText, attachments: Attachments) throws -> NewRevision {
    try DocumentID.check(id)
    return try use { connection in
      let writing = DocumentWriting(connection: connection)
      // Most documents are new, so they are not looked for first; but attachments are saved once only.
      if attachments.isEmpty {
        let first = try revision(after: nil, isDeleted: false, body: body, attachments: [], known: [])
        if try writing.insert(id: id, first) { return first }
        returnSequence()
      }
      let existing = try DocumentRow.find(id, on: connection)
      if let existing, !existing.isDeleted { throw DatastoreError.documentExists(id) }
      let new = try revision(
        after: existing?.revision, isDeleted: false, body: body, attachments: attachments, known: [])
      if let existing {
        try Self.add(new, to: existing, id: id, on: connection)
      } else {
        _ = try DocumentWriting(connection: connection).insert(id: id, new)
      }
      return new
    }
  }

  /// Adds a child to a leaf. Where a replicator has brought the same edit without the history that led to it, the two are
  /// joined.
  private static func add(
    _ new: NewRevision, to row: DocumentRow, id: String, on connection: Connection
  ) throws {
    // Whatever a tree with one leaf has is of a lower generation than a child of that leaf.
    guard let parent = new.parent, row.leaves > 1, try TreeMerging.has(new.id, of: row, on: connection) else {
      return try DocumentWriting(connection: connection).graft(new, onto: row)
    }
    let isJoined = try TreeMerging.merge(
      [new.id, parent], of: id, on: connection, nextSequence: { new.sequence }, new: { _ in new })
    guard isJoined else { throw DatastoreError.notALeaf(parent, of: id) }
  }

  /// Saves a change to a document, as ``Datastore/updateDocument(from:)``.
  @discardableResult
  public func updateDocument(from revision: DocumentRevision) throws -> DocumentRevision {
    let (id, parent) = try Self.current(revision)
    let body = try BodyText(of: revision)
    try AttachmentSaving.check(revision.attachments, of: id)
    let made = try append(to: parent, of: id, body: body, attachments: revision.attachments)
    return try saved(made, id: id, body: revision.body)
  }

  /// Reads a document, lets a closure change it and saves it, as ``Datastore/updateDocument(withID:_:)``.
  @discardableResult
  public func updateDocument(
    withID id: String, _ change: (inout DocumentRevision) throws -> Void
  ) throws -> DocumentRevision {
    let known = try document(withID: id)
    var changed = known
    try change(&changed)
    if changed == known { return known }
    guard let changedID = changed.id, changedID.utf8.elementsEqual(id.utf8),
      changed.revision == known.revision
    else {
      throw DatastoreError.otherDocument(changed.id, than: id)
    }
    return try updateDocument(from: changed)
  }

  /// Replaces the body of a document by stored text, with no value made of it.
  ///
  /// - Parameter attachments: Those it has from now on; `nil` leaves it those that it has.
  @discardableResult
  package func updateDocument(
    id: String, revision: RevisionID, body: BodyText, attachments: Attachments? = nil
  ) throws -> (revision: RevisionID, sequence: Int64) {
    let made = try append(to: revision, of: id, body: body, attachments: attachments)
    return (made.id, made.sequence)
  }

  /// Adds a tombstone to a revision, as ``Datastore/deleteDocument(from:)``.
  @discardableResult
  public func deleteDocument(from revision: DocumentRevision) throws -> DocumentRevision {
    let (id, parent) = try Self.current(revision)
    return try delete(parent, of: id)
  }

  /// Deletes a document in its entirety, as ``Datastore/deleteDocument(withID:)``.
  @discardableResult
  public func deleteDocument(withID id: String) throws -> [DocumentRevision] {
    let leaves = try use { connection in
      guard let row = try DocumentRow.find(id, on: connection) else {
        throw DatastoreError.noSuchDocument(id)
      }
      guard !row.isDeleted else { throw DatastoreError.documentDeleted(id) }
      return try DocumentWriting(connection: connection).liveLeaves(of: row)
    }
    // A leaf that can have no child is the newest, so all of them are deleted or none.
    return try leaves.map { try delete($0, of: id) }
  }

  func delete(_ parent: RevisionID, of id: String) throws -> DocumentRevision {
    let made = try append(to: parent, of: id, isDeleted: true, body: .none, attachments: [])
    return DocumentRevision(id: id, revision: made.id, body: [:], isDeleted: true, sequence: made.sequence)
  }

  /// Adds a child to a leaf.
  ///
  /// - Parameter attachments: The attachments of the child, or `nil` for those of its parent.
  private func append(
    to parent: RevisionID, of id: String, isDeleted: Bool = false, body: BodyText, attachments: Attachments?
  ) throws -> NewRevision {
    try use { connection in
      guard let row = try row(of: id, on: connection) else {
        throw DatastoreError.noSuchDocument(id)
      }
      let writing = DocumentWriting(connection: connection)
      guard let leaf = try writing.leaf(parent, of: row) else {
        throw DatastoreError.notALeaf(parent, of: id)
      }
      if isDeleted, leaf.isDeleted {
        throw row.isDeleted ? DatastoreError.documentDeleted(id) : .revisionDeleted(parent, of: id)
      }
      var known: [AttachmentRow] = []
      if row.attachments > 0 || row.leaves > 1 {
        known = try AttachmentRow.find(document: row.number, revision: parent, on: connection)
      }
      let new = try revision(
        after: parent, isDeleted: isDeleted, body: body,
        attachments: attachments ?? Attachments(known, in: files),
        known: known)
      try Self.add(new, to: row, id: id, on: connection)
      return new
    }
  }

  /// Makes a revision with its id and sequence, the content of its attachments saved.
  private func revision(
    after parent: RevisionID?, isDeleted: Bool, body: BodyText, attachments: Attachments,
    known: [AttachmentRow]
  ) throws -> NewRevision {
    let generation = try parent?.childGeneration() ?? 1
    var rows: [AttachmentRow] = []
    if !attachments.isEmpty {
      rows = try AttachmentSaving(files: files).rows(for: attachments, known: known, generation: generation)
    }
    let id = try RevisionDigest.revision(
      after: parent, isDeleted: isDeleted, attachments: rows.map(\.key), canonicalBody: body.canonical)
    return NewRevision(
      id: id, parent: parent, sequence: try nextSequence(), isDeleted: isDeleted, body: body.text,
      attachments: rows)
  }

  /// What is given back for a revision that has been saved.
  private func saved(_ made: NewRevision, id: String, body: JSONObject) throws -> DocumentRevision {
    DocumentRevision(
      id: id, revision: made.id, body: body, attachments: Attachments(made.attachments, in: files),
      sequence: made.sequence)
  }

  private static func current(_ revision: DocumentRevision) throws -> (id: String, revision: RevisionID) {
    guard let id = revision.id else { throw DatastoreError.missingID() }
    guard let revisionID = revision.revision else { throw DatastoreError.missingRevision(id) }
    if revision.isProjected { throw DatastoreError.projected(id) }
    return (id, revisionID)
  }
}
