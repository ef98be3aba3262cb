import AsyncHTTPClient
import CDTJSON
import CDTPlatform
import CouchDB
import NIOCore
import NIOHTTP1
import NIOPosix

/// Sends requests to the server of a database.
final class RemoteConnection: Sendable {
  let database: RemoteDatabase
  private let client: HTTPClient
  private let authorization: Authorization

  /// - Parameter concurrentRequests: The maximum number of connections.
  init(_ database: RemoteDatabase, concurrentRequests: Int) {
    self.database = database
    var configuration = HTTPClient.Configuration()
    configuration.tlsConfiguration = database.tls
    configuration.timeout.connect = .seconds(10)
    configuration.timeout.read = TimeAmount(database.timeout)
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(1, concurrentRequests) + 2
    // AsyncHTTPClient removes credentials from a request that is redirected to another host.
    configuration.redirectConfiguration = .follow(max: 5, allowCycles: false)
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    authorization = Authorization(database)
  }

  /// Ends the connections. Call it once.
  func close() async {
    try? await client.shutdown()
  }

  /// A request, relative to the database.
  struct Request: Sendable {
    var method = HTTPMethod.GET
    /// What follows the URL of the database: empty, or begins with a slash.
    var path = ""
    var accept = "application/json"
    var body: Body?

    enum Body: Sendable {
      case json([UInt8])
      case multipart(RelatedDocumentBody)
    }

    init(_ path: String) {
      self.path = path
    }

    init(_ method: HTTPMethod, _ path: String, json: [UInt8]) {
      self.method = method
      self.path = path
      body = .json(json)
    }

    init(_ method: HTTPMethod, _ path: String, _ json: JSONObject) {
      self.init(method, path, json: json.utf8Text)
    }
  }

  /// A reply whose body is read as it arrives.
  struct Reply: Sendable {
    let status: Int
    let contentType: String
    let pause: Duration?
    let body: HTTPClientResponse.Body
    fileprivate let request: String

    /// The whole body as JSON.
    ///
    /// - Throws: ``ReplicationError``, `CancellationError`.
    func json(limit: Int = 64 * 1024 * 1024) async throws -> JSONValue {
      let bytes: ByteBuffer
      do {
        bytes = try await body.collect(upTo: limit)
      } catch is NIOTooManyBytesError {
        throw ReplicationError(
          .invalidReply, "\(request): the reply has more than \(limit) bytes", isTooLong: true)
      } catch {
        try Task.checkCancellation()
        throw ReplicationError(connection: error, request)
      }
      do {
        return try bytes.withUnsafeReadableBytes { try JSONValue(parsing: $0) }
      } catch {
        throw ReplicationError(.invalidReply, "\(request): the reply is not JSON: \(error)", status: status)
      }
    }

    /// The reason of an error that the server sent.
    func refusal() async -> CouchError {
      guard let json = try? await json(limit: 1024 * 1024) else { return CouchError(status, "", "") }
      return CouchError(status, json["error"]?.stringValue ?? "", json["reason"]?.stringValue ?? "")
    }

    /// The error for a status that was not expected.
    func failure() async -> ReplicationError {
      ReplicationError(await refusal(), request, pause: pause)
    }
  }

  /// Sends a request, and returns the reply whatever its status is.
  ///
  /// - Throws: ``ReplicationError`` if there is no reply, `CancellationError`.
  func send(_ request: Request) async throws -> Reply {
    let reply = try await sendOnce(request)
    guard reply.status == 401, await authorization.renew(with: client) else { return reply }
    return try await sendOnce(request)
  }

  /// Sends a request, and returns the reply if its status is among the expected ones.
  func send(_ request: Request, expecting statuses: Int...) async throws -> Reply {
    let reply = try await send(request)
    guard statuses.contains(reply.status) else { throw await reply.failure() }
    return reply
  }

  private static let maximumAttempts = 5

  private func sendOnce(_ request: Request) async throws -> Reply {
    for _ in 1..<Self.maximumAttempts {
      let (reply, isWanted) = try await attempt(request)
      if isWanted { return reply }
    }
    return try await attempt(request).reply
  }

