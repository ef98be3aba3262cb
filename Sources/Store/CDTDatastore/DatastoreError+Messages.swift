import CDTJSON
package import CDTPlatform
package import CDTSQLite

// All messages of the datastore. A message says what is wrong and ends with the remedy.
extension DatastoreError {
  /// The reason for an error, with the values that its message shows.
  package enum Fault {
    // Names, directories and files
    case invalidName(String), invalidDatabaseName(String), noSuchDatastore(String, in: String)
    case memoryAsDirectory, invalidPath(String), longPath(String, longest: Int), noFile(String)
    case notADirectory(String), notARegularFile(String), link(String), linkedDirectory(String)
    case readOnly(String), stateOfBackup, unreadableLog(String), foreignFile(String), unknownFile(String)
    case newerFormat(String, version: Int64, known: Int64), olderFormat(String, version: Int64)
    case damaged(String, String), damagedIndexOrStore(String), lostContent(String, evidence: String)
    case sequencesExhausted(String)
    // Encryption
    case missingKey(String), wrongKey(String), formerKeyDiffers(String), keyForPlainStore(String)
    case noKeyForPlainStore(String), missingKeyFile(String), backupWithOtherKey(String), keyLength(Int)
    case emptyPassphrase, noSecret, cannotExchange(String, SystemError), foreignLog(String)
    // Turns and threads
    case closed(String), deletedElsewhere(String), changedElsewhere(String), nestedWrite(String)
    case withinWrite(String, String), busyHere(String, Duration), beingDeleted(String, Duration)
    case inUse(String, Duration), indexesBusy(String), readersPreventRepair(String), timedOut
    case transactionEnded(String), noThread(SystemError), suspended(String), endedBySuspension(String)
    case userChanged(String)
    // Documents
    case invalidID(String), noSuchDocument(String), documentDeleted(String), documentExists(String)
    case unreadableDocument(String, String), documentTooLarge(String, Int, limit: Int)
    case missingBody(String?), reservedKey(String, id: String?), notANumber(id: String?)
    case bodyTooDeep(id: String?), projected(String), nothingToDecode(String?)
    case undecodable(String, any Any.Type, any Error), unsaved(String)
    case otherID(String, any Any.Type, any Any.Type), modelInside(
      any Any.Type, at: [any CodingKey], of: String)
    case unknownSequence(Int64, last: Int64, in: String)
    // Revisions
    case noSuchRevision(RevisionID, of: String), revisionDeleted(RevisionID, of: String)
    case notALeaf(RevisionID, of: String), noRevisionID(String, of: String)
    case otherDocument(String, than: String), historyOfOther(RevisionID, RevisionID?, of: String)
    case generationGap(RevisionID, RevisionID, of: String), generationTooHigh(RevisionID)
    case notAmongLeaves(DocumentRevision, of: String)
    // Attachments
    case attachmentWithoutName(String?), attachmentUnderOtherName(String, String, of: String?)
    case inlineAttachmentsNoObject, inlineAttachment(String, String)
    case missingSource(String, of: String, String), sourceNotRegular(String, of: String)
    case sourcePathWithNUL(String, of: String), missingAttachment(String, String)
    case damagedAttachment(String, String)
    // Imports
    case importedText(JSONError), importedID, importedRevision(JSONValue), importedKey(String, id: String?)
    case compressedFile(String, Bool)
    case valueTooLong(String, line: Int, limit: Int), decompressedFile(String, limit: Int64)

    fileprivate var code: Code {
      switch self {
      case .invalidName, .invalidDatabaseName: .invalidName
      case .noSuchDatastore, .noFile, .noSuchDocument, .documentDeleted, .unsaved, .noSuchRevision,
        .revisionDeleted, .missingAttachment:
        .notFound
      case .closed, .deletedElsewhere, .changedElsewhere: .closed
      case .memoryAsDirectory, .invalidPath, .longPath, .notADirectory, .notARegularFile, .link,
        .linkedDirectory, .readOnly, .stateOfBackup, .unreadableLog, .olderFormat, .cannotExchange,
        .transactionEnded,
        .noThread:
        .io
      case .missingKey, .wrongKey, .formerKeyDiffers, .keyForPlainStore, .noKeyForPlainStore,
        .backupWithOtherKey, .keyLength, .emptyPassphrase, .noSecret:
        .wrongKey
      case .foreignFile, .unknownFile, .damaged, .damagedIndexOrStore, .lostContent, .sequencesExhausted,
        .missingKeyFile, .unreadableDocument, .damagedAttachment:
        .corrupt
      case .documentTooLarge, .notANumber, .bodyTooDeep, .importedText, .importedID, .importedRevision,
        .modelInside, .valueTooLong, .decompressedFile:
        .invalidBody
      case .nestedWrite, .withinWrite: .nestedWrite
      case .timedOut: .timedOut
      case .suspended, .endedBySuspension: .suspended
      case .busyHere, .beingDeleted, .inUse, .indexesBusy, .readersPreventRepair, .foreignLog: .busy
      case .projected, .noRevisionID, .otherDocument, .historyOfOther, .generationGap, .generationTooHigh:
        .invalidRevision
      case .missingBody, .nothingToDecode: .missingBody
      case .reservedKey, .importedKey: .reservedKey
      case .documentExists, .notALeaf: .conflict
      case .notAmongLeaves: .invalidResolution
      case .attachmentWithoutName, .attachmentUnderOtherName, .inlineAttachmentsNoObject, .inlineAttachment,
        .missingSource, .sourceNotRegular, .sourcePathWithNUL:
        .invalidAttachment
      case .newerFormat: .newerFormat
      case .unknownSequence: .unknownSequence
      case .invalidID: .invalidID
      case .compressedFile: .invalidImport
      case .undecodable, .otherID: .undecodable
      case .userChanged: .userChanged
      }
    }

    fileprivate var documentID: String? {
      switch self {
      case .invalidID(let id), .noSuchDocument(let id), .documentDeleted(let id), .documentExists(let id),
        .unreadableDocument(let id, _), .documentTooLarge(let id, _, _), .projected(let id),
        .undecodable(let id, _, _), .otherID(let id, _, _), .modelInside(_, _, let id), .unsaved(let id),
        .noSuchRevision(_, let id),
        .revisionDeleted(_, let id), .notALeaf(_, let id), .noRevisionID(_, let id),
        .otherDocument(_, let id), .historyOfOther(_, _, let id), .generationGap(_, _, let id),
        .notAmongLeaves(_, let id):
        id
      case .missingBody(let id), .reservedKey(_, let id), .notANumber(let id), .bodyTooDeep(let id),
        .nothingToDecode(let id), .attachmentWithoutName(let id), .attachmentUnderOtherName(_, _, let id),
        .importedKey(_, let id):
        id
      default: nil
      }
    }

    fileprivate var message: String {
      switch self {
      case .invalidName(let name):
        "\(quoted(name)) is not a valid datastore name; start with a letter and use only letters, digits and _, at most "
          + "\(DatabaseName.maximumLength) characters"
      case .invalidDatabaseName(let name):
        "\(quoted(name)) is not a valid name of a store; start with a letter and use only letters, digits and _, or only lower-case "
          + "letters, digits and _$()+-/, where / is %2F in a path"
      case .noSuchDatastore(let name, let directory):
        "there is no datastore \(quoted(name)) in \(directory); create it first"
      case .memoryAsDirectory:
        #"":memory:" is not a directory; use DatastoreManager.inMemory() for stores that need not last"#
      case .invalidPath(let path): "the path \(quoted(path)) contains a NUL character; remove it"
      case .longPath(let path, let longest):
        "the path \(path) has \(path.utf8.count) bytes, but a datastore's can have at most \(longest), since SQLite limits paths; "
          + "choose a directory with a shorter path"
      case .noFile(let path): "there is no file \(path); check the path"
      case .notADirectory(let path): "\(path) is not a directory; move the file or choose another directory"
      case .notARegularFile(let path): "\(path) is not a regular file; check the path"
      case .link(let path):
        "\(path) is a symbolic link, and nothing is written through it; replace it with its target"
      case .linkedDirectory(let path):
        "\(path) is a symbolic link, which a deletion does not follow; delete the datastore at its target"
      case .readOnly(let directory):
        "\(directory) can only be read; allow writing to it and to its files, or write to a copy of it"
      case .stateOfBackup:
        "the state of a backup can only be read; restore it in a new datastore, and write to that"
      case .unreadableLog(let path):
        "\(LogFile.path(of: path)) has changes that a read-only open can't apply; open the store once where it can be written to, "
          + "or read a copy of its directory"
      case .foreignFile(let path): "\(path) is an SQLite database but not a datastore; move it elsewhere"
      case .unknownFile(let path):
        "\(path) has no files of a datastore; move it elsewhere, or remove the directory yourself"
      case .newerFormat(let path, let version, let known):
        "\(path) has format \(version), but this version supports formats up to \(known); use the version that wrote it or a later one"
      case .olderFormat(let path, let version):
        "\(path) has format \(version), which must be upgraded before it is read; open it once where it can be written to"
      case .damaged(let path, let what): "\(path) is damaged: \(what); \(recovery)"
      case .damagedIndexOrStore(let reason):
        "an index or the store is damaged: \(reason); \"cdtquery check --repair\" rebuilds damaged indexes"
      case .lostContent(let path, let evidence):
        "\(path) has no content, but \(evidence) shows that there was some; restore it from a backup, or move the datastore's directory away"
      case .sequencesExhausted(let path):
        "\(path) is damaged: its last sequence is the highest possible; \(recovery)"

      case .missingKey(let directory):
        "\(directory) is encrypted; give its key or passphrase: \"encryption\" of the options, or --key-file"
      case .wrongKey(let directory):
        "\(directory) is encrypted with another key or passphrase; nothing was changed"
      case .formerKeyDiffers(let directory):
        "the new key opens \(directory), and the former one does not; nothing was changed. An earlier run may have changed the key already"
      case .keyForPlainStore(let directory):
        "\(directory) is not encrypted, but a key was given; open it without a key, or encrypt it first with \"cdtquery rekey\""
      case .noKeyForPlainStore(let directory):
        "\(directory) is not encrypted; to encrypt it, give a key or a passphrase"
      case .missingKeyFile(let path):
        "\(path) is missing, and nothing can be decrypted without it; restore it from a backup"
      case .backupWithOtherKey(let directory):
        "the backup in \(directory) is not encrypted with the datastore's data key; begin a backup in a new directory"
      case .keyLength(let count): "a key must have 32 bytes, not \(count); make one with \"openssl rand 32\""
      case .emptyPassphrase: "the passphrase is empty; give a passphrase, or leave out the encryption"
      case .noSecret:
        "the secret must be a key of 32 bytes or 64 hexadecimal digits, or a line of text; make a key with \"openssl rand 32\""
      case .cannotExchange(let directory, let reason):
        "the file system of \(directory) can't exchange two directories: \(reason); copy the datastore to a file system that can, "
          + "or replicate it to a new datastore with the new key"
      case .foreignLog(let path):
        "\(path) was made by another program, which has opened the encrypted database; end that program, and remove the file"

      case .closed(let name): "the datastore \(quoted(name)) is closed; open it again with its manager"
      case .deletedElsewhere(let name):
        "the datastore \(quoted(name)) was deleted or replaced while it was open; open it again"
      case .changedElsewhere(let name):
        "the datastore \(quoted(name)) was changed while it was open read-only without locks; open it again"
      case .nestedWrite(let name):
        "a write to \(quoted(name)) was started inside another write to it; use the transaction of the outer write"
      case .withinWrite(let name, let action):
        "\(quoted(name)) can't be \(action) inside a write to it; do it after the write returns"
      case .busyHere(let name, let timeout):
        "another thread has been writing to \"\(name)\" for longer than \(timeout); try again later"
      case .beingDeleted(let name, let timeout):
        "another thread has been deleting \(quoted(name)) for longer than \(timeout); try again later"
      case .inUse(let name, let timeout):
        "files of \(quoted(name)) have been opened or closed for longer than \(timeout); try again later"
      case .indexesBusy(let directory):
        "another process is changing the indexes in \(directory); try again later"
      case .readersPreventRepair(let name):
        "the checksums of \(quoted(name)) can't be written while an earlier state is read; try again later"
      case .timedOut: "the operation did not finish before its deadline; allow more time"
      case .suspended(let what): "\(what) is suspended; call resume() of it, and try again"
      case .endedBySuspension(let what):
        "\(what) ended when the datastore was suspended; begin it again after resume()"
      case .userChanged(let name):
        "\(quoted(name)) has another user since this began; begin again: changes from 0, a replication with the credentials of the user"
      case .transactionEnded(let path):
        "SQLite ended the write to \(path) after an earlier error in it; try again"
      case .noThread(let error):
        "can't start a thread: \(error); reduce the number of threads in the process and try again"

      case .invalidID(""): "a document id can't be empty; omit it to have one generated"
      case .invalidID(let id):
        "the id \(quoted(id)) begins with an underscore, which is reserved for _design/…; choose another"
      case .noSuchDocument(let id): "there is no document \(quoted(id)); check the id, or create it"
      case .documentDeleted(let id): "document \(quoted(id)) is deleted; create it again to reuse the id"
      case .documentExists(let id):
        "document \(quoted(id)) already exists; update its current revision instead"
      case .unreadableDocument(let id, let reason): "document \(quoted(id)) can't be read: \(reason)"
      case .documentTooLarge(let id, let size, let limit):
        "document \(quoted(id)) has \(size) bytes, but SQLite can't store more than \(limit); split it, or save a part as an attachment"
      case .missingBody: "the revision has no body; set one before saving, {} for an empty body"
      case .reservedKey(let key, _):
        "the key \(quoted(key)) begins with an underscore, which is reserved; rename the key"
      case .notANumber:
        "the body has a number that is infinite or NaN, which JSON can't represent; use null or a string"
      case .bodyTooDeep:
        "the body is nested deeper than \(JSONParsingOptions().maximumDepth) levels; flatten it"
      case .projected(let id):
        "this revision of document \(quoted(id)) has only some of its fields; fetch the document first"
      case .nothingToDecode: "the revision has no body to decode; set one, or read the document first"
      case .undecodable(let id, let type, let error):
        "document \(quoted(id)) can't be decoded as \(type): \((error as? DecodingError)?.text ?? "\(error)"); "
          + remedy(of: error)
      case .otherID(let id, let type, let key):
        "document \(quoted(id)) can't be decoded as \(type): its id is not one that \(key) writes; select only the documents of the "
          + "type, or give it ids of another type"
      case .modelInside(let type, let path, let id):
        "the property \(quoted(path.text)) of document \(quoted(id)) is a model inside a model, "
          + "a copy that is never updated; store a Reference<\(type)>, or for a copy a Codable type that is not a DocumentModel"
      case .unsaved(let id):
        "the model of document \(quoted(id)) has no revision; delete a model that was read or saved"
      case .unknownSequence(let sequence, let last, let name):
        "the last sequence of \(quoted(name)) is \(last), so it can't list changes since \(sequence); the store was probably "
          + "recreated or restored, so start again from 0"

      case .noSuchRevision(let revision, let id):
        "revision \(revision) of document \(quoted(id)) is not in the store; read the current revision"
      case .revisionDeleted(let revision, let id):
        "revision \(revision) of document \(quoted(id)) is already deleted; name a revision that is not deleted"
      case .notALeaf(let revision, let id):
        "revision \(revision) of document \(quoted(id)) is not a leaf; read the document again and repeat the change"
      case .noRevisionID(let text, let id):
        "\(quoted(text)) is not a revision id; use the id of a revision of document \(quoted(id))"
      case .otherDocument(let found, let id):
        "the change of document \(quoted(id)) returned a revision of document \(quoted(found)); return a revision of the document "
          + "being changed"
      case .historyOfOther(let revision, let first, let id):
        "the history of revision \(revision) of document \(quoted(id)) begins with \(first?.description ?? "nothing"); list the "
          + "revision itself first"
      case .generationGap(let child, let parent, let id):
        "in the history of document \(quoted(id)) \(parent) follows \(child); list every generation, newest first"
      case .generationTooHigh(let parent):
        "revision \(parent) has the highest possible generation; copy the document to a new id"
      case .notAmongLeaves(let decision, let id):
        "the resolver returned \(decision.revisionID), which is not a leaf of document \(quoted(id)); return one of the revisions "
          + "passed to it, changed or not"

      case .attachmentWithoutName: "an attachment has an empty name; name it"
      case .attachmentUnderOtherName(let key, let name, _):
        "the attachment named \(quoted(name)) is stored under the key \(quoted(key)); use its name as the key"
      case .inlineAttachmentsNoObject:
        "_attachments must be an object that maps names to attachments; correct it, or leave it out"
      case .inlineAttachment(let name, let what): "the attachment \(quoted(name)) \(what)"
      case .missingSource(let path, let name, let reason):
        "the file \(quoted(path)) of attachment \(quoted(name)) can't be read: \(reason); check its path and permissions"
      case .sourceNotRegular(let path, let name):
        "the file \(quoted(path)) of attachment \(quoted(name)) is not a regular file; copy it to one, or attach its content as data"
      case .sourcePathWithNUL(let path, let name):
        "the path \(quoted(path)) of attachment \(quoted(name)) contains a NUL character; remove it"
      case .missingAttachment(let name, let path):
        "the content of attachment \(quoted(name)) is missing at \(path); read the document again, or restore the file from a backup"
      case .damagedAttachment(let name, let path):
        "the content of attachment \(quoted(name)) at \(path) differs from what was saved; restore it from a backup, or save the "
          + "attachment again"

      case .importedText(let error): error.message
      case .importedID: "_id must be a string; quote it, or leave it out and name another field with --id"
      case .importedKey(let key, _):
        "the key \(quoted(key)) begins with an underscore, which is reserved; add --reserved rename to import it as \(quoted("x" + key)), or --reserved drop to leave it out"
      case .importedRevision(let value):
        "_rev must be a revision id, not \(value.text); leave it out, or add --force to ignore it"
      case .compressedFile(let name, let isTruncated):
        "\(name) is \(isTruncated ? "an incomplete" : "a damaged") gzip file; download it again"
      case .decompressedFile(let name, let limit):
        "\(name) has more than \(limit) bytes when it is decompressed, the most of one import; split it"
      case .valueTooLong(let name, let line, let limit):
        "\(name):\(line): the value that begins here is larger than \(limit) bytes, the most that it can have; check the format of the file"
      }
    }
  }

