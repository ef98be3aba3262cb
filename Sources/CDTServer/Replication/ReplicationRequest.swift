#if Replication
  import CDTDigest
  import CDTJSON
  import CDTPlatform
  import CDTReplication
  import CouchDB
  import HTTPTypes

  /// A replication that a client describes: the body of `_replicate`, or a document of `_replicator`.
  struct ReplicationRequest: Sendable {
    /// A database of this server, by its name, or one at another server.
    enum End: Sendable {
      case database(String)
      case remote(RemoteDatabase)

      /// The name, or the URL without credentials.
      var shownName: String {
        switch self {
        case .database(let name): name
        case .remote(let database): database.url
        }
      }
    }

    let source: End
    let target: End
    let isContinuous: Bool
    let createsTarget: Bool
    let filter: ReplicationFilter?
    /// The number of requests at a time, and of changes between two checkpoints; `nil` for the default.
    private let requests, batchSize: Int?

    /// The members of which a replication has at most one.
    private static let filters = ["doc_ids", "selector", "filter"]
    /// Members that change which revisions travel, or the way to them, and that have no meaning here.
    private static let unsupported = [
      "since_seq", "winning_revs_only", "proxy", "source_proxy", "target_proxy",
    ]

    /// Reads a description. Members that are not known are ignored, as at CouchDB.
    ///
    /// - Parameter hosts: The hosts that may be connected to; `nil` for all.
    /// - Throws: `CouchError`: 400 if it is malformed, 403 for another host, and 501 for what is not supported.
    init(_ json: JSONObject, hosts: ReplicationHosts?) throws(CouchError) {
      for name in Self.unsupported where ![nil, .null, false].contains(json[name]) {
        throw .unsupported("`\(name)`", instead: "a replication without it")
      }
      source = try Self.end("source", json, hosts)
      target = try Self.end("target", json, hosts)
      if case (.remote, .remote) = (source, target) {
        throw .unsupported(
          "A replication between two other servers", instead: "the one that has one of the databases")
      }
      isContinuous = try Self.flag("continuous", json)
      createsTarget = try Self.flag("create_target", json)
      filter = try Self.filter(json, of: source)
      requests = json["http_connections"]?.intValue.map { min(max(1, $0), 20) }
      batchSize = json["worker_batch_size"]?.intValue.map { min(max(1, $0), 10_000) }
    }

    private static func flag(_ name: String, _ json: JSONObject) throws(CouchError) -> Bool {
      switch json[name] ?? false {
      case .bool(let flag): return flag
      case .string("true"): return true
      case .null, .string("false"): return false
      default: throw .badRequest("`\(name)` must be a boolean.")
      }
    }

    // MARK: Ends

    private static func end(
      _ member: String, _ json: JSONObject, _ hosts: ReplicationHosts?
    ) throws(CouchError) -> End {
      let object = json[member]?.objectValue ?? [:]
      guard let text = json[member]?.stringValue ?? object["url"]?.stringValue else {
        throw .badRequest("`\(member)` must be the name or the URL of a database, or an object with a `url`.")
      }
      let start = text.prefix(8).lowercased()
      guard start.hasPrefix("http://") || start == "https://" else {
        guard !text.hasBytePrefix("_"), !text.contains("://") else {
          throw .badRequest("`\(member)` is neither a database of this server nor a URL with http or https.")
        }
        return .database(text)
      }
      do throws(ReplicationError) {
        var database = try RemoteDatabase(text, credentials: try credentials(object))
        if let seconds = json["connection_timeout"]?.intValue.map({ $0 / 1_000 }) {
          database.timeout = .seconds(min(max(1, seconds), 600))
        }
        let fields = try headers(object)
        if !fields.isEmpty {
          database.interceptors = [HTTPInterceptor { $0.headers += fields }]
        }
        if let hosts {
          database.permitsHost = { hosts.contain($0, port: $1) }
          guard database.isPermitted else {
            throw ReplicationError(.forbidden, "this server does not replicate with that host")
          }
        }
        return .remote(database)
      } catch {
        guard error.code == .forbidden else { throw .badRequest("`\(member)`: \(error.message)") }
        throw .forbidden("`\(member)`: \(error.message)")
      }
    }

    private static func credentials(_ end: JSONObject) throws(ReplicationError) -> Credentials? {
      if let basic = end["auth"]?["basic"] {
        guard let name = basic["username"]?.stringValue, let password = basic["password"]?.stringValue else {
          throw ReplicationError(.invalidRequest, "`auth.basic` needs a username and a password")
        }
        return .session(name, password)
      }
      if let key = end["auth"]?["iam"]?["api_key"]?.stringValue { return .iam(apiKey: key) }
      // As credentials they are left out of errors that the other server repeats them in.
      guard
        let value = (end["headers"]?.objectValue ?? [:]).first(where: { isAuthorization($0.key) })?.value
          .stringValue
      else { return nil }
      if let token = value.afterBytePrefix("Bearer ") { return .bearer(String(token)) }
      guard let basic = try? BasicCredentials.read(value) else {
        throw ReplicationError(.invalidRequest, "`headers.Authorization` must be Basic or Bearer")
      }
      return .basic(basic.name, basic.password)
    }

    private static func isAuthorization(_ name: String) -> Bool { name.lowercased() == "authorization" }

    private static func headers(_ end: JSONObject) throws(ReplicationError) -> [(name: String, value: String)]
    {
      var fields: [(name: String, value: String)] = []
      for (name, value) in end["headers"]?.objectValue ?? [:] where !isAuthorization(name) {
        guard let text = value.stringValue, HTTPField.Name(name) != nil, HTTPField.isValidValue(text) else {
          throw ReplicationError(.invalidRequest, "`headers` has a field that can't be sent")
        }
        fields.append((name, text))
      }
      return fields
    }

    // MARK: Filters

    private static func filter(_ json: JSONObject, of source: End) throws(CouchError) -> ReplicationFilter? {
      let given = filters.filter { ![nil, .null].contains(json[$0]) }
      guard given.count < 2 else {
        throw .badRequest("`doc_ids`, `selector`, `filter` are mutually exclusive")
      }
      switch given.first {
      case "doc_ids":
        let ids = (json["doc_ids"]?.arrayValue ?? [.null]).map(\.stringValue)
        guard !ids.contains(nil) else { throw .badRequest("`doc_ids` must be an array of strings.") }
        return .documentIDs(ids.compactMap(\.self))
      case "selector":
        guard let selector = json["selector"]?.objectValue else {
          throw .badRequest("`selector` must be a JSON object.")
        }
        return .selector(selector)
      case "filter":
        guard let name = json["filter"]?.stringValue else { throw .badRequest("`filter` must be a string.") }
        guard case .remote = source else {
          throw .unsupported("A filter function at this server", instead: "`selector`")
        }
        let parameters = json["query_params"]?.objectValue ?? [:]
        return .designDocument(
          name,
          parameters: Dictionary(
            parameters.map { ($0.key, $0.value.stringValue ?? $0.value.text) }, uniquingKeysWith: { $1 }))
      default: return nil
      }
    }

    // MARK: What it means

    /// Whether a database of this server is the source.
    var isPush: Bool {
      if case .database = source { true } else { false }
    }

    /// The id of the job: a digest of what is replicated, with CouchDB's suffixes.
    var id: String {
      let filter: JSONValue =
        switch filter {
        case .documentIDs(let ids): ["doc_ids": .array(ids.map { .string($0) })]
        case .selector(let selector): ["selector": .object(selector)]
        case .designDocument(let name, let parameters):
          [
            .string(name),
            .object(JSONObject(parameters.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })),
          ]
        case nil, .closure: .null
        }
      let text = JSONValue.array([.string(source.shownName), .string(target.shownName), filter]).text
      return Hexadecimal.text(Digest.hash(text.utf8, .sha256).prefix(16))
        + (isContinuous ? "+continuous" : "") + (createsTarget ? "+create_target" : "")
    }

    /// Calls a closure with the replication and its store. The databases of this server stay open meanwhile.
    ///
    /// - Throws: `CouchError` 404 if one of them does not exist, and what `body` throws.
    func withReplication<R>(
      _ databases: Databases, _ body: (Replication, Database) async throws -> R
    ) async throws -> R {
      var (replication, database): (Replication, Database)
      // Otherwise it could be closed.
      var other: Database?
      defer { withExtendedLifetime(other) {} }
      switch (source, target) {
      case (.database(let name), .remote(let remote)):
        (replication, database) = (Replication(.push, with: remote), try await databases.end(name))
      case (.database(let name), .database(let target)):
        database = try await databases.end(name)
        let second = try await databases.end(target, creating: createsTarget)
        (replication, other) = (Replication(.push, with: second.store), second)
      case (.remote(let remote), .database(let name)):
        database = try await databases.end(name, creating: createsTarget)
        replication = Replication(.pull, with: remote)
      case (.remote, .remote): throw CouchError.noDatabase
      }
      replication.filter = filter
      replication.isContinuous = isContinuous
      replication.createsDatabase = createsTarget
      if let requests { replication.concurrentRequests = requests }
      if let batchSize { replication.batchSize = batchSize }
      defer { withExtendedLifetime(database) {} }
      return try await body(replication, database)
    }
  }

  extension Databases {
    fileprivate func end(_ name: String, creating: Bool = false) async throws -> Database {
      do {
        return try await database(named: name)
      } catch let error as CouchError where error == .noDatabase {
        guard creating else { throw CouchError(404, "db_not_found", "could not open \(name)") }
        do {
          try await create(name)
        } catch let error as CouchError where error == .databaseExists {}
        return try await database(named: name)
      }
    }
  }

  /// The hosts that a server replicates with.
  struct ReplicationHosts: Sendable {
    private let hosts: [HostAndPort]

    /// - Throws: `ServerError` for what is no host.
    init(_ names: Set<String>) throws(ServerError) {
      var hosts: [HostAndPort] = []
      for name in names.sorted() {
        guard let host = HostAndPort(name) else { throw .invalidHostName(name) }
        hosts.append(host)
      }
      self.hosts = hosts
    }

    func contain(_ name: String, port: Int) -> Bool {
      guard let host = HostAndPort.Host(name) else { return false }
      return hosts.contains { $0.host == host && ($0.port ?? port) == port }
    }
  }
#endif
