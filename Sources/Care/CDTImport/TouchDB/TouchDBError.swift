import CDTDatastore
import CDTJSON
import CDTPlatform

/// An error in a CDTDatastore 2.x file that can't be imported, in whole or in part.
///
/// The file is unchanged. Documents imported before the error are kept; importing again continues from there.
public struct TouchDBError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of error, for programs. New codes may be added.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name.
    public let description: String

    package init(_ name: String) { description = name }

    /// The file does not exist or can't be read.
    public static let unreadable = Code("unreadable")
    /// The file is encrypted.
    public static let encrypted = Code("encrypted")
    /// The file is not one of CDTDatastore 2.x.
    public static let foreign = Code("foreign")
    /// The file has an unsupported version.
    public static let unsupportedVersion = Code("unsupportedVersion")
    /// The file is damaged.
    public static let damaged = Code("damaged")
    /// The file changed during the import.
    public static let changed = Code("changed")
    /// A document has an invalid id, revision or body.
    public static let invalidDocument = Code("invalidDocument")
    /// The content of an attachment is missing or differs from what was saved.
    public static let invalidAttachment = Code("invalidAttachment")
  }

  /// The kind of error, for programs.
  public let code: Code

  /// The file.
  public let path: String

  /// The document concerned, if there is one.
  public let documentID: String?

  /// The message: the problem, then the remedy.
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