  private static func remedy(of error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound:
      "add it to the document, make the property optional, or give its type a default with HasDefaults"
    case DecodingError.valueNotFound: "correct the document, or make the property optional"
    default:
      "correct the document, or accept the value in the init(from:) of its type, as docs/models.md#values-that-a-type-does-not-know shows"
    }
  }

  private static let recovery = "restore it from a backup, or save what can be read with \"cdtquery recover\""

  private static let protection =
    "if files are protected while the device is locked, try again when the device is unlocked"

  package init(_ fault: Fault) {
    self.init(fault.code, documentID: fault.documentID, fault.message)
  }

  /// The error of a failed system call.
  package init(_ error: SystemError, _ action: String, _ path: String) {
    if error.isFull {
      self.init(.full, "can't \(action) \(path): the disk is full; free some space")
    } else if error.isProtected {
      self.init(.protected, "can't \(action) \(path): \(error); \(Self.protection)")
    } else {
      self.init(.io, "can't \(action) \(path): \(error); check the path and its permissions")
    }
  }

  /// The error of a failed SQLite call.
  ///
  /// If the disk or the quota is full, a write is rolled back and throws `.full`; a later, smaller one may succeed.
  /// Attachments that do not fit are removed before anything refers to them. The documents of a write are saved even
  /// if the index rows no longer fit: queries then match the missing documents one by one, and the next write, or
  /// opening the datastore, updates the indexes. Reads continue to work.
  package init(_ error: SQLiteError, path: String? = nil) {
    let place = path ?? "the store"
    if error.isSuspended {
      self.init(.suspended(error.message))
    } else if error.isProtected {
      self.init(.protected, "\(place) can't be read or written: \(error.message); \(Self.protection)")
    } else if error.isBusy {
      self.init(.busy, "another process is writing to \(place); try again later")
    } else if error.isFull {
      self.init(.full, "the disk is full: nothing was saved in \(place); free some space and try again")
    } else if error.isCorrupt || error.isMissingTable {
      self.init(.corrupt, "\(place) is damaged: \(error.message); \(Self.recovery)")
    } else if error.isOldLibrary {
      self.init(.oldSQLite, "\(error.message); install a newer libsqlite3")
    } else if error.isUnusableLibrary {
      self.init(.oldSQLite, "\(error.message); use an SQLite that was built without it")
    } else if error.lacksSharedMemory {
      self.init(.io, "\(place) can't be used: \(error.message); move it to a local disk")
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
    codingPath.isEmpty ? debugDescription : "\(codingPath.text): \(debugDescription)"
  }
}

extension [any CodingKey] {
  /// The path, as in `items[2].price`.
  fileprivate var text: String {
    reduce(into: "") { path, key in
      path += key.intValue.map { "[\($0)]" } ?? (path.isEmpty ? key.stringValue : ".\(key.stringValue)")
    }
  }
}
