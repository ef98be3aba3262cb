import CDTJSON
package import CDTPlatform
package import CDTSQLite

// All messages of the datastore. A message says what is wrong and ends with the remedy.
extension DatastoreError {
  static func invalidName(_ name: String) -> DatastoreError {
    DatastoreError(
      .invalidName,
      "\(quoted(name)) is not a valid datastore name; start with a letter and use only letters, digits and _, at most "
        + "\(DatabaseName.maximumLength) characters")
  }

  static func invalidDatabaseName(_ name: String) -> DatastoreError {
    DatastoreError(
      .invalidName,
      "\(quoted(name)) is not a valid name of a store; start with a letter and use only letters, digits and _, or only "
        + "lower-case letters, digits and _$()+-/, where / is %2F in a path")
  }

  static func noSuchDatastore(_ name: String, in directory: String) -> DatastoreError {
    DatastoreError(.notFound, "there is no datastore \(quoted(name)) in \(directory); create it first")
  }

  static func closed(_ name: String) -> DatastoreError {
    DatastoreError(.closed, "the datastore \(quoted(name)) is closed; open it again with its manager")
  }

  static func deletedElsewhere(_ name: String) -> DatastoreError {
    DatastoreError(
      .closed, "the datastore \(quoted(name)) was deleted or replaced while it was open; open it again")
  }

  static func changedElsewhere(_ name: String) -> DatastoreError {
    DatastoreError(
      .closed,
      "the datastore \(quoted(name)) was changed while it was open read-only without locks; open it again"
    )
  }

  static func readOnly(_ directory: String) -> DatastoreError {
    DatastoreError(
      .io, "\(directory) can only be read; allow writing to it and to its files, or write to a copy of it")
  }

  static func unreadableLog(_ path: String) -> DatastoreError {
    DatastoreError(
      .io,
      "\(LogFile.path(of: path)) has changes that a read-only open can't apply; open the store once where it can be written to, or "
        + "read a copy of its directory")
  }

  static func missingKey(_ directory: String) -> DatastoreError {
    DatastoreError(
      .wrongKey,
      "\(directory) is encrypted; give its key or passphrase: \"encryption\" of the options, or --key-file")
  }

  static func wrongKey(_ directory: String) -> DatastoreError {
    DatastoreError(.wrongKey, "\(directory) is encrypted with another key or passphrase; nothing was changed")
  }

  static func formerKeyDiffers(_ directory: String) -> DatastoreError {
    DatastoreError(
      .wrongKey,
      "the new key opens \(directory), and the former one does not; nothing was changed. An earlier run may have changed the key already"
    )
  }

  package static func keyForPlainStore(_ directory: String) -> DatastoreError {
    DatastoreError(
      .wrongKey,
      "\(directory) is not encrypted, but a key was given; open it without a key, or encrypt it first with \"cdtquery rekey\""
    )
  }

  package static func missingKeyFile(_ path: String) -> DatastoreError {
    DatastoreError(
      .corrupt, "\(path) is missing, and nothing can be decrypted without it; restore it from a backup")
  }

  static func noKeyForPlainStore(_ directory: String) -> DatastoreError {
    DatastoreError(.wrongKey, "\(directory) is not encrypted; to encrypt it, give a key or a passphrase")
  }

  static func cannotExchange(_ directory: String, _ reason: SystemError) -> DatastoreError {
    DatastoreError(
      .io,
      "the file system of \(directory) can't exchange two directories: \(reason); copy the datastore to a file system that can, or replicate it to a new datastore with the new key"
    )
  }

  static func backupWithOtherKey(_ directory: String) -> DatastoreError {
    DatastoreError(
      .wrongKey,
      "the backup in \(directory) is not encrypted with the datastore's data key; begin a backup in a new directory"
    )
  }

  static func keyLength(_ count: Int) -> DatastoreError {
    DatastoreError(.wrongKey, "a key must have 32 bytes, not \(count); make one with \"openssl rand 32\"")
  }

  static func emptyPassphrase() -> DatastoreError {
    DatastoreError(.wrongKey, "the passphrase is empty; give a passphrase, or leave out the encryption")
  }

  static func noSecret() -> DatastoreError {
    DatastoreError(
      .wrongKey,
      "the secret must be a key of 32 bytes or 64 hexadecimal digits, or a line of text; make a key with \"openssl rand 32\""
    )
  }

