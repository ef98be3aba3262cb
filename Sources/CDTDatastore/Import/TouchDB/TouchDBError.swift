/// Why a file of CDTDatastore 2.x, or something in it, can't be imported.
///
/// The file is as it was. Of the datastore, what was imported before stays; importing again goes on from there.
public struct TouchDBError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What went wrong, for programs; codes may be added.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Name: String {
      case unreadable, encrypted, foreign, unsupportedVersion, damaged, changed, invalidDocument,
        invalidAttachment
    }
    private let name: Name

    private init(_ name: Name) {
      self.name = name
    }

    /// The code's name.
    public var description: String { name.rawValue }

    /// There is no such file, or the system refuses to read it.
    public static let unreadable = Code(.unreadable)
    /// The file is encrypted.
    public static let encrypted = Code(.encrypted)
    /// The file is none of CDTDatastore 2.x.
    public static let foreign = Code(.foreign)
    /// The file is of a version that is not known.
    public static let unsupportedVersion = Code(.unsupportedVersion)
    /// SQLite finds the file damaged.
    public static let damaged = Code(.damaged)
    /// Somebody wrote to the file while it was read.
    public static let changed = Code(.changed)
    /// A document has an id, a revision or a body that can't be taken.
    public static let invalidDocument = Code(.invalidDocument)
    /// The content of an attachment is missing, or is not what was saved.
    public static let invalidAttachment = Code(.invalidAttachment)
  }

  /// What went wrong, for programs.
  public let code: Code

  /// The file.
  public let path: String

  /// The document concerned, if there is one.
  public let documentID: String?

  /// What went wrong and what to do about it, for people.
  public let message: String

  init(_ code: Code, _ path: String, documentID: String? = nil, _ message: String) {
    self.code = code
    self.path = path
    self.documentID = documentID
    self.message = message
  }

  /// The file, the document and the message.
  public var description: String {
    let place = documentID.map { "document \(DatastoreError.quoted($0)): " } ?? ""
    return "\(path): \(place)\(message)"
  }
}
