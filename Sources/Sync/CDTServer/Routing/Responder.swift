import CDTDatastore
import CDTGzip
import CDTPlatform
import CDTQuery
import CouchDB
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1

/// Answers requests: finds out who sends them, refuses what is not allowed, and sends errors as JSON.
struct Responder: HTTPResponder {
  typealias Context = ConnectionContext

  let state: ServerState
  private let rules: RequestRules

  init(_ state: ServerState, _ rules: RequestRules) {
    self.state = state
    self.rules = rules
  }

  func respond(to request: Request, context: ConnectionContext) async throws -> Response {
    let (method, id) = (Self.method(of: request), Self.requestID(of: request))
    let log = AccessLog(
      logger: state.logger, request: request, method: method, start: .now, peer: context.peer)
    var response: Response
    var user: String?
    do {
      response = try await answer(request, context, &user)
    } catch {
      response = await refusal(error, request, context)
    }
    rules.addHeaders(to: &response, for: request)
    let challenge = state.settings.current.configuration.authenticationChallenge
    // The server's own page asks for the password itself.
    if response.status == .unauthorized, !challenge.isEmpty, request.headers[.secFetchSite] != "same-origin" {
      response.headers[.wwwAuthenticate] = challenge
    }
    response.headers[.xCouchRequestID] = id
    state.metrics.count(method, response.status, since: log.start)
    if request.method == .head { response = Self.withoutBody(response) }
    return log.following(response, id: id, user: user)
  }

  /// The id of a request, which the client can choose.
  private static func requestID(of request: Request) -> String {
    let chosen = request.headers[.xCouchRequestID] ?? ""
    let isID = (1...36).contains(chosen.utf8.count) && chosen.utf8.allSatisfy { $0 == 0x2D || isWordByte($0) }
    return isID ? chosen : String(RandomID.digits().prefix(10))
  }

  /// Whether a byte is a letter, a digit or `_`.
  private static func isWordByte(_ byte: UInt8) -> Bool {
    byte.isLetter || byte.isDigit || byte == UInt8(ascii: "_")
  }

  /// The method of a request. As at CouchDB, a client that can only send `POST` names another method in a header: not `HEAD`, as
  /// the reply to a `POST` has the body that its head describes.
  private static func method(of request: Request) -> HTTPRequest.Method {
    let others = ["GET", "PUT", "DELETE", "COPY"]
    guard request.method == .post, let name = request.headers[.xHTTPMethodOverride], others.contains(name)
    else { return request.method }
    return HTTPRequest.Method(name) ?? request.method
  }

  /// The same head without a body.
  private static func withoutBody(_ response: Response) -> Response {
    let length = response.headers[.contentLength]
    var response = response
    response.body = ResponseBody()
    response.headers[.contentLength] = length
    return response
  }

  /// - Parameter user: Becomes the name of the user who sends the request.
  private func answer(
    _ request: Request, _ context: ConnectionContext, _ user: inout String?
  ) async throws -> Response {
    if let coding = request.head.unknownTransferCoding {
      throw CouchError.badRequest("The Transfer-Encoding \(coding) is not supported: use chunked alone.")
    }
    let path = try RequestPath(request.uri.string, limit: state.configuration.limits.pathLength)
    if let response = try rules.check(request) { return response }
    let known = try await authenticate(request, path, context)
    user = known.identity.name
    if known.identity.name == nil, state.settings.current.configuration.requiresUser,
      !["_up", "_session", "_utils"].contains(path.segments.first)
    {
      throw CouchError.userRequired
    }
    let resource = RequestContext(
      request: request, method: Self.method(of: request), path: path,
      parameters: try QueryParameters(path.query),
      sender: known.identity, identity: known.identity, peer: context.peer, client: context.client,
      server: state)
    var response: Response
    do {
      if let refused = try state.addressToken?.check(resource) { return refused }
      response = try await resource.respond()
    } catch {
      response = await refusal(error, request, context)
    }
    if let cookie = known.cookie, response.headers[.setCookie] == nil {
      response.headers[.setCookie] = cookie
    }
    // Pages at other ports of this machine are of the same site, and would show pictures and documents with the cookie.
    if state.addressToken != nil { response.headers[.crossOriginResourcePolicy] = "same-origin" }
    return response
  }

  private func authenticate(
    _ request: Request, _ path: RequestPath, _ context: ConnectionContext
  ) async throws(CouchError) -> Authenticator.Authentication {
    var authorization = request.headers[.authorization]
    // As at CouchDB, a client with a token of another server learns that it is not logged in.
    if path.segments == ["_session"], authorization?.lowercased().hasPrefix("bearer ") == true {
      authorization = nil
    }
    do throws(CouchError) {
      return try await state.authenticator.authenticate(
        authorization: authorization, cookies: request.headers[values: .cookie], from: context.peer)
    } catch {
      if authorization != nil {
        let name = (try? BasicCredentials.read(authorization))?.name
        state.noteFailedLogin(name, from: context.peer, error)
      }
      throw error
    }
  }