  static func olderFormat(_ path: String, version: Int64) -> DatastoreError {
    DatastoreError(
      .io,
      "\(path) has format \(version), which must be upgraded before it is read; open it once where it can be written to"
    )
  }

  static func linkedDirectory(_ path: String) -> DatastoreError {
    DatastoreError(
      .io,
      "\(path) is a symbolic link, which a deletion does not follow; delete the datastore at its target"
    )
  }

  static func documentTooLarge(_ id: String, _ size: Int, limit: Int) -> DatastoreError {
    DatastoreError(
      .invalidBody, documentID: id,
      "document \(quoted(id)) has \(size) bytes, but SQLite can't store more than \(limit); split it, or save a part as an "
        + "attachment")
  }

  static func nestedWrite(_ name: String) -> DatastoreError {
    DatastoreError(
      .nestedWrite,
      "a write to \(quoted(name)) was started inside another write to it; use the transaction of the outer write"
    )
  }

  static func timedOut() -> DatastoreError {
    DatastoreError(.timedOut, "the operation did not finish before its deadline; allow more time")
  }

  static func transactionEnded(_ path: String) -> DatastoreError {
    DatastoreError(.io, "SQLite ended the write to \(path) after an earlier error in it; try again")
  }

  static func noThread(_ error: SystemError) -> DatastoreError {
    DatastoreError(
      .io, "can't start a thread: \(error); reduce the number of threads in the process and try again")
  }

  static func withinWrite(_ name: String, _ action: String) -> DatastoreError {
    DatastoreError(
      .nestedWrite,
      "\(quoted(name)) can't be \(action) inside a write to it; do it after the write returns")
  }

  static func beingDeleted(_ name: String, _ timeout: Duration) -> DatastoreError {
    DatastoreError(
      .busy,
      "another thread has been deleting \(quoted(name)) for longer than \(timeout); try again later"
    )
  }

  static func inUse(_ name: String, _ timeout: Duration) -> DatastoreError {
    DatastoreError(
      .busy,
      "files of \(quoted(name)) have been opened or closed for longer than \(timeout); try again later")
  }

  package static func invalidID(_ id: String) -> DatastoreError {
    let message =
      id.isEmpty
      ? "a document id can't be empty; omit it to have one generated"
      : "the id \(quoted(id)) begins with an underscore, which is reserved for _design/…; choose another"
    return DatastoreError(.invalidID, documentID: id, message)
  }

  static func projected(_ id: String) -> DatastoreError {
    DatastoreError(
      .invalidRevision, documentID: id,
      "this revision of document \(quoted(id)) has only some of its fields; fetch the document first")
  }

  static func missingBody(_ id: String?) -> DatastoreError {
    DatastoreError(
      .missingBody, documentID: id, "the revision has no body; set one before saving, {} for an empty body")
  }

  package static func compressedFile(_ name: String, _ isTruncated: Bool) -> DatastoreError {
    DatastoreError(
      .io, "\(name) is \(isTruncated ? "an incomplete" : "a damaged") gzip file; download it again")
  }

  package static func valueTooLong(_ name: String, line: Int) -> DatastoreError {
    DatastoreError(
      .invalidBody,
      "\(name):\(line): the value that begins here is larger than 1 GiB, the most that a document can have; check the format of the file"
    )
  }

  package static func importedText(_ error: JSONError) -> DatastoreError {
    DatastoreError(.invalidBody, error.message)
  }

  package static func importedID() -> DatastoreError {
    DatastoreError(
      .invalidBody, "_id must be a string; quote it, or leave it out and name another field with --id")
  }

  package static func importedRevision(_ value: JSONValue) -> DatastoreError {
    DatastoreError(
      .invalidBody, "_rev must be a revision id, not \(value.text); leave it out, or add --force to ignore it"
    )
  }

  package static func reservedKey(_ key: String, id: String?) -> DatastoreError {
    DatastoreError(
      .reservedKey, documentID: id,
      "the key \(quoted(key)) begins with an underscore, which is reserved; rename the key")
  }

  static func notANumber(id: String?) -> DatastoreError {
    DatastoreError(
      .invalidBody, documentID: id,
      "the body has a number that is infinite or NaN, which JSON can't represent; use null or a string")
  }

