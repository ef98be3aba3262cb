/// A problem in a datastore.
public struct IntegrityFinding: Sendable, Hashable, CustomStringConvertible {
  /// The kind of problem.
  public enum Kind: String, Sendable, Hashable {
    /// SQLite reports that its file is damaged.
    case database
    /// Pages have no checksums, since another program has copied them from the write-ahead log. Their content is right.
    case checksum
    /// A revision tree is inconsistent.
    case tree
    /// A body is not a valid JSON object.
    case body
    /// An attachment's content is missing or differs from what was saved.
    case attachment
    /// An index disagrees with the documents.
    case index
    /// A design document has members that are never used. This is not damage.
    case design
    /// Documents have the same key in a unique index. This is not damage.
    case unique
    /// Documents never expire by an index, as they have no dates. This is not damage.
    case expiry
    /// The rules of the datastore refuse the document as it is. This is not damage.
    case rule
  }

  /// The kind of problem.
  public let kind: Kind
  /// The document concerned, if there is one.
  public let documentID: String?
  /// A description of the problem, for people.
  public let message: String

  package init(_ kind: Kind, documentID: String? = nil, _ message: String) {
    self.kind = kind
    self.documentID = documentID
    self.message = message
  }

  /// The finding as text, such as `tree: document "a": the winner 1-a is not a leaf`.
  public var description: String {
    let place = documentID.map { "document \(DatastoreError.quoted($0)): " } ?? ""
    return "\(kind.rawValue): \(place)\(message)"
  }
}
