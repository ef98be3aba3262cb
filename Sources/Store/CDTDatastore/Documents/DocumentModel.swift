public import CDTJSON

/// A type whose values are documents: `find` fills in the id and the revision, and `save` uses them.
///
/// ```swift
/// struct Task: DocumentModel {
///   var id = UUID()
///   var revision: RevisionID?
///   var title: String
///   var due: Date?
/// }
///
/// var task = try store.save(Task(title: "Buy milk"))
/// task.due = .now
/// task = try store.save(task)
/// ```
///
/// The id and the revision are those of the document. They are not members of its body: a stored member named `id` or
/// `revision` is kept, but not seen.
///
/// A model is not stored inside a model: `save` refuses it. A ``Reference`` relates to a model, and a copy is a value of another
/// `Codable` type.
public protocol DocumentModel: Codable, Identifiable, Sendable where ID: DocumentKey {
  /// The document's id, or the key whose text it is.
  var id: ID { get set }

  /// The revision that was read or saved last; `nil` for a new document.
  var revision: RevisionID? { get set }
}

extension DocumentModel {
  /// The members of the body.
  fileprivate func body() throws -> JSONObject {
    var body = try JSONObject(encoding: self) { type, path in
      if type is any DocumentModel.Type {
        throw DatastoreError(.modelInside(type, at: path(), of: id.documentID))
      }
    }
    for name in Self.documentMembers { body[name] = nil }
    return body
  }

  /// The names of the id and the revision when a model is encoded.
  private static var documentMembers: [String] { ["id", "revision", "_id", "_rev"] }

  /// Decodes a document. The id and the revision are there under each name that a model can give them.
  fileprivate init(_ body: JSONObject, id: String, revision: RevisionID?, options: JSONCodingOptions) throws {
    guard let key = ID.key(exactly: id) else { throw DatastoreError(.otherID(id, Self.self, ID.self)) }
    var json = body
    let members = [try JSONValue(encoding: key), revision?.description.jsonValue]
    for (name, value) in zip(Self.documentMembers, members + members) { json[name] = value }
    self = try json.decode(options: options)
    (self.id, self.revision) = (key, revision)
  }

  /// The model that is read after this body is saved.
  ///
  /// - Throws: ``DatastoreError`` with the code `.undecodable`.
  fileprivate static func stored(_ body: JSONObject, id: String) throws(DatastoreError) -> Self {
    do {
      return try Self(body, id: id, revision: nil, options: .init())
    } catch let error as DatastoreError {
      throw error
    } catch {
      throw DatastoreError(.undecodable(id, Self.self, error))
    }
  }
}

extension DocumentRevision {
  /// Decodes the body as a value of your own type; members that the type does not know are ignored.
  ///
  /// ```swift
  /// let milk = try store.document(withID: "milk").decode(Task.self)
  /// ```
  ///
  /// A ``DocumentModel`` also gets the document's id and revision.
  ///
  /// - Throws: ``DatastoreError`` with the code `.undecodable`, the document's id, and in its message the path of a missing or mistyped
  ///   value or the error of the type's own decoding; with the code `.missingBody` if there is no body.
  ///
  /// See <doc:WorkingWithDocuments#Codable>.
  public func decode<T: Decodable>(
    _ type: T.Type = T.self, options: JSONCodingOptions = .init()
  ) throws(DatastoreError) -> T {
    guard hasBody else { throw DatastoreError(.nothingToDecode(id)) }
    // `let task: Task? = try document.decode()` asks for an optional.
    let wanted = (T.self as? any OptionalType.Type)?.wrapped ?? T.self
    do {
      guard let model = wanted as? any DocumentModel.Type else {
        return try body.decode(type, options: options)
      }
      return try model.init(body, id: id, revision: revisionID, options: options) as? T
        ?? body.decode(type, options: options)
    } catch let error as DatastoreError {
      throw error
    } catch {
      throw DatastoreError(.undecodable(id, wanted, error))
    }
  }

  /// Changes the model that the document is. Members that the model does not know are kept.
  ///
  /// - Throws: ``DatastoreError``, with the code `.undecodable` if the document is not a model before or after the change; the errors of
  ///   `change`.
  package mutating func change<M: DocumentModel>(
    _ type: M.Type, _ change: (inout M) throws -> Void
  ) throws {
    let stored: M = try decode()
    var model = stored
    try change(&model)
    guard model.id == stored.id else { throw DatastoreError(.otherDocument(model.id.documentID, than: id)) }
    body.change(from: try stored.body(), to: try model.body())
    _ = try M.stored(body, id: id)
  }
}

private protocol OptionalType {
  static var wrapped: Any.Type { get }
}

extension Optional: OptionalType {
  static var wrapped: Any.Type { Wrapped.self }
}