  static func bodyTooDeep(id: String?) -> DatastoreError {
    DatastoreError(
      .invalidBody, documentID: id,
      "the body is nested deeper than \(JSONParsingOptions().maximumDepth) levels; flatten it")
  }

  static func nothingToDecode(_ id: String?) -> DatastoreError {
    DatastoreError(
      .missingBody, documentID: id,
      "the revision has no body to decode; set one, or read the document first")
  }

  static func undecodable(_ id: String, _ type: any Any.Type, _ error: any Error) -> DatastoreError {
    let remedy =
      if case DecodingError.keyNotFound = error {
        "add it to the document, make the property optional, or give its type a default with HasDefaults"
      } else {
        "correct the document, or make the property optional"
      }
    let what = (error as? DecodingError)?.text ?? "\(error)"
    return DatastoreError(
      .undecodable, documentID: id,
      "document \(quoted(id)) can't be decoded as \(type): \(what); \(remedy)")
  }

  static func unsaved(_ id: String) -> DatastoreError {
    DatastoreError(
      .notFound, documentID: id,
      "the model of document \(quoted(id)) has no revision; delete a model that was read or saved")
  }

  package static func noSuchDocument(_ id: String) -> DatastoreError {
    DatastoreError(
      .notFound, documentID: id, "there is no document \(quoted(id)); check the id, or create it")
  }

  package static func documentDeleted(_ id: String) -> DatastoreError {
    DatastoreError(
      .notFound, documentID: id, "document \(quoted(id)) is deleted; create it again to reuse the id")
  }

  static func revisionDeleted(_ revision: RevisionID, of id: String) -> DatastoreError {
    DatastoreError(
      .notFound, documentID: id,
      "revision \(revision) of document \(quoted(id)) is already deleted; name a revision that is not deleted"
    )
  }

  package static func noSuchRevision(_ revision: RevisionID, of id: String) -> DatastoreError {
    DatastoreError(
      .notFound, documentID: id,
      "revision \(revision) of document \(quoted(id)) is not in the store; read the current revision")
  }

  static func documentExists(_ id: String) -> DatastoreError {
    DatastoreError(
      .conflict, documentID: id, "document \(quoted(id)) already exists; update its current revision instead")
  }

  static func notALeaf(_ revision: RevisionID, of id: String) -> DatastoreError {
    DatastoreError(
      .conflict, documentID: id,
      "revision \(revision) of document \(quoted(id)) is not a leaf; read the document again and repeat the change"
    )
  }

  package static func noRevisionID(_ text: String, of id: String) -> DatastoreError {
    DatastoreError(
      .invalidRevision, documentID: id,
      "\(quoted(text)) is not a revision id; use the id of a revision of document \(quoted(id))")
  }

  static func otherDocument(_ found: String, than id: String) -> DatastoreError {
    DatastoreError(
      .invalidRevision, documentID: id,
      "the change of document \(quoted(id)) returned a revision of document \(quoted(found)); return a revision of the document being changed"
    )
  }

