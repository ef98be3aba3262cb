/// An error of a manager or a datastore.
///
/// After an error the store is unchanged. See <doc:WorkingWithDocuments#Errors>.
public struct DatastoreError: Error, Hashable, Sendable {
  /// The kind of error, for programs. New codes may be added.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name.
    public let description: String

    package init(_ name: String) { description = name }

    /// A datastore name does not match `^[a-zA-Z]+[a-zA-Z0-9_]*$`, or is too long.
    public static let invalidName = Code("invalidName")
    /// A document id is empty or begins with an underscore.
    public static let invalidID = Code("invalidID")
    /// A revision id is invalid, or a revision can't be saved.
    public static let invalidRevision = Code("invalidRevision")
    /// A body has a number that JSON can't represent, or is nested too deeply.
    public static let invalidBody = Code("invalidBody")
    /// A revision has no body.
    public static let missingBody = Code("missingBody")
    /// A document does not have the members of the type that it is decoded as.
    public static let undecodable = Code("undecodable")
    /// A body has a key that begins with an underscore.
    public static let reservedKey = Code("reservedKey")
    /// The datastore, document or revision does not exist.
    public static let notFound = Code("notFound")
    /// The document already exists, or the revision is not a current leaf.
    public static let conflict = Code("conflict")
    /// The datastore was closed or deleted.
    public static let closed = Code("closed")
    /// A write, close or delete of a datastore was attempted inside a write to it.
    public static let nestedWrite = Code("nestedWrite")
    /// Another process or another thread used the store for longer than the busy timeout.
    public static let busy = Code("busy")
    /// The disk is full.
    public static let full = Code("full")
    /// A file of the store is damaged.
    public static let corrupt = Code("corrupt")
    /// The datastore is encrypted and its key is missing or wrong, or a key is given for one that is not encrypted.
    public static let wrongKey = Code("wrongKey")
    /// The store was written by a later version of this package.
    public static let newerFormat = Code("newerFormat")
    /// The system failed to read or write a file.
    public static let io = Code("io")
    /// An attachment's key differs from its name, or its source can't be read.
    public static let invalidAttachment = Code("invalidAttachment")
    /// A resolver returned a revision that is not a leaf.
    public static let invalidResolution = Code("invalidResolution")
    /// The data to import is invalid.
    public static let invalidImport = Code("invalidImport")
    /// The system's SQLite is older than 3.40, or was built without something that datastores need.
    public static let oldSQLite = Code("oldSQLite")
    /// A read was interrupted.
    public static let interrupted = Code("interrupted")
    /// An asynchronous operation did not finish before its deadline.
    public static let timedOut = Code("timedOut")
    /// The datastore is suspended, or was while the operation ran.
    public static let suspended = Code("suspended")
    /// The system does not permit the use of a file, as while a device is locked.
    public static let protected = Code("protected")
    /// A sequence is greater than the datastore's last one.
    public static let unknownSequence = Code("unknownSequence")
    /// The manager has another user than when the operation began.
    ///
    /// ```swift
    /// do {
    ///   for try await changes in store.liveChanges() { print(changes.documents.map(\.id)) }
    /// } catch let error as DatastoreError where error.code == .userChanged {
    ///   print("another user has logged in: begin again")
    /// }
    /// ```
    public static let userChanged = Code("userChanged")
  }

  /// The kind of error, for programs.
  public let code: Code

  /// The document concerned, if there is one.
  public let documentID: String?

  /// The message: the problem, then the remedy.
  public let message: String

  package init(_ code: Code, documentID: String? = nil, _ message: String) {
    self.code = code
    self.documentID = documentID
    self.message = message.boundedMessage
  }

  /// The HTTP status that CouchDB and CDTDatastore use for the same error: 400, 404, 409, 500, 503 or 507.
  public var status: Int {
    switch code {
    case .invalidName, .invalidID, .invalidRevision, .invalidBody, .missingBody, .reservedKey, .invalidImport,
      .invalidAttachment, .invalidResolution, .unknownSequence:
      400
    case .notFound: 404
    case .conflict: 409
    case .suspended, .protected: 503
    case .full: 507
    default: 500
    }
  }

  /// Whether it says, when the content of an attachment is read, that the content is missing or damaged.
  package var isLostContent: Bool { [.notFound, .corrupt].contains(code) }
}

extension DatastoreError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