extension WriteTransaction {
  /// Saves a model as the next revision of its document, or as a new document. See `Datastore.save(_:merge:)`.
  @discardableResult
  public func save<M: DocumentModel>(_ model: M, merge: ((_ stored: M, _ mine: M) throws -> M)? = nil) throws
    -> M
  {
    var model = model
    guard var document = try base(of: model, merges: merge != nil) else {
      let id = model.id.documentID
      let draft = DocumentDraft(id: id, body: try model.body())
      var saved = try M.stored(draft.body, id: id)
      saved.revision = try createDocument(from: draft).revisionID
      return saved
    }
    let stored: M = try document.decode()
    if stored.revision != model.revision, let merge { model = try merge(stored, model) }
    let known = document
    document.body.change(from: try stored.body(), to: try model.body())
    var saved = try M.stored(document.body, id: document.id)
    saved.revision =
      document.says(theSameAs: known) ? known.revisionID : try updateDocument(from: document).revisionID
    return saved
  }

  /// Deletes the document of a model. See `Datastore.delete(_:)`.
  public func delete(_ model: some DocumentModel) throws {
    guard let revision = model.revision else { throw DatastoreError(.unsaved(model.id.documentID)) }
    _ = try delete(revision, of: model.id.documentID)
  }

  /// Resolves the conflicts of documents, by merging models.
  ///
  /// ```swift
  /// try store.write { transaction in
  ///   try transaction.resolveConflicts(Task.self) { versions in versions.max { $0.priority < $1.priority } }
  /// }
  /// ```
  ///
  /// What other versions have changed is lost unless the closure takes it; the form with two parameters gets the common
  /// ancestor, which tells that. The merged model is saved after the version that is passed first. Members that the model does not know are those of this version.
  ///
  /// - Parameters:
  ///   - type: The type of the models.
  ///   - ids: The documents; `nil` for all that have a conflict. In a store with documents of several types, pass those of this one.
  ///   - merge: Called with the versions of a document, at least two, the current one first. It returns the model to
  ///     keep, or `nil` to leave the conflict.
  ///   - undecodable: Called with the error of each document with a version that is not a model; its conflict is left. The default
  ///     throws the error.
  /// - Returns: The number of documents whose conflict was resolved.
  /// - Throws: ``DatastoreError``, with the code `.undecodable` if a version is not a model; the errors of the closures. If they are
  ///   caught, the documents before are resolved.
  @discardableResult
  public func resolveConflicts<M: DocumentModel>(
    _ type: M.Type, ids: [M.ID]? = nil, undecodable: (DatastoreError) throws -> Void = { throw $0 },
    merge: (_ versions: [M]) throws -> M?
  ) throws -> Int {
    try resolveConflicts(type, ids: ids, undecodable: undecodable) { versions, _ in try merge(versions) }
  }

  /// Resolves the conflicts of documents, by merging models with their common ancestor.
  ///
  /// ```swift
  /// try store.write { transaction in
  ///   try transaction.resolveConflicts(Task.self) { versions, base in try versions.merged(since: base) }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type of the models.
  ///   - ids: The documents; all with a conflict by default.
  ///   - undecodable: As in the form without the ancestor.
  ///   - merge: Also called with the newest revision from which all versions descend: `nil` if its content is not stored any
  ///     more, or is not a model.
  @discardableResult
  public func resolveConflicts<M: DocumentModel>(
    _ type: M.Type, ids: [M.ID]? = nil, undecodable: (DatastoreError) throws -> Void = { throw $0 },
    merge: (_ versions: [M], _ base: M?) throws -> M?
  ) throws -> Int {
    try (ids?.map(\.documentID) ?? conflictedDocumentIDs()).count { id in
      let kept = try resolveConflicts(for: id) { _, leaves, base in
        var versions: [M] = []
        do {
          versions = try leaves.map { try $0.decode() }
        } catch let error as DatastoreError where error.code == .undecodable {
          try undecodable(error)
          return nil
        }
        guard let merged = try merge(versions, base.flatMap { try? $0.decode() }) else { return nil }
        var document = leaves[0]
        document.body.change(from: try versions[0].body(), to: try merged.body())
        return document
      }
      return kept != nil
    }
  }

  /// Resolves the conflicts of documents by merging their fields.
  ///
  /// ```swift
  /// for left in try transaction.resolveConflicts(Task.self, by: .fields(arrays: ["tags": .set])) {
  ///   print(left.documentID, left.conflicts.map(\.path))
  /// }
  /// ```
  ///
  /// Also members that the model does not know are merged.
  ///
  /// - Parameters:
  ///   - type: The type of the models.
  ///   - ids: The documents; all with a conflict by default.
  ///   - merge: The rules for arrays.
  ///   - undecodable: Called with the error of each document of which a version, or the merged document, is not a model; its conflict is
  ///     left. The default throws the error.
  /// - Returns: The results of the documents that stay in conflict because of their fields.
  /// - Throws: ``DatastoreError``, with the code `.undecodable` if a version is not a model. If it is caught, the documents before are
  ///   resolved.
  @discardableResult
  public func resolveConflicts<M: DocumentModel>(
    _ type: M.Type, ids: [M.ID]? = nil, by merge: FieldMerge,
    undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) throws -> [FieldMergeResult] {
    try (ids?.map(\.documentID) ?? conflictedDocumentIDs()).compactMap { id in
      let result = try resolveConflicts(for: id, by: merge) { leaves, merged in
        do {
          for revision in merged.map({ [$0] }) ?? leaves { let _: M = try revision.decode() }
          return true
        } catch let error as DatastoreError where error.code == .undecodable {
          try undecodable(error)
          return false
        }
      }
      return result?.conflicts.isEmpty == false ? result : nil
    }
  }

