/// Something that a manager or a datastore refused, or that failed.
///
/// After any error the store is as it was before. Source: `docs/crud.md`, Errors.
public struct DatastoreError: Error, Hashable, Sendable {
  /// What went wrong, for programs; codes may be added.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Name: String {
      case invalidName, invalidID, invalidRevision, invalidBody, missingBody, reservedKey, notFound, conflict,
        closed,
        nestedWrite, busy, full, corrupt, newerFormat, io, invalidImport, invalidAttachment,
        invalidResolution,
        oldSQLite, interrupted
    }
    private let name: Name

    private init(_ name: Name) {
      self.name = name
    }

    /// The code's name.
    public var description: String { name.rawValue }

    /// A datastore's name that does not match `^[a-zA-Z]+[a-zA-Z0-9_]*$`, or is too long.
    public static let invalidName = Code(.invalidName)
    /// A document id that is empty or begins with an underscore.
    public static let invalidID = Code(.invalidID)
    /// A revision id that is none, or a revision that can't be saved.
    public static let invalidRevision = Code(.invalidRevision)
    /// A body with a number that JSON can't hold, or nested too deeply.
    public static let invalidBody = Code(.invalidBody)
    /// A revision without a body.
    public static let missingBody = Code(.missingBody)
    /// A body with a key that begins with an underscore.
    public static let reservedKey = Code(.reservedKey)
    /// No such datastore, document or revision.
    public static let notFound = Code(.notFound)
    /// The document is there already, or the revision is no current leaf of it.
    public static let conflict = Code(.conflict)
    /// The datastore was closed or deleted.
    public static let closed = Code(.closed)
    /// A write within a write.
    public static let nestedWrite = Code(.nestedWrite)
    /// Another process or another thread held the store for longer than the busy timeout.
    public static let busy = Code(.busy)
    /// The disk is full.
    public static let full = Code(.full)
    /// A file of the store is damaged.
    public static let corrupt = Code(.corrupt)
    /// The store was written by a later version.
    public static let newerFormat = Code(.newerFormat)
    /// The system refused to read or write a file.
    public static let io = Code(.io)
    /// An attachment under another name than its own, or whose source can't be read.
    public static let invalidAttachment = Code(.invalidAttachment)
    /// A resolver gave a revision that is none of the leaves.
    public static let invalidResolution = Code(.invalidResolution)
    /// Data to import that can't be read.
    public static let invalidImport = Code(.invalidImport)
    /// The system's SQLite is older than 3.40.
    public static let oldSQLite = Code(.oldSQLite)
    /// A read that was interrupted.
    public static let interrupted = Code(.interrupted)
  }

  /// What went wrong, for programs.
  public let code: Code

  /// The document concerned, if there is one.
  public let documentID: String?

  /// What went wrong and what to do about it, for people.
  public let message: String

  package init(_ code: Code, documentID: String? = nil, _ message: String) {
    self.code = code
    self.documentID = documentID
    self.message = message
  }

  /// The HTTP status by which CouchDB, and CDTDatastore, report the same: 400, 404, 409, 500 or 507.
  public var status: Int {
    switch code {
    case .invalidName, .invalidID, .invalidRevision, .invalidBody, .missingBody, .reservedKey, .invalidImport,
      .invalidAttachment, .invalidResolution:
      400
    case .notFound: 404
    case .conflict: 409
    case .full: 507
    default: 500
    }
  }
}

extension DatastoreError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
