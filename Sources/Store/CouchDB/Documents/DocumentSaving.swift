package import CDTDatastore

/// Saves documents that clients send.
package struct DocumentSaving {
  private let transaction: WriteTransaction

  package init(_ transaction: WriteTransaction) {
    self.transaction = transaction
  }

  /// Saves a document as the next revision after the one that it names.
  ///
  /// - Parameters:
  ///   - uploads: The content of attachments that came apart from the JSON, by name.
  ///   - others: Attachments that the JSON does not name.
  /// - Throws: `CouchError`: `conflict` if the named revision is not a leaf, or none is named and the document exists, or one
  ///   is named and the document is deleted: as at CouchDB, a deleted document is created again without a revision.
  package func edit(
    _ input: DocumentInput, id: String, uploads: Attachments = [], adding others: Attachments = []
  ) throws -> RevisionID {
    func attachments(known: Attachments) throws -> Attachments {
      var all = try self.attachments(of: input, known: known, uploads: uploads)
      for attachment in others { all[attachment.name] = attachment }
      return all
    }
    do {
      guard let parent = input.revisionID else {
        return try transaction.createDocument(
          id: id, isDeleted: input.isDeleted, body: input.body, attachments: attachments(known: [])
        ).revision
      }
      if try transaction.entry(ofDocument: id)?.isDeleted == true { throw CouchError.conflict }
      // Only stubs need the attachments of the parent.
      let known =
        input.attachments.contains { $0.source == .stub }
        ? try transaction.documentIfStored(id, parent)?.attachments ?? [] : []
      return try transaction.updateDocument(
        id: id, revision: parent, isDeleted: input.isDeleted, body: input.body,
        attachments: attachments(known: known)
      ).revision
    } catch let violation as RuleViolation {
      throw CouchError(violation)
    } catch {
      let isOfDocument =
        (error as? DatastoreError)?.code == .notFound || (error as? CouchError)?.error == "missing_stub"
      guard isOfDocument else { throw error }
      // A document that must be new or must be there is a conflict in the first place.
      let existing = try transaction.entry(ofDocument: id)
      let isConflict = input.revisionID == nil ? existing?.isDeleted == false : existing == nil
      throw isConflict ? CouchError.conflict : error
    }
  }

  /// Inserts a revision with its own id, as replicators do.
  ///
  /// - Returns: The revision's id, also if the document has it already.
  package func insert(_ input: DocumentInput, id: String, uploads: Attachments = []) throws -> RevisionID {
    guard let revision = input.revisionID else { throw CouchError.revisionNeeded }
    let history = input.history.isEmpty ? [revision] : input.history
    // Only the ancestors of a stored revision can be new.
    let isKnown =
      try transaction.missingRevisions(of: id, among: [revision]).isEmpty
      && transaction.documentIfStored(id, revision) != nil
    do {
      try transaction.forceInsert(
        id: id, revisionID: revision, history: history, isDeleted: input.isDeleted, body: input.body,
        attachments: isKnown ? [] : try attachments(of: input, id: id, history: history, uploads: uploads))
    } catch let violation as RuleViolation {
      throw CouchError(violation)
    }
    return revision
  }

  /// The attachments of a revision of a replicator, whose stubs are attachments of the newest ancestor that can be read. One with
  /// another digest is not the attachment that is meant.
  private func attachments(
    of document: DocumentInput, id: String, history: [RevisionID], uploads: Attachments
  ) throws -> Attachments {
    let isStub = document.attachments.contains { $0.source == .stub }
    let known = isStub ? try newestStored(history, of: id)?.attachments ?? [] : []
    var attachments = try attachments(of: document, known: known, uploads: uploads)
    for incoming in document.attachments {
      if incoming.source == .stub, let digest = incoming.digest, ContentDigest.Kind(of: digest) == .sha1,
        attachments[incoming.name]?.couchDigest?.hasSameBytes(as: digest) == false
      {
        throw CouchError.missingStub(incoming.name)
      }
      attachments[incoming.name] = attachments[incoming.name]?.declared(inGeneration: incoming.revpos ?? 0)
    }
    return attachments
  }

  /// The newest of some revisions that can be read.
  private func newestStored(_ history: [RevisionID], of id: String) throws -> DocumentRevision? {
    for revision in history {
      if let stored = try transaction.documentIfStored(id, revision) { return stored }
    }
    return nil
  }

  private func attachments(
    of document: DocumentInput, known: Attachments, uploads: Attachments
  ) throws -> Attachments {
    var attachments = Attachments()
    for incoming in document.attachments {
      switch incoming.source {
      case .inline(let data):
        attachments[incoming.name] = DocumentAttachment(
          data: data, name: incoming.name, contentType: incoming.contentType)
      case .stub:
        guard let attachment = known[incoming.name], attachment.isMeant(by: incoming) else {
          throw CouchError.missingStub(incoming.name)
        }
        attachments[incoming.name] = attachment
      case .follows:
        guard let attachment = uploads[incoming.name] else {
          throw CouchError.badRequest("The content of the attachment \"\(incoming.name)\" is missing.")
        }
        attachments[incoming.name] = attachment
      }
    }
    return attachments
  }
}

extension DocumentAttachment {
  /// Whether a stub means this attachment: not one that another generation has added. A generation that is not known, which
  /// replicators may leave out, is any.
  fileprivate func isMeant(by stub: IncomingAttachment) -> Bool {
    guard let wanted = stub.revpos, let generation, generation > 0 else { return true }
    return wanted == generation
  }
}

extension ReadTransaction {
  /// A revision; `nil` if it is unknown or can't be read any more.
  package func documentIfStored(_ id: String, _ revision: RevisionID) throws -> DocumentRevision? {
    do {
      return try document(withID: id, revisionID: revision)
    } catch let error as DatastoreError where error.code == .notFound {
      return nil
    }
  }

  /// The earlier revisions of a document that a filter has accepted, or may have accepted as their bodies are not stored; newest first.
  ///
  /// - Parameter known: The revisions to look at; `nil` for all.
  package func acceptedEarlier(
    _ id: String, among known: [RevisionID]? = nil, _ accepts: (DocumentRevision) throws -> Bool
  ) throws -> [RevisionID] {
    guard let nodes = try tree(ofDocument: id)?.nodes else { return [] }
    let earlier = known?.compactMap { nodes[$0] } ?? nodes.values.filter { !$0.isLeaf }
    return try earlier.filter { node in
      try stop?.check()
      guard node.hasBody, let revision = try documentIfStored(id, node.id) else { return true }
      return try accepts(revision)
    }.map(\.id).sorted(by: >)
  }
}

extension CouchError {
  package static let revisionNeeded = badRequest("A document needs _rev or _revisions with new_edits=false.")

  package static func missingStub(_ name: String) -> CouchError {
    CouchError(412, "missing_stub", "Invalid attachment stub in the document for \(name)")
  }
}
