import CDTDatastore
import CDTJSON
import CouchDB
import Hummingbird

/// CouchDB's resources of the nodes of a cluster. Here there is one node.
extension RequestContext {
  /// CouchDB's name for a node that belongs to no cluster.
  private static let nodeName = "nonode@nohost"

  func membership() -> Response {
    Reply.json(["all_nodes": [.string(Self.nodeName)], "cluster_nodes": [.string(Self.nodeName)]])
  }

  func node() throws -> Response {
    try checkNode()
    return Reply.json(["name": .string(Self.nodeName)])
  }

  private func checkNode() throws(CouchError) {
    let name = names["node"] ?? ""
    guard name == "_local" || name == Self.nodeName else {
      throw CouchError(404, "not_found", "no such node: \(name.prefix(100))")
    }
  }

  func nodeMetrics() async throws -> Response {
    try checkNode()
    return await metrics()
  }

  /// The counters that CouchDB and the server both have, in CouchDB's form.
  func statistics() async throws -> Response {
    try checkNode()
    let (methods, statuses) = server.metrics.replyCounts
    func value(_ value: Int, _ description: String, type: String = "counter") -> JSONValue {
      ["value": .int(Int64(value)), "type": .string(type), "desc": .string(description)]
    }
    func values(_ counts: [(key: String, value: Int)], _ description: String) -> JSONValue {
      .object(JSONObject(counts.map { ($0.key, value($0.value, "\(description) \($0.key)")) }))
    }
    return Reply.json([
      "couchdb": [
        "open_databases": value(databases.openNames.count, "number of open databases"),
        "httpd": [
          "requests": value(methods.values.reduce(0, +), "number of HTTP requests"),
          "clients_requesting_changes": value(
            server.metrics.feedCount, "number of clients for continuous _changes"),
        ],
        "httpd_request_methods": values(
          methods.sorted { $0.key < $1.key }, "number of HTTP requests with the method"),
        "httpd_status_codes": values(
          statuses.sorted { $0.key < $1.key }.map { ("\($0.key)", $0.value) },
          "number of HTTP replies with the status"),
      ]
    ])
  }

  /// The numbers of the system that CouchDB and the server both have, in CouchDB's form.
  func system() throws -> Response {
    try checkNode()
    return Reply.json([
      "uptime": .int(server.metrics.uptime), "os_proc_count": 0, "stale_proc_count": 0,
      "internal_replication_jobs": 0,
    ])
  }

  // MARK: Settings

  /// The settings under CouchDB's names: all, those of a section, or one.
  func settings() async throws -> Response {
    try checkNode()
    let all = try await configurationSections()
    guard let section = names["section"] else { return Reply.json(all) }
    guard let key = names["key"] else { return Reply.value(all[section] ?? [:]) }
    guard let value = all[section]?[key] else { throw CouchError.noSetting }
    return Reply.value(value)
  }

  /// Changes a setting, or returns it to the value that the server has without the change. The reply is the value before, as at
  /// CouchDB.
  func changeSetting() async throws -> Response {
    try checkNode()
    try checkWritable()
    let (section, key) = (names["section"] ?? "", names["key"] ?? "")
    let name = "\(section)/\(key)"
    var value: String?
    if method == .put {
      guard case .string(let text) = try await body(limit: 1 << 16).json() else {
        throw CouchError.badRequest("The value of a setting must be a JSON string, such as \"true\".")
      }
      value = text
    }
    guard let setting = ServerSetting.named(name) else {
      // A value that is always so can be set, too.
      let fixed = try await configurationSections()[section]?[key]
      if let value, fixed == .string(value) { return Reply.value(.string(value)) }
      guard fixed != nil || value != nil else { throw CouchError.noSetting }
      throw CouchError.unsupported(
        "A change of \(name.prefix(100)) by request", instead: Self.option(for: name))
    }
    let (change, settings) = (value, server.settings)
    let before = try await Datastore.useFiles { try settings.change(setting, to: change) }
    server.logger.notice(
      "setting changed",
      metadata: [
        "setting": "\(setting.name)", "value": "\(setting.value(settings.current.configuration))",
        "user": "\(identity.name ?? "")", "client": "\(peer)",
      ])
    return Reply.value(.string(before))
  }

  /// The command or option for a setting that requests can't change.
  private static func option(for name: String) -> String {
    switch name.prefix(while: { $0 != "/" }) {
    case "admins": "cdtquery user add FILE NAME --role _admin"
    case "cors": "cors/origins alone, as a page of an origin may use every method and header of the API"
    case "log": "--log-level of cdtquery serve"
    case "ssl": "--tls-cert and --tls-key of cdtquery serve"
    case _ where name.hasSuffix("/port") || name.hasSuffix("/bind_address"): "--bind of cdtquery serve"
    default: "the options of cdtquery serve"
    }
  }

  /// As at CouchDB, every value is a string.
  private func configurationSections() async throws -> JSONObject {
    let configuration = server.settings.current.configuration
    var sections: JSONObject = [:]
    for setting in ServerSetting.all {
      for name in setting.names { sections.set(name, .string(setting.value(configuration))) }
    }
    for (name, value) in [
      ("chttpd/bind_address", configuration.host), ("chttpd/port", "\(configuration.port)"),
      ("chttpd_auth/timeout", "\(SessionCookie.lifetime)"), ("couchdb/uuid", server.uuid),
      ("couchdb/single_node", "true"), ("log/level", "\(server.logger.logLevel)"),
    ] { sections.set(name, .string(value)) }
    // CouchDB has hashes of passwords here.
    for user in try await server.authenticator.knownUsers().all where user.identity(.basic).isAdmin {
      sections.set("admins/\(user.name)", "(hidden)")
    }
    return sections
  }

  // MARK: Set-up

  /// Answers the request that makes a new CouchDB a single node, which this server always is. The admin that it names must exist.
  func setUpCluster() async throws -> Response {
    let wanted = try await jsonObject()
    switch wanted["action"]?.stringValue {
    case "enable_single_node": break
    case "enable_cluster", "add_node", "remove_node", "finish_cluster": throw CouchError.cluster
    default: throw CouchError.badRequest("`action` must be enable_single_node.")
    }
    if let name = wanted["username"]?.stringValue {
      var isAdmin = false
      do throws(CouchError) {
        isAdmin = try await server.authenticator.logIn(
          name: name, password: wanted["password"]?.stringValue ?? "", from: peer
        ).identity.isAdmin
      } catch {
        guard error.status == 401 else { throw error }
      }
      guard isAdmin else { throw CouchError.adminIsNotMade }
    }
    return Reply.json(Reply.ok, .created)
  }
}

extension CouchError {
  fileprivate static let noSetting = CouchError(404, "not_found", "unknown_config_value")

  fileprivate static let adminIsNotMade = badRequest(
    "No admin of the server has this name and password, and a request makes none; use cdtquery user add FILE NAME --role _admin, and serve with --users FILE."
  )
}
