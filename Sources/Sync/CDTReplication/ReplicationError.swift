/// A reason why a replication ended, or a request to a server failed.
///
/// See <doc:ReplicatingStores#Errors>.
public struct ReplicationError: Error, Sendable, Hashable {
  /// A kind of error.
  public struct Code: Sendable, Hashable {
    private enum Kind {
      case unreachable, untrusted, unauthorized, forbidden, notFound, refused, invalidReply, invalidRequest
    }
    private let kind: Kind

    /// The server can't be reached, or is overloaded, also after all attempts.
    public static let unreachable = Code(kind: .unreachable)
    /// The certificate of the server or of the client is not accepted, or the server does not speak TLS.
    public static let untrusted = Code(kind: .untrusted)
    /// The server does not accept the credentials, or needs some.
    public static let unauthorized = Code(kind: .unauthorized)
    /// The server does not allow the user to do this.
    public static let forbidden = Code(kind: .forbidden)
    /// The database does not exist.
    public static let notFound = Code(kind: .notFound)
    /// The server answers with an error that a repetition would not change.
    public static let refused = Code(kind: .refused)
    /// The answer is not what CouchDB's protocol asks for.
    public static let invalidReply = Code(kind: .invalidReply)
    /// The replication can't run as it was described: the URL, the filter or the combination of options.
    public static let invalidRequest = Code(kind: .invalidRequest)
  }

  /// The kind of error.
  public let code: Code
  /// The reason and the remedy, for people, without credentials.
  public let message: String
  /// The HTTP status that the server sent, if it did.
  public let status: Int?
  /// Whether the same request may succeed later.
  package let isTransient: Bool
  /// The pause that the server asks for.
  package let pause: Duration?
  /// Whether the server sent nothing for as long as ``RemoteDatabase/timeout``.
  package let isSilence: Bool
  /// Whether the server's reply has more bytes than were expected.
  package let isTooLong: Bool

  package init(
    _ code: Code, _ message: String, status: Int? = nil, isTransient: Bool = false, pause: Duration? = nil,
    isSilence: Bool = false, isTooLong: Bool = false
  ) {
    self.code = code
    self.message = message
    self.status = status
    self.isTransient = isTransient
    self.pause = pause
    self.isSilence = isSilence
    self.isTooLong = isTooLong
  }
}

extension ReplicationError {
  /// Whether the server answers that it does not do this, and would not later either.
  var isRefusal: Bool { !isTransient && status.map { $0 >= 400 } == true }
}

extension ReplicationError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
