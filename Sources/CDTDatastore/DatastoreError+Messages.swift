package import CDTPlatform
import JSON
package import SQLite

// Every message of the datastore, in one place. A message says what is wrong and ends in the remedy.
extension DatastoreError {
  static func invalidName(_ name: String) -> DatastoreError {
    DatastoreError(
      .invalidName,
      "\(quoted(name)) is no name for a datastore; use letters, digits and _, a letter first, at most "
        + "\(DatastoreName.maximumLength) of them")
  }

  static func noSuchDatastore(_ name: String, in directory: String) -> DatastoreError {
    DatastoreError(.notFound, "there is no datastore \(quoted(name)) in \(directory); create it first")
  }

  static func closed(_ name: String) -> DatastoreError {
    DatastoreError(.closed, "the datastore \(quoted(name)) is closed; ask its manager for it again")
  }

  static func nestedWrite(_ name: String) -> DatastoreError {
    DatastoreError(
      .nestedWrite,
      "a write to \(quoted(name)) was begun within a write to it; use the transaction that the outer one gives"
    )
  }

  static func invalidID(_ id: String) -> DatastoreError {
    let message =
      id.isEmpty
      ? "a document's id can't be empty; leave it out to have one made"
      : "the id \(quoted(id)) begins with an underscore; only _design/… may"
    return DatastoreError(.invalidID, documentID: id, message)
  }

  static func missingID() -> DatastoreError {
    DatastoreError(.invalidID, "the revision has no document id; read the document before changing it")
  }

  static func missingRevision(_ id: String) -> DatastoreError {
    DatastoreError(
      .invalidRevision, documentID: id,
      "the revision of document \(quoted(id)) has no revision id; read the document before changing it")
  }

  static func hasRevision(_ id: String) -> DatastoreError {
    DatastoreError(
      .conflict, documentID: id,
      "document \(quoted(id)) has a revision already; update it, or create one from its body")
  }

  static func projected(_ id: String) -> DatastoreError {
    DatastoreError(
      .invalidRevision, documentID: id,
      "this revision of document \(quoted(id)) has only some of its fields; fetch the document first")
  }

  static func missingBody(_ id: String?) -> DatastoreError {
    DatastoreError(
      .missingBody, documentID: id, "a revision needs a body to be saved; give it one, {} if it is empty")
  }

  static func reservedKey(_ key: String, id: String?) -> DatastoreError {
    DatastoreError(
      .reservedKey, documentID: id,
      "the key \(quoted(key)) begins with an underscore, which is reserved; name it otherwise")
  }

  static func notANumber(id: String?) -> DatastoreError {
    DatastoreError(
      .invalidBody, documentID: id,
      "the body holds a number that is infinite or none at all, which JSON can't; use null or a string")
  }

  static func bodyTooDeep(id: String?) -> DatastoreError {
    DatastoreError(
      .invalidBody, documentID: id,
      "the body is nested deeper than \(JSONParsingOptions().maximumDepth) levels; make it flatter")
  }

  static func nothingToDecode(_ id: String?) -> DatastoreError {
    DatastoreError(
      .missingBody, documentID: id,
      "the revision has no body to decode; give it one, or read the document first")
  }

  static func noSuchDocument(_ id: String) -> DatastoreError {
    DatastoreError(
      .notFound, documentID: id, "there is no document \(quoted(id)); check the id, or create it")
  }

  static func documentDeleted(_ id: String) -> DatastoreError {
    DatastoreError(
      .notFound, documentID: id, "document \(quoted(id)) is deleted; create it again to use the id")
  }

  static func revisionDeleted(_ revision: RevisionID, of id: String) -> DatastoreError {
    DatastoreError(
      .notFound, documentID: id,
      "revision \(revision) of document \(quoted(id)) is deleted already; delete one that lives")
  }

  static func noSuchRevision(_ revision: RevisionID, of id: String) -> DatastoreError {
    DatastoreError(
      .notFound, documentID: id,
      "revision \(revision) of document \(quoted(id)) is not kept here; ask for the current one")
  }

  static func documentExists(_ id: String) -> DatastoreError {
    DatastoreError(
      .conflict, documentID: id, "document \(quoted(id)) exists; update it with its current revision")
  }

  static func notALeaf(_ revision: RevisionID, of id: String) -> DatastoreError {
    DatastoreError(
      .conflict, documentID: id,
      "revision \(revision) of document \(quoted(id)) is not current; read the document again and repeat the change"
    )
  }

  package static func noRevisionID(_ text: String, of id: String) -> DatastoreError {
    DatastoreError(
      .invalidRevision, documentID: id,
      "\(quoted(text)) is no revision id; take one from a revision of document \(quoted(id))")
  }

  static func otherDocument(_ found: String?, than id: String) -> DatastoreError {
    DatastoreError(
      .invalidRevision, documentID: id,
      "the change of document \(quoted(id)) gave \(found.map { "one of " + quoted($0) } ?? "one without an id"); "
        + "change the revision that is given, not its ids")
  }

  static func historyOfOther(_ revision: RevisionID, _ first: RevisionID?, of id: String) -> DatastoreError {
    DatastoreError(
      .invalidRevision, documentID: id,
      "the history of \(revision) of document \(quoted(id)) begins with \(first?.description ?? "nothing"); "
        + "begin it with the revision itself")
  }

  static func generationGap(_ child: RevisionID, _ parent: RevisionID, of id: String) -> DatastoreError {
    DatastoreError(
      .invalidRevision, documentID: id,
      "in the history of document \(quoted(id)) \(parent) follows \(child); list every generation, newest first"
    )
  }

