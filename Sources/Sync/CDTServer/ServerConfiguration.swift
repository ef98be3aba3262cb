public import NIOSSL

/// The settings of a ``DatastoreServer``.
///
/// ```swift
/// var configuration = ServerConfiguration()
/// configuration.port = 5984
/// configuration.limits.documentLength = 1_000_000
/// ```
///
/// See <doc:ServingStores#Settings>.
public struct ServerConfiguration: Sendable {
  /// The address to listen at: an IP address or a host name.
  public var host = "127.0.0.1"
  /// The port; 0 for any that is free.
  public var port = 5984
  /// The certificate chain and the private key; `nil` for plain HTTP. Protocols before TLS 1.2 are refused, whatever is set here.
  public var tls: TLSConfiguration?
  /// The file of the users, which `cdtquery user` writes; `nil` lets every client do everything.
  public var usersFile: String?
  /// The key of session cookies, 32 random bytes or more. Servers that share it accept each other's sessions; `nil` makes
  /// one for this run.
  public var secret: [UInt8]?
  /// The names under which clients reach the server, besides its addresses and the names of loopback.
  public var hostNames: Set<String> = []
  /// The origins whose pages may use the server from a browser; `*` for all.
  public var origins: Set<String> = []
  /// Whether requests without a valid user are refused. Logging in, the server's page and `/_up` need none.
  public var requiresUser = false
  /// The file in which settings that server admins change by request are kept, such as ``origins``; without one they can't
  /// change any. It is made by the first change. A setting that differs from the defaults comes before that of the file.
  public var settingsFile: String?
  /// Whether to serve addresses other than loopback without users or without TLS.
  public var isInsecure = false
  /// Whether every request that would change something is refused.
  public var isReadOnly = false
  /// The interval at which the server checks whether an open database has more bytes free or of no use than not, and then compacts it;
  /// `nil` for never.
  public var compactionInterval: Duration? = .seconds(600)
  /// The time that requests may go on when the server has been asked to end. After that their connections are closed.
  public var grace = Duration.seconds(10)
  /// Whether design documents are refused that have something which is never used, such as JavaScript functions. Otherwise
  /// they are stored, and the reply has a warning.
  public var isStrictAboutDesign = false
  /// The time from which on a query is logged with its plan, at the level `notice`; `nil` for none.
  public var slowQuery: Duration?
  /// The hosts that the replications which admins ask for may connect to, such as `couch.example.org` or `10.0.0.2:5984`, also by
  /// a redirect; `nil` for all. They are compared as they are written, before a name is resolved.
  public var replicationHosts: Set<String>?
  /// The number of bytes that must be free on the disk for `/_up` to say that the server is up.
  public var minimumFreeBytes: Int64 = 64_000_000
  /// The limits on what a client may use of the server.
  public var limits = Limits()
  /// The token that the address of the page has, without which nobody may use the server; `nil` for none. It is used once; see
  /// `AddressToken`.
  package var addressToken: String?
  /// The clocks, which tests replace.
  package var clock = ServerClock.system

  /// Whether pages of the ``origins`` may use the server at all.
  package var allowsOrigins = true
  /// Whether browsers may send cookies and the `Authorization` header for pages of the ``origins``.
  package var allowsCredentials = true
  /// The header `WWW-Authenticate` of replies with the status 401; none if it is empty.
  package var authenticationChallenge = ""
  /// The clients for which the defaults are.
  public let profile: Profile?

  /// Creates the default settings: loopback, port 5984, no users.
  public init(profile: Profile? = nil) {
    self.profile = profile
    guard profile == .livesync else { return }
    origins = ["app://obsidian.md", "capacitor://localhost", "http://localhost"]
    requiresUser = true
    authenticationChallenge = #"Basic realm="couchdb""#
    limits.documentLength = 50_000_000
    limits.requestLength = 1 << 32
  }

  /// Defaults for clients that need other ones.
  public enum Profile: String, Sendable, CaseIterable {
    /// Self-hosted LiveSync, which syncs the notes of Obsidian: its origins, larger documents, and only users.
    case livesync
  }

  /// Bounds on what one client can make the server do.
  public struct Limits: Sendable, Hashable {
    /// The length of a document's JSON in bytes, without attachments.
    public var documentLength = 8_000_000
    /// The length of a request that is not one document, such as `_bulk_docs`, in bytes.
    public var requestLength = 64 * 1024 * 1024
    /// The length of an attachment in bytes.
    public var attachmentLength: Int64 = 1 << 30
    /// The length of all header fields of a request in bytes.
    public var headerLength = 16 * 1024
    /// The length of a request's path and query in bytes.
    public var pathLength = 8_000
    /// The number of open connections, at most half of the files that the process can have open.
    public var connections = 10_000
    /// The number of datastores that stay open while no request uses them; `nil` for all that were asked for.
    ///
    /// With a number, the server closes the one that was used longest ago when it opens another database. Set it only if your
    /// app uses no datastore of the manager itself, as it would be closed under it.
    public var openDatastores: Int?
    /// The number of replications that run at the same time, by `_replicate` and the documents of `_replicator`. One may take 64
    /// MB of memory while it transfers much.
    public var replications = 100
    /// The time that a connection may be idle, or a request may make no progress.
    public var idleTime = Duration.seconds(60)
    /// The time that a query may take, with the time that it waits for its turn.
    public var queryTime = Duration.seconds(60)

    /// Creates the default limits.
    public init() {}
  }
}
