/// Something in a datastore that is not as it should be.
public struct IntegrityFinding: Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public enum Kind: String, Sendable, Hashable {
    /// SQLite finds its file damaged.
    case database
    /// A tree of revisions does not hold together.
    case tree
    /// A body is not the JSON object it should be.
    case body
    /// An attachment's content is missing or is not what was saved.
    case attachment
    /// An index disagrees with the documents.
    case index
  }

  /// What is wrong.
  public let kind: Kind
  /// The document concerned, if there is one.
  public let documentID: String?
  /// What was found, for people.
  public let message: String

  package init(_ kind: Kind, documentID: String? = nil, _ message: String) {
    self.kind = kind
    self.documentID = documentID
    self.message = message
  }

  /// `tree: document "a": the winner 1-a is not a leaf`
  public var description: String {
    let place = documentID.map { "document \(DatastoreError.quoted($0)): " } ?? ""
    return "\(kind.rawValue): \(place)\(message)"
  }
}
