import AsyncHTTPClient
import CDTDatastore
package import CDTJSON
import CDTPlatform
package import CouchDB
package import NIOCore
package import NIOHTTP1

/// Sends requests to the server of a database.
package final class RemoteConnection: Sendable {
  package let database: RemoteDatabase
  private let client: HTTPClient
  private let redirecting: RedirectingClient
  private let authorization: Authorization

  /// - Parameter concurrentRequests: The maximum number of connections.
  package init(_ database: RemoteDatabase, concurrentRequests: Int) {
    self.database = database
    var configuration = HTTPClient.Configuration()
    configuration.tlsConfiguration = database.tls
    configuration.timeout.connect = .seconds(10)
    configuration.timeout.read = TimeAmount(database.timeout)
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(1, concurrentRequests) + 2
    configuration.redirectConfiguration = .disallow
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    redirecting = RedirectingClient(client, for: database)
    authorization = Authorization(database, with: redirecting)
  }

  deinit {
    // The client must live until its connections have ended. After `close()`, this does nothing.
    client.shutdown { [client] _ in withExtendedLifetime(client) {} }
  }

  /// Ends the connections, and waits for that.
  package func close() async {
    try? await client.shutdown()
  }

  /// A request, relative to the database.
  package struct Request: Sendable {
    package var method = HTTPMethod.GET
    /// The part after the URL of the database: empty, or begins with a slash.
    package var path = ""
    package var accept = "application/json"
    var body: Body?

    typealias Body = UploadBody.Content

    /// The body to send in parts; `nil` if it is JSON of one part, or there is none.
    fileprivate var upload: UploadBody? {
      if case .json(let bytes)? = body, bytes.readableBytes <= UploadBody.part { return nil }
      return body.map { UploadBody($0) }
    }

    package init(_ path: String) {
      self.path = path
    }

    package init(_ method: HTTPMethod, _ path: String, json: ByteBuffer) {
      self.method = method
      self.path = path
      body = .json(json)
    }

    package init(_ method: HTTPMethod, _ path: String, json: [UInt8]) {
      self.init(method, path, json: ByteBuffer(bytes: json))
    }

    package init(_ method: HTTPMethod, _ path: String, _ json: JSONObject) {
      self.init(method, path, json: json.utf8Text)
    }
  }

  /// A reply whose body is read as it arrives.
  package struct Reply: Sendable {
    package let status: Int
    package let contentType: String
    package let pause: Duration?
    let body: ReplyBody
    fileprivate let request: String
    /// The credentials that the server was sent; `nil` if it was sent none, or if the reply comes from another server.
    fileprivate let credentials: Authorization.Field?
    /// The secrets in the database's credentials and in those that were sent.
    fileprivate let secrets: [String]

    /// The whole body as JSON.
    ///
    /// - Throws: ``ReplicationError``, `CancellationError`.
    package func json(limit: Int = 64 * 1024 * 1024) async throws -> JSONValue {
      let bytes: ByteBuffer
      do {
        bytes = try await body.collect(upTo: limit)
      } catch is NIOTooManyBytesError {
        throw ReplicationError(
          .invalidReply, "\(request): the reply has more than \(limit) bytes", isTooLong: true)
      }
      do {
        return try bytes.withUnsafeReadableBytes { try JSONValue(parsing: $0) }
      } catch {
        throw ReplicationError(.invalidReply, "\(request): the reply is not JSON: \(error)", status: status)
      }
    }

    /// The reason of an error that the server sent.
    package func refusal() async -> CouchError {
      guard let json = try? await json(limit: 1024 * 1024) else { return CouchError(status, "", "") }
      return error(json, status)
    }

    /// An error in a reply, without the credentials, which a server may repeat.
    package func error(_ json: JSONValue, _ status: Int = 0) -> CouchError {
      CouchError(status, json, hiding: secrets)
    }

    /// The error for a status that was not expected.
    package func failure() async -> ReplicationError {
      ReplicationError(await refusal(), request, pause: pause)
    }
  }

  /// Sends a request, and returns the reply whatever its status is.
  ///
  /// - Throws: ``ReplicationError`` if there is no reply, `CancellationError`.
  package func send(_ request: Request) async throws -> Reply {
    let reply = try await sendOnce(request)
    guard reply.status == 401, let refused = reply.credentials, try await authorization.renew(refused) else {
      return reply
    }
    return try await sendOnce(request)
  }

  /// Sends a request, and returns the reply if its status is among the expected ones.
  package func send(_ request: Request, expecting statuses: Int...) async throws -> Reply {
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
    var sent = Self.message(request, to: database.url)
    let publicFields = sent.headers
    let credentials = try await authorization.field()
    if let credentials { sent.headers.add(name: credentials.name, value: credentials.value) }
    let seen = try await intercept(&sent)
    let answer: RedirectingClient.Answer
    do {
      answer = try await execute(sent, elsewhere: publicFields, request.upload)
    } catch let error as CancellationError {
      throw error
    } catch let error as DatastoreError {
      // The body can't be read.
      throw error
    } catch let error as ReplicationError {
      throw error
    } catch {
      try Task.checkCancellation()
      throw ReplicationError(connection: error, name)
    }
    let response = answer.response
    if !answer.isForeign { await authorization.take(response.headers["set-cookie"]) }
    let (head, isWanted) = try await intercept(response, to: seen)
    let reply = Reply(
      status: head.status, contentType: head["content-type"] ?? "",
      pause: head["retry-after"].flatMap { Self.pause($0) }, body: ReplyBody(response, to: name),
      request: name, credentials: answer.isForeign ? nil : credentials,
      secrets: [credentials?.secret, database.credentials?.secret].compactMap(\.self).filter { !$0.isEmpty })
    return (reply, isWanted)
  }

  /// Sends a request, and gives up if the server takes nothing of an upload for as long as it may be silent.
  private func execute(
    _ request: HTTPClientRequest, elsewhere publicFields: HTTPHeaders, _ upload: UploadBody?
  ) async throws -> RedirectingClient.Answer {
    guard let upload else { return try await redirecting.execute(request, elsewhere: publicFields) }
    var request = request
    request.body = .stream(upload, length: upload.length.map { .known($0) } ?? .unknown)
    let complete = request
    return try await withThrowingTaskGroup { group in
      group.addTask { [redirecting, database] in
        do {
          return try await redirecting.execute(complete, elsewhere: publicFields)
        } catch  where upload.progress.isStalled(for: database.timeout / 2) {
          // The client may close the connection first, for the silence of the server.
          throw UploadStalled()
        }
      }
      group.addTask { [database] in
        try await upload.progress.waitForStall(of: database.timeout)
        throw UploadStalled()
      }
      defer { group.cancelAll() }
      guard let answer = try await group.next() else { throw CancellationError() }
      return answer
    }
  }

  /// The pause that a `Retry-After` asks for: seconds, or a time.
  package static func pause(_ text: String) -> Duration? {
    if let seconds = Int(text) { return .seconds(seconds) }
    return HTTPDate.seconds(text).map { .seconds($0 - Int64(Date.now.timeIntervalSince1970)) }
  }

  /// A request as it is sent, without credentials.
  private static func message(_ request: Request, to url: String) -> HTTPClientRequest {
    var message = HTTPClientRequest(url: url + request.path)
    message.method = request.method
    message.headers.add(name: "Accept", value: request.accept)
    // A proxy that compresses may hold back heartbeats.
    message.headers.add(name: "Accept-Encoding", value: "identity")
    message.headers.add(name: "User-Agent", value: "CDTDatastore")
    switch request.body {
    case nil:
      // So that a POST has a length.
      if request.method == .POST {
        message.headers.add(name: "Content-Type", value: "application/json")
        message.body = .bytes(ByteBuffer())
      }
    case .json(let bytes):
      message.headers.add(name: "Content-Type", value: "application/json")
      message.body = .bytes(bytes)
    case .multipart(let body): message.headers.add(name: "Content-Type", value: body.contentType)
    }
    return message
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

extension RemoteConnection: CustomReflectable {
  /// Without credentials, cookies and tokens.
  package var customMirror: Mirror { Mirror(self, children: ["database": database]) }
}

// MARK: Documents

extension RemoteConnection {
  /// Whether a document can have an id. Other names that begin with an underscore are resources of the server, or local
  /// documents.
  package static func isDocumentID(_ id: String) -> Bool {
    (try? DocumentID.check(id)) != nil
  }

  /// The path of a document.
  package static func path(_ id: String) -> String {
    guard let name = id.afterBytePrefix(DocumentID.designPrefix) else {
      return "/\(PercentCoding.encode(id))"
    }
    return "/\(DocumentID.designPrefix)\(PercentCoding.encode(name))"
  }
}
