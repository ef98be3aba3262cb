import CDTJSON
import CouchDB
import Hummingbird

/// CouchDB's resources of the nodes of a cluster. Here there is one node, and its settings can only be read.
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
  func settings() throws -> Response {
    try checkNode()
    let all = configurationSections
    guard let section = names["section"] else { return Reply.json(all) }
    guard let key = names["key"] else { return Reply.value(all[section] ?? [:]) }
    guard case .object(let members)? = all[section], let value = members[key] else {
      throw CouchError(404, "not_found", "unknown_config_value")
    }
    return Reply.value(value)
  }

  /// As at CouchDB, every value is a string.
  private var configurationSections: JSONObject {
    let configuration = server.configuration
    let limits = configuration.limits
    func text(_ value: some CustomStringConvertible) -> JSONValue { .string(value.description) }
    return [
      "chttpd": [
        "bind_address": text(configuration.host), "port": text(configuration.port),
        "max_http_request_size": text(limits.requestLength),
        "enable_cors": text(!configuration.origins.isEmpty),
      ],
      "chttpd_auth": [
        "require_valid_user": text(server.hasUsers), "timeout": text(SessionCookie.lifetime),
      ],
      "cors": [
        "origins": text(configuration.origins.sorted().joined(separator: ",")),
        "credentials": text(!configuration.origins.isEmpty),
      ],
      "couchdb": [
        "uuid": text(server.uuid), "max_document_size": text(limits.documentLength),
        "max_attachment_size": text(limits.attachmentLength),
      ],
      "log": ["level": text(server.logger.logLevel)],
    ]
  }
}