  private func refusal(
    _ error: any Error, _ request: Request, _ context: ConnectionContext
  ) async -> Response {
    var couch = CouchError(of: error)
    // SQLite does not say why a file can't be opened.
    if couch.status == 500,
      (try? await Datastore.useFiles { CurrentProcess.canOpen(files: 8) }) == false
    {
      couch = .outOfFiles
      state.background.add { await state.databases.closeIdle() }
    }
    context.logger.note(couch == .outOfFiles ? couch : error, of: request)
    return Reply.error(couch)
  }
}

extension Logger {
  /// Logs an error that the client did not cause. The client gets no paths and commands of the server's machine, so they are here alone.
  func note(_ error: any Error, of request: Request) {
    let couch = CouchError(of: error)
    // Nobody reads the answer to what was cancelled.
    guard couch.status >= 500, couch.status != 501, !(error is CancellationError) else { return }
    // The server refuses a request because of its load, and has not failed.
    let isRefusal = couch.status == 503
    log(
      level: isRefusal ? .notice : .error, isRefusal ? "request refused" : "request failed",
      metadata: [
        "method": "\(request.method)", "path": "\(request.uri.path)",
        "error": "\((error as? CouchError)?.reason ?? "\(error)")",
      ])
  }
}

extension CouchError {
  /// Creates the error that is sent to a client for any error.
  init(of error: any Error) {
    self =
      switch error {
      case let error as CouchError: error
      case let error as DatastoreError: .ofServer(error)
      case let error as QueryError: CouchError(error)
      case let violation as UniqueViolation: CouchError(violation)
      case let violation as RuleViolation: CouchError(violation)
      case let error as GzipError: CouchError(error)
      case let error as HTTPParserError: .unreadable(error)
      case is CancellationError: CouchError(503, "service_unavailable", "The request was cancelled.")
      default: CouchError(500, "internal_server_error", Self.failure)
      }
  }

  /// An error of a datastore. Messages that name files of the server are for its log.
  private static func ofServer(_ error: DatastoreError) -> CouchError {
    let couch = CouchError(error)
    switch error.code {
    case .full:
      return CouchError(
        507, couch.error, "The disk of the server is full: nothing was saved; free some space.")
    case .busy: return CouchError(503, couch.error, "Others are writing to the database; try again later.")
    case .notFound where error.documentID == nil: return .noAttachment
    default: return couch.status == 500 ? CouchError(500, couch.error, failure) : couch
    }
  }

  private static let failure = "The server can't do this now; the reason is in its log."
}

/// The connection of a request.
struct ConnectionContext: Hummingbird.RequestContext {
  var coreContext: CoreRequestContextStorage
  /// The address of the client.
  let peer: String
  let client = ClientConnection.current

  init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    peer = source.channel.remoteAddress?.ipAddress ?? "unknown"
  }
}

/// The rules that every request must pass first: for its host, and for the origin of the page that sends it.
struct RequestRules: Sendable {
  private let hosts: HostCheck
  private let settings: ServerSettings
  private let isSecure: Bool
  private var origins: CrossOrigin { settings.current.origins }

  init(_ configuration: ServerConfiguration, _ settings: ServerSettings) throws {
    isSecure = configuration.tls != nil
    self.settings = settings
    hosts = try HostCheck(names: configuration.hostNames.sorted(), listeningOn: [configuration.host])
  }

  /// Refuses what is not allowed.
  ///
  /// - Returns: The reply to a preflight of a browser; `nil` for other requests.
  func check(_ request: Request) throws -> Response? {
    let host = try hosts.check([request.head.authority].compactMap(\.self) + request.headers[values: .host])
    // An empty header is that of a program, such as LiveSync's check of the server, and of no browser.
    let origin = request.headers[.origin].flatMap { $0.isEmpty ? nil : $0 }
    let origins = origins
    let preflight = origins.preflight(
      method: request.method.rawValue, origin: origin,
      requestMethod: request.headers[.accessControlRequestMethod],
      requestHeaders: request.headers[.accessControlRequestHeaders])
    if let preflight { return Reply.empty(.noContent, headers: Self.fields(preflight)) }
    try origins.checkWrite(
      method: request.method.rawValue, origin: origin, fetchSite: request.headers[.secFetchSite], host: host,
      isSecure: isSecure)
    return nil
  }

  /// Tells browsers who may read a reply.
  func addHeaders(to response: inout Response, for request: Request) {
    guard response.status != .noContent else { return }
    for field in Self.fields(origins.headers(origin: request.headers[.origin])) {
      response.headers.append(field)
    }
  }

  private static func fields(_ headers: [CrossOrigin.Header]) -> HTTPFields {
    var fields = HTTPFields()
    for header in headers {
      if let name = HTTPField.Name(header.name) { fields[name] = header.value }
    }
    return fields
  }
}
