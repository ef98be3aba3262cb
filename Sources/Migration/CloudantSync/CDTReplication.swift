#if Replication
  public import CDTDatastore
  public import CDTPlatform
  import CDTReplication

  /// The common part of CDTDatastore's descriptions of a replication.
  @available(*, deprecated, message: "use Replication")
  public class CDTAbstractReplication {
    /// The name of the user at the server.
    public var username: String?
    /// The user's password.
    public var password: String?
    /// An API key of IBM Cloud, instead of a name and a password.
    public var IAMAPIKey: String?
    /// Header fields of each request.
    public var optionalHeaders: [String: String]?
    /// The interceptors, each of which sees and changes each request.
    public private(set) var httpInterceptors: [any CDTHTTPInterceptor] = []

    fileprivate init() {}

    /// Takes the credentials out of a URL.
    fileprivate func stripped(_ url: URL) -> URL {
      guard url.user != nil || url.password != nil,
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
      else { return url }
      if let user = parts.user { (username, password) = (user, parts.password) }
      (parts.user, parts.password) = (nil, nil)
      return parts.url ?? url
    }

    /// Adds an interceptor.
    public func addInterceptor(_ interceptor: any CDTHTTPInterceptor) {
      httpInterceptors.append(interceptor)
    }

    /// Adds interceptors.
    public func addInterceptors(_ interceptors: [any CDTHTTPInterceptor]) {
      httpInterceptors += interceptors
    }

    /// The direction, the store and the URL; `nil` without one of the two ends.
    func ends() -> (direction: Replication.Direction, store: Datastore, url: URL)? { nil }

    func replicationFilter() -> ReplicationFilter? { nil }

    /// The replication in this package's terms.
    ///
    /// - Throws: `ReplicationError` with the code `.invalidRequest`.
    func replication() throws(ReplicationError) -> (Replication, Datastore) {
      guard let (direction, store, url) = ends() else {
        throw ReplicationError(.invalidRequest, "a replication needs a source and a target")
      }
      var database = try RemoteDatabase(url.absoluteString)
      if let username { database.credentials = .session(username, password ?? "") }
      if let IAMAPIKey { database.credentials = .iam(apiKey: IAMAPIKey) }
      for interceptor in httpInterceptors {
        if let credentials = interceptor.credentials { database.credentials = credentials }
        database.interceptors.append(HTTPInterceptor(interceptor))
      }
      if let optionalHeaders {
        let added = optionalHeaders.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        database.interceptors.append(HTTPInterceptor { $0.headers += added })
      }
      return (Replication(direction, with: database, filter: replicationFilter()), store)
    }
  }

  /// CDTDatastore's description of a pull.
  @available(*, deprecated, message: "use Replication(.pull, with: database)")
  public final class CDTPullReplication: CDTAbstractReplication {
    /// The URL of the database to pull from. A name and a password in it become ``CDTAbstractReplication/username`` and
    /// ``CDTAbstractReplication/password``.
    public var source: URL? {
      didSet { if let new = source { source = stripped(new) } }
    }
    /// The store that receives.
    public var target: Datastore?
    /// The name of a filter function at the server, such as `tasks/open`.
    public var filter: String?
    /// The parameters of the filter function.
    public var filterParams: [String: String]?

    /// Creates a description.
    public init(source: URL, target: Datastore) {
      self.target = target
      super.init()
      self.source = stripped(source)
    }

    /// Creates a description with credentials.
    public convenience init(source: URL, target: Datastore, username: String, password: String) {
      self.init(source: source, target: target)
      (self.username, self.password) = (username, password)
    }

    /// Creates a description with an API key.
    public convenience init(source: URL, target: Datastore, IAMAPIKey: String) {
      self.init(source: source, target: target)
      self.IAMAPIKey = IAMAPIKey
    }

    override func ends() -> (direction: Replication.Direction, store: Datastore, url: URL)? {
      guard let source, let target else { return nil }
      return (.pull, target, source)
    }

    override func replicationFilter() -> ReplicationFilter? {
      filter.map { .designDocument($0, parameters: filterParams ?? [:]) }
    }
  }

  /// CDTDatastore's description of a push.
  @available(*, deprecated, message: "use Replication(.push, with: database)")
  public final class CDTPushReplication: CDTAbstractReplication {
    /// Decides whether a revision is pushed.
    public typealias Filter =
      @Sendable (_ revision: CDTDocumentRevision, _ parameters: [String: String]) -> Bool

    /// The store to push from.
    public var source: Datastore?
    /// The URL of the database that receives. A name and a password in it become ``CDTAbstractReplication/username`` and
    /// ``CDTAbstractReplication/password``.
    public var target: URL? {
      didSet { if let new = target { target = stripped(new) } }
    }
    /// Decides which revisions are pushed.
    public var filter: Filter?
    /// The parameters that the filter gets besides a revision. A change of the parameters starts the replication from the beginning.
    public var filterParams: [String: String]?

    /// Creates a description.
    public init(source: Datastore, target: URL) {
      self.source = source
      super.init()
      self.target = stripped(target)
    }

    /// Creates a description with credentials.
    public convenience init(source: Datastore, target: URL, username: String, password: String) {
      self.init(source: source, target: target)
      (self.username, self.password) = (username, password)
    }

    /// Creates a description with an API key.
    public convenience init(source: Datastore, target: URL, IAMAPIKey: String) {
      self.init(source: source, target: target)
      self.IAMAPIKey = IAMAPIKey
    }

    override func ends() -> (direction: Replication.Direction, store: Datastore, url: URL)? {
      guard let source, let target else { return nil }
      return (.push, source, target)
    }

    override func replicationFilter() -> ReplicationFilter? {
      guard let filter else { return nil }
      let parameters = filterParams ?? [:]
      let name = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
      return .closure(named: "CDTPushReplication?\(name)") { filter(CDTDocumentRevision($0), parameters) }
    }
  }

  @available(*, deprecated, message: "use Replication")
  extension CDTAbstractReplication: SecretHolder {}
#endif