  /// The revision that a model is saved after: the one that was read or, if that is no longer a leaf and the two can be
  /// merged, the winner; `nil` for a new document.
  private func base<M: DocumentModel>(of model: M, merges: Bool) throws -> DocumentRevision? {
    let (id, read) = (model.id.documentID, model.revision)
    try checkSeen(id)
    let (exists, isLeaf) = try use { connection -> (Bool, Bool) in
      guard let row = try rowToChange(id, on: connection) else { return (false, false) }
      let leaf = try read.flatMap { try DocumentWriting(connection: connection).leaf($0, of: row) }
      return (!row.isDeleted, leaf.map { !$0.isDeleted } ?? false)
    }
    switch read {
    case nil where !exists: return nil
    case let read? where isLeaf: return try document(withID: id, revisionID: read)
    case let read? where exists && !merges: throw DatastoreError(.notALeaf(read, of: id))
    case nil where !merges: throw DatastoreError(.documentExists(id))
    default: return try document(withID: id)
    }
  }
}

extension Array where Element: DocumentModel {
  /// The first version with what only others have changed since their common ancestor; `nil` for an empty array. What several
  /// versions have changed is taken from the first of them.
  ///
  /// - Parameter base: The common ancestor. Without it, the first version is returned.
  /// - Throws: The errors of encoding the models and of decoding the result.
  public func merged(since base: Element?) throws -> Element? {
    guard let base else { return first }
    let id = RevisionID(generation: 1, suffix: "")
    func revision(_ model: Element) throws -> DocumentRevision {
      DocumentRevision(id: model.id.documentID, revisionID: model.revision ?? id, body: try model.body())
    }
    return try map(revision).merged(since: revision(base))?.decode()
  }
}

extension JSONObject {
  /// Applies what differs between two objects, and keeps all other members, at any depth.
  fileprivate mutating func change(from old: JSONObject, to new: JSONObject) {
    for (name, value) in new {
      let (was, stored) = (old[name], self[name])
      if stored != nil, was == value { continue }
      if case (.object(let was)?, .object(var merged)?, .object(let value)) = (was, stored, value) {
        merged.change(from: was, to: value)
        self[name] = .object(merged)
      } else {
        self[name] = value
      }
    }
    for (name, _) in old where new[name] == nil { self[name] = nil }
  }
}

extension Datastore {
  /// Saves a model as the next revision of its document, or as a new document.
  ///
  /// ```swift
  /// task = try store.save(task)
  /// task = try store.save(task) { stored, mine in stored.isDone ? stored : mine }
  /// ```
  ///
  /// A model without a revision is new. Members of the stored document that the model does not know are kept, also
  /// in inner objects, and so are attachments. If nothing differs, nothing is saved.
  ///
  /// - Parameters:
  ///   - model: With the revision that was read, or without one.
  ///   - merge: Called if the document has been changed since the model was read, or exists although the model is new, with
  ///     the stored model and yours. It returns what to save. It runs inside the transaction.
  /// - Returns: The model as it is read from now on, with its new revision: dates have the precision with which they are stored.
  /// - Throws: ``DatastoreError``: `.conflict` if `merge` would be needed and is `nil`; `.notFound` if the document was
  ///   deleted; `.undecodable` if the stored document is not a model, or what is encoded can't be decoded; those of
  ///   `createDocument(from:)`; `EncodingError`.
  @discardableResult
  public func save<M: DocumentModel>(_ model: M, merge: ((_ stored: M, _ mine: M) throws -> M)? = nil) throws
    -> M
  {
    try write { try $0.save(model, merge: merge) }
  }

  /// Saves a model, on one of the datastore's threads.
  @discardableResult
  public func save<M: DocumentModel>(
    _ model: M, merge: (@Sendable (_ stored: M, _ mine: M) throws -> M)? = nil
  ) async throws -> M {
    try await write { try $0.save(model, merge: merge) }
  }

  /// Deletes the document of a model.
  ///
  /// ```swift
  /// try store.delete(milk)
  /// ```
  ///
  /// If the document has a conflict, its other version becomes the current one.
  ///
  /// - Throws: ``DatastoreError``: `.conflict` if the document has been changed or deleted since the model was read;
  ///   `.notFound` if the model has no revision. To delete a document whatever its revision, use
  ///   `deleteDocument(withID:)`.
  public func delete(_ model: some DocumentModel) throws {
    try write { try $0.delete(model) }
  }

  /// Deletes the document of a model, on one of the datastore's threads.
  public func delete(_ model: some DocumentModel) async throws {
    try await write { try $0.delete(model) }
  }
}