  static func historyOfOther(_ revision: RevisionID, _ first: RevisionID?, of id: String) -> DatastoreError {
    DatastoreError(
      .invalidRevision, documentID: id,
      "the history of revision \(revision) of document \(quoted(id)) begins with \(first?.description ?? "nothing"); "
        + "list the revision itself first")
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
      "the resolver returned \(decision.revisionID), which is not a leaf "
        + "of document \(quoted(id)); return one of the revisions passed to it, changed or not")
  }

  package static func attachmentWithoutName(_ id: String?) -> DatastoreError {
    DatastoreError(
      .invalidAttachment, documentID: id, "an attachment has an empty name; name it")
  }

  static func attachmentUnderOtherName(_ key: String, _ name: String, of id: String?) -> DatastoreError {
    DatastoreError(
      .invalidAttachment, documentID: id,
      "the attachment named \(quoted(name)) is stored under the key \(quoted(key)); use its name as the key")
  }

  /// - Parameter reason: SQLite's message, which does not name the file.
  package static func damagedIndexOrStore(_ reason: String) -> DatastoreError {
    DatastoreError(
      .corrupt,
      "an index or the store is damaged: \(reason); \"cdtquery check --repair\" rebuilds damaged indexes")
  }

  static func inlineAttachmentsNoObject() -> DatastoreError {
    DatastoreError(
      .invalidAttachment,
      "_attachments must be an object that maps names to attachments; correct it, or leave it out")
  }

  /// - Parameter what: The problem, then the remedy.
  static func inlineAttachment(_ name: String, _ what: String) -> DatastoreError {
    DatastoreError(.invalidAttachment, "the attachment \(quoted(name)) \(what)")
  }

  static func missingSource(_ path: String, of name: String, _ reason: String) -> DatastoreError {
    DatastoreError(
      .invalidAttachment,
      "the file \(quoted(path)) of attachment \(quoted(name)) can't be read: \(reason); check its path and permissions"
    )
  }

  static func sourceNotRegular(_ path: String, of name: String) -> DatastoreError {
    DatastoreError(
      .invalidAttachment,
      "the file \(quoted(path)) of attachment \(quoted(name)) is not a regular file; copy it to one, or attach its "
        + "content as data")
  }

  static func sourcePathWithNUL(_ path: String, of name: String) -> DatastoreError {
    DatastoreError(
      .invalidAttachment,
      "the path \(quoted(path)) of attachment \(quoted(name)) contains a NUL character; remove it")
  }

  static func missingAttachment(_ name: String, _ path: String) -> DatastoreError {
    DatastoreError(
      .notFound,
      "the content of attachment \(quoted(name)) is missing at \(path); read the document again, or restore the file "
        + "from a backup")
  }

  static func damagedAttachment(_ name: String, _ path: String) -> DatastoreError {
    DatastoreError(
      .corrupt,
      "the content of attachment \(quoted(name)) at \(path) differs from what was saved; restore it from a backup, or save "
        + "the attachment again")
  }

  static func generationTooHigh(_ parent: RevisionID) -> DatastoreError {
    DatastoreError(
      .invalidRevision,
      "revision \(parent) has the highest possible generation; copy the document to a new id")
  }

  static func newerFormat(_ path: String, version: Int64, known: Int64) -> DatastoreError {
    DatastoreError(
      .newerFormat,
      "\(path) has format \(version), but this version supports formats up to \(known); "
        + "use the version that wrote it or a later one")
  }

  static func foreignFile(_ path: String) -> DatastoreError {
    DatastoreError(.corrupt, "\(path) is an SQLite database but not a datastore; move it elsewhere")
  }

  static func unknownFile(_ path: String) -> DatastoreError {
    DatastoreError(
      .corrupt,
      "\(path) has no files of a datastore; move it elsewhere, or remove the directory yourself")
  }

  private static let recovery = "restore it from a backup, or save what can be read with \"cdtquery recover\""

  static func damaged(_ path: String, _ what: String) -> DatastoreError {
    DatastoreError(.corrupt, "\(path) is damaged: \(what); \(recovery)")
  }

  /// - Parameter reason: The damage, and the remedy.
  static func unreadableDocument(_ id: String, _ reason: String) -> DatastoreError {
    DatastoreError(.corrupt, documentID: id, "document \(quoted(id)) can't be read: \(reason)")
  }

  static func lostContent(_ path: String, evidence: String) -> DatastoreError {
    DatastoreError(
      .corrupt,
      "\(path) has no content, but \(evidence) shows that there was some; restore it from a backup, or move the "
        + "datastore's directory away")
  }

  static func sequencesExhausted(_ path: String) -> DatastoreError {
    damaged(path, "its last sequence is the highest possible")
  }

  static func unknownSequence(_ sequence: Int64, last: Int64, in name: String) -> DatastoreError {
    DatastoreError(
      .unknownSequence,
      "the last sequence of \(quoted(name)) is \(last), so it can't list changes since \(sequence); the store was probably "
        + "recreated or restored, so start again from 0")
  }

  static func invalidPath(_ path: String) -> DatastoreError {
    DatastoreError(.io, "the path \(quoted(path)) contains a NUL character; remove it")
  }

  static var memoryAsDirectory: DatastoreError {
    DatastoreError(
      .io, #"":memory:" is not a directory; use DatastoreManager.inMemory() for stores that need not last"#)
  }

  static func noFile(_ path: String) -> DatastoreError {
    DatastoreError(.notFound, "there is no file \(path); check the path")
  }

  package static func notARegularFile(_ path: String) -> DatastoreError {
    DatastoreError(.io, "\(path) is not a regular file; check the path")
  }

  package static func link(_ path: String) -> DatastoreError {
    DatastoreError(
      .io, "\(path) is a symbolic link, and nothing is written through it; replace it with its target")
  }

  static func longPath(_ path: String, longest: Int) -> DatastoreError {
    DatastoreError(
      .io,
      "the path \(path) has \(path.utf8.count) bytes, but a datastore's can have at most \(longest), since SQLite limits paths; "
        + "choose a directory with a shorter path")
  }

  static func notADirectory(_ path: String) -> DatastoreError {
    DatastoreError(
      .io, "\(path) is not a directory; move the file or choose another directory")
  }

  static func system(_ action: String, _ path: String, _ reason: String, isFull: Bool) -> DatastoreError {
    isFull
      ? .full(action, path)
      : DatastoreError(.io, "can't \(action) \(path): \(reason); check the path and its permissions")
  }

  static func readersPreventRepair(_ name: String) -> DatastoreError {
    DatastoreError(
      .busy,
      "the checksums of \(quoted(name)) can't be written while an earlier state is read; try again later")
  }

  static func busyHere(_ name: String, _ timeout: Duration) -> DatastoreError {
    DatastoreError(
      .busy,
      "another thread has been writing to \"\(name)\" for longer than \(timeout); try again later"
    )
  }

  package static func indexesBusy(_ directory: String) -> DatastoreError {
    DatastoreError(
      .busy, "another process is changing the indexes in \(directory); try again later")
  }

  /// The error of a failed system call.
  package init(_ error: SystemError, _ action: String, _ path: String) {
    self = .system(action, path, error.description, isFull: error.isFull)
  }

  /// The error of a failed SQLite call.
  package init(_ error: SQLiteError, path: String? = nil) {
    let place = path ?? "the store"
    if error.isBusy {
      self.init(.busy, "another process is writing to \(place); try again later")
    } else if error.isFull {
      self = .full(place)
    } else if error.isCorrupt || error.isMissingTable {
      self.init(.corrupt, "\(place) is damaged: \(error.message); \(Self.recovery)")
    } else if error.isOldLibrary {
      self.init(.oldSQLite, "\(error.message); install a newer libsqlite3")
    } else if error.isInterrupted {
      self.init(.interrupted, "the read of \(place) was interrupted; try again")
    } else if error.isOutOfMemory {
      self.init(
        .io, "there is not enough memory to read or write \(place); close other programs and try again")
    } else if error.isTooBig {
      self.init(.invalidBody, "a document is larger than SQLite can store in \(place); split it")
    } else if error.isReadOnly {
      self.init(.io, "\(place) can't be written to: \(error.message); check its permissions")
    } else {
      self.init(.io, "\(place) can't be read or written: \(error); check the disk and its permissions")
    }
  }

  /// A name for a message, with nonprintable characters escaped and a limited length.
  package static func quoted(_ text: String) -> String {
    let shown = text.unicodeScalars.count > 80 ? String(text.unicodeScalars.prefix(80)) + "…" : text
    return JSONValue.string(shown).text
  }
}

