#if Replication
  import CDTDigest
  import CDTJSON
  import CDTPlatform
  import CDTReplication
  import CouchDB
  import Synchronization

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
    /// The id of the job: a digest of what is replicated, with CouchDB's suffixes.
    let id: String
    private let createsTarget: Bool
    private let filter: ReplicationFilter?

    /// Members that change which revisions travel, or the way to them.
    private static let unsupported = [
      "filter", "since_seq", "winning_revs_only", "proxy", "source_proxy", "target_proxy",
    ]

    /// Reads a description. Other members are ignored, as at CouchDB: they are about speed, or not known.
    ///
    /// - Parameter hosts: The hosts that may be connected to, and those of this server.
    /// - Throws: `CouchError`: 400 if it is malformed, 403 for another host, and 501 for what is not supported.
    init(_ json: JSONObject, hosts: ReplicationHosts) throws(CouchError) {
      for name in Self.unsupported where ![nil, .null, false].contains(json[name]) {
        throw .unsupported("`\(name)`", instead: "`selector` or `doc_ids` to choose documents")
      }
      source = try Self.end("source", json["source"], hosts)
      target = try Self.end("target", json["target"], hosts)
      if case (.remote, .remote) = (source, target) {
        throw .unsupported(
          "A replication between two other servers", instead: "the one that has one of the databases")
      }
      isContinuous = try Self.flag("continuous", json)
      createsTarget = try Self.flag("create_target", json)
      filter = try Self.filter(json)
      let members = [
        .string(source.shownName), .string(target.shownName), json["doc_ids"] ?? .null,
        json["selector"] ?? .null,
      ]
      id =
        Hexadecimal.text(Digest.hash(JSONValue.array(members).utf8Text, .sha256).prefix(16))
        + (isContinuous ? "+continuous" : "") + (createsTarget ? "+create_target" : "")
    }

    private static func flag(_ name: String, _ json: JSONObject) throws(CouchError) -> Bool {
      guard let flag = (json[name] ?? false).boolValue else {
        throw .badRequest("`\(name)` must be a boolean.")
      }
      return flag
    }

    private static func end(
      _ member: String, _ json: JSONValue?, _ hosts: ReplicationHosts
    ) throws(CouchError) -> End {
      guard let text = json?.stringValue ?? json?["url"]?.stringValue else {
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
        var database = try RemoteDatabase(text, credentials: try credentials(json))
        if let name = hosts.ownDatabase(database.url) { return .database(name) }
        if !hosts.allowsAll { database.permitsHost = { hosts.contain($0, port: $1) } }
        guard database.isPermitted else {
          throw ReplicationError(.forbidden, "this server does not replicate with that host")
        }
        return .remote(database)
      } catch {
        throw CouchError(
          error.code == .forbidden ? 403 : 400, error.code == .forbidden ? "forbidden" : "bad_request",
          "`\(member)`: \(error.message)")
      }
    }

    /// The credentials of `auth.basic`, or of the header `Authorization`.
    private static func credentials(_ end: JSONValue?) throws(ReplicationError) -> Credentials? {
      if let basic = end?["auth"]?["basic"] {
        guard let name = basic["username"]?.stringValue, let password = basic["password"]?.stringValue else {
          throw ReplicationError(.invalidRequest, "`auth.basic` needs a username and a password")
        }
        return .session(name, password)
      }
      let fields = end?["headers"]?.objectValue ?? [:]
      guard let field = fields.first else { return nil }
      if fields.count == 1, field.key.lowercased() == "authorization", let value = field.value.stringValue {
        if let token = value.afterBytePrefix("Bearer ") { return .bearer(String(token)) }
        if let basic = try? BasicCredentials.read(value) { return .basic(basic.name, basic.password) }
      }
      throw ReplicationError(.invalidRequest, "`headers` can only have Authorization, with Basic or Bearer")
    }

    private static func filter(_ json: JSONObject) throws(CouchError) -> ReplicationFilter? {
      switch (json["doc_ids"] ?? .null, json["selector"] ?? .null) {
      case (.null, .null): return nil
      case (.null, .object(let selector)): return .selector(selector)
      case (.null, _): throw .badRequest("`selector` must be a JSON object.")
      case (.array(let values), .null):
        let ids = values.compactMap(\.stringValue)
        guard ids.count == values.count else { throw .badRequest("`doc_ids` must be an array of strings.") }
        return .documentIDs(ids)
      case (_, .null): throw .badRequest("`doc_ids` must be an array of strings.")
      default: throw .badRequest("`doc_ids`, `selector` are mutually exclusive")
      }
    }

    // MARK: Meaning

    /// Whether a database of this server is the source.
    var isPush: Bool {
      if case .database = source { true } else { false }
    }

    /// The counts of its direction.
    func counts(of result: ReplicationResult) -> ReplicationResult.Counts {
      isPush ? result.pushed : result.pulled
    }

    /// Calls a closure with the replication and its store. The databases of this server stay open meanwhile.
    ///
    /// - Throws: `CouchError` 404 if one of them does not exist, and what `body` throws.
    func withReplication<R>(
      _ databases: Databases, _ body: (Replication, OpenDatabase) async throws -> R
    ) async throws -> R {
      var (replication, database): (Replication, OpenDatabase)
      // Otherwise it could be closed.
      var other: OpenDatabase?
      defer { withExtendedLifetime(other) {} }
      switch (source, target) {
      case (.database(let name), .remote(let remote)):
        (replication, database) = (Replication(.push, with: remote), try await databases.end(name))
      case (.database(let name), .database(let target)):
        database = try await databases.end(name)
        let second = try await databases.end(target, creating: createsTarget)
        (replication, other) = (Replication(.push, with: second.store), second)
      case (.remote(let remote), .database(let name)):
        do {
          database = try await databases.end(name)
        } catch let error as CouchError where createsTarget && error.error == "db_not_found" {
          // Without it, a target that was created for nothing would stay.
          try await remote.checkExists()
          database = try await databases.end(name, creating: true)
        }
        replication = Replication(.pull, with: remote)
      case (.remote, .remote): throw CouchError.noDatabase
      }
      // Only admins of the server start replications.
      replication.rules = (other ?? database).rulesOfServer
      replication.filter = filter
      replication.isContinuous = isContinuous
      replication.createsDatabase = createsTarget
      defer { withExtendedLifetime(database) {} }
      return try await body(replication, database)
    }
  }

  extension Databases {
    fileprivate func end(_ name: String, creating: Bool = false) async throws -> OpenDatabase {
      do {
        return try await database(named: name)
      } catch let error as CouchError where error == .noDatabase {
        guard creating else { throw CouchError(404, "db_not_found", "could not open \(name)") }
        return try await databaseOrNew(named: name)
      }
    }
  }

  /// The hosts that a server replicates with, and those under which its own databases are.
  final class ReplicationHosts: Sendable {
    private let hosts: [HostAndPort]
    /// Whether there is no list of hosts.
    let allowsAll: Bool
    private let own: HostCheck
    private let isSecure: Bool
    private let port: Atomic<Int>

    /// - Throws: `ServerError` for text that is not a host.
    init(_ configuration: ServerConfiguration) throws(ServerError) {
      var hosts: [HostAndPort] = []
      for name in configuration.replicationHosts?.sorted() ?? [] {
        guard let host = HostAndPort(name) else { throw .invalidHostName(name) }
        hosts.append(host)
      }
      self.hosts = hosts
      allowsAll = configuration.replicationHosts == nil
      own = try HostCheck(names: configuration.hostNames.sorted(), listeningOn: [configuration.host])
      isSecure = configuration.tls != nil
      port = Atomic(configuration.port)
    }

    /// Takes the port that the server listens at.
    func listen(at port: Int) { self.port.store(port, ordering: .relaxed) }

    /// The name of the database of this server that a URL leads to; `nil` for a URL of another server.
    ///
    /// The host must be one that clients may use for this server, and the port the one that it listens at.
    func ownDatabase(_ url: String) -> String? {
      guard let parts = URLComponents(string: url), let name = parts.host,
        let host = HostAndPort.Host(name), own.isOwn(host),
        (parts.scheme?.lowercased() == "https") == isSecure,
        parts.port ?? (isSecure ? 443 : 80) == port.load(ordering: .relaxed)
      else { return nil }
      let path = parts.percentEncodedPath.split(separator: "/")
      guard path.count == 1, let database = try? PercentCoding.decode(path[0]) else { return nil }
      return database.hasBytePrefix("_") ? nil : database
    }

    func contain(_ name: String, port: Int) -> Bool {
      guard let host = HostAndPort.Host(name) else { return false }
      return hosts.contains { $0.host == host && ($0.port ?? port) == port }
    }
  }
#endif