  static func notAmongLeaves(_ decision: DocumentRevision, of id: String) -> DatastoreError {
    DatastoreError(
      .invalidResolution, documentID: id,
      "the resolver gave \(decision.revision?.description ?? "a revision without an id"), which is none of the leaves "
        + "of document \(quoted(id)); give back one of those it was given, changed or not")
  }

  static func attachmentWithoutName(_ id: String?) -> DatastoreError {
    DatastoreError(
      .invalidAttachment, documentID: id, "an attachment has an empty name; give it one")
  }

  static func attachmentUnderOtherName(_ key: String, _ name: String, of id: String?) -> DatastoreError {
    DatastoreError(
      .invalidAttachment, documentID: id,
      "the attachment named \(quoted(name)) stands under \(quoted(key)); put it under its own name")
  }

  /// - Parameter reason: What SQLite says, which does not tell of which file.
  package static func damagedIndexOrStore(_ reason: String) -> DatastoreError {
    DatastoreError(
      .corrupt, "an index or the store is damaged: \(reason); \"cdtquery check --repair\" makes indexes anew")
  }

  static func inlineAttachmentsNoObject() -> DatastoreError {
    DatastoreError(
      .invalidAttachment,
      "_attachments is no object of attachments by their names; make it one, or leave it out")
  }

  /// - Parameter what: What is wrong with it, and the remedy.
  static func inlineAttachment(_ name: String, _ what: String) -> DatastoreError {
    DatastoreError(.invalidAttachment, "the attachment \(quoted(name)) \(what)")
  }

  static func missingSource(_ path: String, of name: String, _ reason: String) -> DatastoreError {
    DatastoreError(
      .invalidAttachment,
      "the file \(quoted(path)) of attachment \(quoted(name)) can't be read: \(reason); check its path and permissions"
    )
  }

  static func missingAttachment(_ name: String, _ path: String) -> DatastoreError {
    DatastoreError(
      .notFound,
      "the content of attachment \(quoted(name)) is not at \(path); read the document again, or restore the file "
        + "from a backup")
  }

  static func damagedAttachment(_ name: String, _ path: String) -> DatastoreError {
    DatastoreError(
      .corrupt,
      "the content of attachment \(quoted(name)) at \(path) is not what was saved; restore it from a backup, or save "
        + "the attachment again")
  }

  static func generationTooHigh(_ parent: RevisionID) -> DatastoreError {
    DatastoreError(
      .invalidRevision, "no generation can follow \(parent); create the document anew")
  }

  static func newerFormat(_ path: String, version: Int64, known: Int64) -> DatastoreError {
    DatastoreError(
      .newerFormat,
      "\(path) has format \(version), and this version knows formats up to \(known); "
        + "use the version that wrote it, or a later one")
  }

  static func foreignFile(_ path: String) -> DatastoreError {
    DatastoreError(.corrupt, "\(path) is an SQLite database but no datastore; move it away")
  }

  static func damaged(_ path: String, _ what: String) -> DatastoreError {
    DatastoreError(.corrupt, "\(path) is damaged: \(what); restore it from a backup")
  }

  static func sequencesExhausted(_ path: String) -> DatastoreError {
    damaged(path, "its last sequence is the highest there is")
  }

  static func invalidPath(_ path: String) -> DatastoreError {
    DatastoreError(.io, "the path \(quoted(path)) has a NUL character; choose another")
  }

  static func notADirectory(_ path: String) -> DatastoreError {
    DatastoreError(
      .io, "\(path) is a file where a directory should be; move it away or choose another directory")
  }

  static func system(_ action: String, _ path: String, _ reason: String, isFull: Bool) -> DatastoreError {
    isFull
      ? .full(action, path)
      : DatastoreError(.io, "can't \(action) \(path): \(reason); check the path and its permissions")
  }

  static func busyHere(_ name: String, _ timeout: Duration) -> DatastoreError {
    DatastoreError(
      .busy,
      "another thread has been writing to \"\(name)\" for longer than \(timeout); try again when it is done"
    )
  }

  package static func indexesBusy(_ directory: String) -> DatastoreError {
    DatastoreError(
      .busy, "another process is changing the indexes in \(directory); try again when it is done")
  }

  /// What the system's refusal means to a user of the store.
  package init(_ error: SystemError, _ action: String, _ path: String) {
    self = .system(action, path, error.description, isFull: error.isFull)
  }

  /// What an error of SQLite means to a user of the store.
  package init(_ error: SQLiteError, path: String? = nil) {
    let place = path ?? "the store"
    if error.isBusy {
      self.init(.busy, "another process is writing to \(place); try again when it is done")
    } else if error.isFull {
      self = .full(place)
    } else if error.isCorrupt || error.isMissingTable {
      self.init(.corrupt, "\(place) is damaged: \(error.message); restore it from a backup")
    } else if error.isOldLibrary {
      self.init(.oldSQLite, "\(error.message); install a newer libsqlite3")
    } else if error.isInterrupted {
      self.init(.interrupted, "reading \(place) was interrupted; try again")
    } else if error.isOutOfMemory {
      self.init(
        .io, "there is not enough memory to read or write \(place); close other programs and try again")
    } else if error.isReadOnly {
      self.init(.io, "\(place) can't be written to: \(error.message); check its permissions")
    } else {
      self.init(.io, "\(place) can't be read or written: \(error); check the disk and its permissions")
    }
  }

  /// A name as a message shows it: with what can't be printed escaped, and not at any length.
  static func quoted(_ text: String) -> String {
    let shown = text.unicodeScalars.count > 80 ? String(text.unicodeScalars.prefix(80)) + "…" : text
    return JSONValue.string(shown).text
  }
}
