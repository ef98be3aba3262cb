import AsyncHTTPClient
import CDTJSON
import CDTServerTestSupport
import CouchDB
import Foundation
import NIOCore

/// A server at one end of a replication: a CouchDB, or one of ours.
struct RemoteServer: Sendable {
  /// With the credentials, as `_replicate` needs it; without a slash at the end.
  let url: String
  /// Without the credentials.
  private let address: String
  private let authorization: String?

  /// - Parameter url: Such as `http://admin:password@127.0.0.1:5984`.
  init(url: String) throws {
    guard var parts = URLComponents(string: url), parts.host != nil else { throw URLError(.badURL) }
    parts.path = ""
    self.url = parts.string ?? url
    authorization = parts.user.map { user in
      "Basic " + Data("\(user):\(parts.password ?? "")".utf8).base64EncodedString()
    }
    (parts.user, parts.password) = (nil, nil)
    address = parts.string ?? url
  }

  init(_ server: RunningServer) throws {
    try self.init(url: server.url)
  }

  /// Sends a request.
  func send(
    _ method: String, _ path: String, json: JSONValue? = nil, body: [UInt8]? = nil,
    type: String = "application/json"
  ) async throws -> RunningServer.Reply {
    var request = HTTPClientRequest(url: address + path)
    request.method = .init(rawValue: method)
    request.headers.add(name: "Accept", value: "application/json")
    if let authorization { request.headers.add(name: "Authorization", value: authorization) }
    if let body = body ?? json.map({ Array($0.text.utf8) }) {
      request.headers.add(name: "Content-Type", value: type)
      request.body = .bytes(body)
    }
    let response = try await HTTPClient.shared.execute(request, timeout: .seconds(600))
    let bytes = try await response.body.collect(upTo: 1 << 30)
    return RunningServer.Reply(
      status: Int(response.status.code),
      headers: Dictionary(
        response.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { "\($0), \($1)" }),
      body: Array(bytes.readableBytesView))
  }

  /// Sends a request that must succeed, and returns the JSON of the reply.
  @discardableResult
  func json(_ method: String, _ path: String, _ json: JSONValue? = nil) async throws -> JSONValue {
    let reply = try await send(method, path, json: json)
    guard reply.status < 300 else {
      throw RequestFailure(request: "\(method) \(path)", status: reply.status, reply: reply.text)
    }
    return reply.json
  }
}

/// A request that should have succeeded.
struct RequestFailure: Error {
  let request: String
  let status: Int
  let reply: String
}

/// A database at one of the ends.
struct RemoteDatabase: Sendable {
  let server: RemoteServer
  let name: String

  /// With the credentials.
  var url: String { "\(server.url)/\(name)" }

  /// Creates an empty database.
  init(named name: String, at server: RemoteServer) async throws {
    self.init(existing: name, at: server)
    try await server.json("PUT", "/\(name)")
  }

  init(existing name: String, at server: RemoteServer) {
    self.name = name
    self.server = server
  }

  @discardableResult
  func json(_ method: String, _ path: String, _ json: JSONValue? = nil) async throws -> JSONValue {
    try await server.json(method, "/\(name)\(path)", json)
  }

  /// The path of a document below the database.
  static func path(_ id: String) -> String {
    let design = "_design/"
    return id.hasPrefix(design)
      ? "/\(design)\(PercentCoding.encode(String(id.dropFirst(design.count))))"
      : "/\(PercentCoding.encode(id))"
  }

  // MARK: Writing

  /// Saves a document as a new revision, and returns the revision's id.
  @discardableResult
  func save(_ id: String, _ document: JSONValue) async throws -> String {
    try await json("PUT", Self.path(id), document)["rev"]?.stringValue ?? ""
  }

  /// Saves revisions with their own ids.
  func insert(_ documents: [JSONValue]) async throws {
    let refused = try await json("POST", "/_bulk_docs", ["new_edits": false, "docs": .array(documents)])
    guard refused == [] else {
      throw RequestFailure(request: "POST /\(name)/_bulk_docs", status: 201, reply: refused.text)
    }
  }

  /// Adds an attachment to a revision, and returns the id of the next revision.
  @discardableResult
  func attach(
    _ content: [UInt8], _ attachment: String, type: String, to id: String, _ revision: String? = nil
  ) async throws -> String {
    let parameter = revision.map { "?rev=\($0)" } ?? ""
    let path = "/\(name)\(Self.path(id))/\(PercentCoding.encode(attachment))\(parameter)"
    let reply = try await server.send("PUT", path, body: content, type: type)
    guard reply.status == 201 else {
      throw RequestFailure(request: "PUT \(path)", status: reply.status, reply: reply.text)
    }
    return reply.json["rev"]?.stringValue ?? ""
  }

  func delete() async throws { try await server.json("DELETE", "/\(name)") }
}