/// Behavior when the disk or the quota is full.
///
/// - A write that does not fit is rolled back and throws the code `.full`; a later, smaller one may succeed.
/// - Attachments that do not fit are removed before anything refers to them.
/// - The documents of a write are saved even if the index rows no longer fit. Queries then match the missing documents
///   one by one, and the next write, or opening the datastore, updates the indexes.
/// - Reads continue to work.
extension DatastoreError {
  static func full(_ place: String) -> DatastoreError {
    DatastoreError(.full, "the disk is full: nothing was saved in \(place); free some space and try again")
  }

  static func full(_ action: String, _ path: String) -> DatastoreError {
    DatastoreError(.full, "can't \(action) \(path): the disk is full; free some space")
  }
}

extension DecodingError {
  /// The path and the description, as in `items[2].price: expected a number, found a string`.
  package var text: String {
    switch self {
    case .keyNotFound(_, let context), .typeMismatch(_, let context), .valueNotFound(_, let context),
      .dataCorrupted(let context):
      context.text
    @unknown default: "\(self)"
    }
  }
}

extension DecodingError.Context {
  fileprivate var text: String {
    var path = ""
    for key in codingPath {
      path += key.intValue.map { "[\($0)]" } ?? (path.isEmpty ? key.stringValue : ".\(key.stringValue)")
    }
    return path.isEmpty ? debugDescription : "\(path): \(debugDescription)"
  }
}
