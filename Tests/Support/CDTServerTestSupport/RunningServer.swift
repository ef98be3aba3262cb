import AsyncHTTPClient
package import CDTDatastore
package import CDTJSON
package import CDTServer
import CDTTestSupport
import Foundation
package import Logging
import NIOCore
import ServiceLifecycle

/// A server in this process, and a client of it.
package struct RunningServer: Sendable {
  package let manager: DatastoreManager
  package let port: Int
  /// Sent with each request.
  package var headers: [(String, String)] = []

  package init(manager: DatastoreManager, port: Int, headers: [(String, String)] = []) {
    self.manager = manager
    self.port = port
    self.headers = headers
  }

  /// Never closed, as all tests share it. It does not try again to connect to a server that has ended, and follows no
  /// redirection.
  private static let client: HTTPClient = {
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.redirectConfiguration = .disallow
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }()

  package var url: String { "http://127.0.0.1:\(port)" }

  /// A reply that was read whole.
  package struct Reply: Sendable {
    package let status: Int
    package let headers: [String: String]
    package let body: [UInt8]

    package init(status: Int, headers: [String: String], body: [UInt8]) {
      self.status = status
      self.headers = headers
      self.body = body
    }

    package var text: String { String(decoding: body, as: UTF8.self) }
    package var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
    /// The lines of a feed.
    package var lines: [JSONValue] {
      text.split(separator: "\n").compactMap { try? JSONValue(parsing: String($0)) }
    }
  }

  /// Sends a request. A JSON body has its content type.
  package func send(
    _ method: String, _ path: String, json: JSONValue? = nil, body: [UInt8]? = nil,
    headers: [(String, String)] = []
  ) async throws -> Reply {
    var request = HTTPClientRequest(url: url + path)
    request.method = .init(rawValue: method)
    for (name, value) in self.headers + headers { request.headers.add(name: name, value: value) }
    if let json {
      request.headers.replaceOrAdd(name: "Content-Type", value: "application/json")
      request.body = .bytes(Array(json.text.utf8))
    }
    if let body { request.body = .bytes(body) }
    let response = try await Self.client.execute(request, timeout: .seconds(120))
    let bytes = try await response.body.collect(upTo: 1 << 28)
    return Reply(
      status: Int(response.status.code),
      headers: Dictionary(
        response.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { "\($0), \($1)" }),
      body: Array(bytes.readableBytesView))
  }

  package func get(_ path: String, headers: [(String, String)] = []) async throws -> Reply {
    try await send("GET", path, headers: headers)
  }

  /// Reads a reply byte by byte, and returns it whole.
  ///
  /// - Parameters:
  ///   - json: The body of a POST; without one it is a GET.
  ///   - body: Called with what was read so far.
  package func stream(
    _ path: String, json: JSONValue? = nil, _ body: (String) async throws -> Void
  ) async throws -> String {
    var request = HTTPClientRequest(url: url + path)
    for (name, value) in headers { request.headers.add(name: name, value: value) }
    if let json {
      request.method = .POST
      request.headers.replaceOrAdd(name: "Content-Type", value: "application/json")
      request.body = .bytes(Array(json.text.utf8))
    }
    let response = try await Self.client.execute(request, timeout: .seconds(120))
    var read: [UInt8] = []
    for try await buffer in response.body {
      for byte in buffer.readableBytesView {
        read.append(byte)
        try await body(String(decoding: read, as: UTF8.self))
      }
    }
    return String(decoding: read, as: UTF8.self)
  }

  package func put(_ path: String, _ json: JSONValue? = nil) async throws -> Reply {
    try await send("PUT", path, json: json, body: json == nil ? [] : nil)
  }

  package func post(_ path: String, _ json: JSONValue) async throws -> Reply {
    try await send("POST", path, json: json)
  }

  package func delete(_ path: String) async throws -> Reply { try await send("DELETE", path) }
}

/// Runs a server in a new directory, with an empty database `db`.
package func withServer<R: Sendable>(
  _ configure: (inout ServerConfiguration) throws -> Void = { _ in },
  _ body: (RunningServer) async throws -> R
) async throws -> R {
  let directory = try temporaryDirectory()
  defer { removeDirectory(directory) }
  let manager = try DatastoreManager(directory: directory)
  _ = try await manager.datastore(named: "db")
  return try await withServer(of: manager, configure, body)
}

/// Runs a server of a manager's datastores.
package func withServer<R: Sendable>(
  of manager: DatastoreManager, logger: Logger = .silent,
  _ configure: (inout ServerConfiguration) throws -> Void = { _ in },
  _ body: (RunningServer) async throws -> R
) async throws -> R {
  var configuration = ServerConfiguration()
  configuration.port = 0
  try configure(&configuration)
  let (ports, started) = AsyncStream<Int>.makeStream()
  let server = try DatastoreServer(manager, configuration: configuration, logger: logger) {
    started.yield($0)
  }
  let running = Task { try await server.run() }
  defer { running.cancel() }
  // A server that can't start ends the stream.
  Task {
    _ = await running.result
    started.finish()
  }
  var iterator = ports.makeAsyncIterator()
  guard let port = await iterator.next() else {
    try await running.value
    throw CancellationError()
  }
  let result = try await body(RunningServer(manager: manager, port: port))
  running.cancel()
  _ = await running.result
  return result
}