  /// - Returns: The reply, and whether the interceptors are content with it.
  private func attempt(_ request: Request) async throws -> (reply: Reply, isWanted: Bool) {
    let name = "\(request.method) \(database.url)\(request.path.prefix { $0 != "?" })"
    var sent = HTTPClientRequest(url: database.url + request.path)
    sent.method = request.method
    sent.headers.add(name: "Accept", value: request.accept)
    sent.headers.add(name: "User-Agent", value: "CDTDatastore")
    switch request.body {
    case nil:
      // So that a POST has a length.
      if request.method == .POST {
        sent.headers.add(name: "Content-Type", value: "application/json")
        sent.body = .bytes(ByteBuffer())
      }
    case .json(let bytes):
      sent.headers.add(name: "Content-Type", value: "application/json")
      sent.body = .bytes(ByteBuffer(bytes: bytes))
    case .multipart(let body):
      sent.headers.add(name: "Content-Type", value: body.contentType)
      sent.body = .stream(body, length: body.length.map { .known($0) } ?? .unknown)
    }
    do {
      for (field, value) in try await authorization.fields(with: client) {
        sent.headers.add(name: field, value: value)
      }
      let seen = try await intercept(&sent)
      // Reading has a time limit of its own.
      let response = try await client.execute(sent, deadline: .distantFuture)
      await authorization.take(response.headers[canonicalForm: "set-cookie"].map(String.init))
      let (head, isWanted) = try await intercept(response, to: seen)
      let reply = Reply(
        status: head.status, contentType: head["content-type"] ?? "",
        pause: head["retry-after"].flatMap { Int($0) }.map { .seconds($0) }, body: response.body,
        request: name)
      return (reply, isWanted)
    } catch let error as ReplicationError {
      throw error
    } catch let error as CancellationError {
      throw error
    } catch {
      try Task.checkCancellation()
      throw ReplicationError(connection: error, name)
    }
  }

  private func intercept(_ request: inout HTTPClientRequest) async throws -> HTTPInterceptor.Request {
    var seen = HTTPInterceptor.Request(
      method: request.method.rawValue, url: request.url,
      headers: request.headers.map { (name: $0.name, value: $0.value) })
    guard !database.interceptors.isEmpty else { return seen }
    for interceptor in database.interceptors { try await interceptor.request(&seen) }
    request.headers = HTTPHeaders(seen.headers.map { ($0.name, $0.value) })
    return seen
  }

  private func intercept(
    _ response: HTTPClientResponse, to request: HTTPInterceptor.Request
  ) async throws -> (head: HTTPInterceptor.Reply, isWanted: Bool) {
    var head = HTTPInterceptor.Reply(
      request: request, status: Int(response.status.code),
      headers: response.headers.map { (name: $0.name, value: $0.value) })
    for interceptor in database.interceptors { try await interceptor.reply(&head) }
    return (head, !head.sendsAgain)
  }
}

extension HTTPInterceptor.Reply {
  /// The value of the first header field with a name.
  fileprivate subscript(name: String) -> String? {
    headers.first { $0.name.lowercased() == name }?.value
  }
}

extension ReplicationError {
  /// An error of the connection. It may not occur again.
  init(connection error: any Error, _ request: String) {
    let reason: String
    switch error {
    case let error as HTTPClientError where error == .connectTimeout: reason = "the server does not answer"
    case let error as HTTPClientError where error == .readTimeout: reason = "the server has stopped answering"
    case let error as HTTPClientError where error == .remoteConnectionClosed:
      reason = "the server closed the connection"
    case let error as IOError: reason = "\(SystemError(error.errnoCode))"
    case let error as NIOConnectionError where error.dnsAError != nil: reason = "the host is unknown"
    case is NIOConnectionError: reason = "the server can't be connected to"
    default: reason = "\(error)"
    }
    self.init(.unreachable, "\(request): \(reason)", isTransient: true)
  }

  /// An error that the server sent.
  init(_ error: CouchError, _ request: String, pause: Duration?) {
    let code: Code =
      switch error.status {
      case 401: .unauthorized
      case 403: .forbidden
      case 404: .notFound
      case 408, 429, 500...: .unreachable
      default: .refused
      }
    let reason = error.reason.isEmpty ? error.error : "\(error.error): \(error.reason)"
    self.init(
      code, "\(request): the server answers \(error.status)\(reason.isEmpty ? "" : ", \(reason)")",
      status: error.status, isTransient: code == .unreachable, pause: pause)
  }
}
