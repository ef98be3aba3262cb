import CDTDatastore
import CDTGzip
import CDTJSON
import CDTQuery
import CouchDB
import HTTPTypes
import Hummingbird
import NIOCore

/// A request and what is known of it: the client, and the resource that its path names.
struct RequestContext: Sendable {
  let request: Request
  /// Not always that of the request's head; see ``Responder``.
  let method: HTTPRequest.Method
  let path: RequestPath
  let parameters: QueryParameters
  /// The user who sends the request.
  let sender: Identity
  /// The user for whom it is answered: the sender, or for a database the user that an admin names.
  private(set) var identity: Identity
  /// The address of the client.
  let peer: String
  let client: ClientConnection
  let server: ServerState
  /// The parts of the path that its pattern names, such as `db`; see ``Route``.
  var names: [String: String] = [:]
  /// The database of the resource as the user sees it. It stays open while the value is in use.
  private(set) var openDatabase: Database?

  var limits: ServerConfiguration.Limits { server.settings.current.configuration.limits }
  var databases: Databases { server.databases }

  var database: Database {
    get throws(CouchError) {
      guard let openDatabase else { throw .noDatabase }
      return openDatabase
    }
  }

  /// The id of the document that the path names.
  var documentID: String { names["id"] ?? "" }

  /// The URL under which the client has reached a resource, for the header `Location`: behind a proxy, that of the proxy.
  ///
  /// - Parameter path: The names of the resource, each a part of the path.
  func url(_ path: String...) -> String {
    let headers = request.headers
    let isSecure =
      switch (headers[.xForwardedSSL], headers[.xForwardedProto]) {
      case ("on", _), (_, "https"): true
      case (_, "http"): false
      default: server.configuration.tls != nil
      }
    let hosts = [headers[.xForwardedHost], request.head.authority, headers[.host]]
    // A text that is not a host is not repeated.
    let host = hosts.compactMap(\.self).first { HostAndPort($0) != nil } ?? "localhost"
    return "\(isSecure ? "https" : "http")://\(host)/\(path.map(PercentCoding.encode).joined(separator: "/"))"
  }

  // MARK: Headers

  /// Whether the client takes a media type. Without a header it takes all.
  func accepts(_ type: String) -> Bool {
    guard let header = request.headers[.accept] else { return true }
    let group = type.split(separator: "/").first.map { "\($0)/*" } ?? "*/*"
    return header.split(separator: ",").contains { item in
      let name = item.split(separator: ";").first.map { $0.filter { $0 != " " }.lowercased() }
      return name == type || name == "*/*" || name == group
    }
  }

  /// Whether the client has the content with an `ETag` already. A proxy that compresses replies makes their tags weak, and they
  /// are compared as if they were not.
  func hasNone(of tag: String?) -> Bool {
    guard let tag, let header = request.headers[.ifNoneMatch] else { return false }
    return header == "*"
      || header.split(separator: ",").contains { Self.strong($0.filter { $0 != " " && $0 != "\t" }) == tag }
  }

  /// An entity tag without the mark of a weak one.
  static func strong(_ tag: String) -> String { tag.afterBytePrefix("W/") ?? tag }

  // MARK: Access

  /// Throws if the server only reads, the database can only be read, or the disk is full.
  ///
  /// - Parameter makesSpace: Whether it is a deletion, for which the disk may be full.
  func checkWritable(makesSpace: Bool = false) throws(CouchError) {
    if server.configuration.isReadOnly { throw .forbidden("This server is read-only.") }
    do throws(DatastoreError) {
      try openDatabase?.checkWritable()
    } catch {
      if error.code == .closed { throw .databaseReplaced }
      if error.code == .io { throw .forbidden("The database can only be read; \(CouchError.writability)") }
      if error.code != .full || !makesSpace { throw CouchError(of: error) }
    }
  }

  /// The error for a database that does not exist. An anonymous client must not find out which exist, so for it the error is
  /// that of a database that it may not use.
  var noDatabase: CouchError {
    server.hasUsers && identity.name == nil ? .notMember(identity) : .noDatabase
  }

  /// The access rules of the database.
  func security() throws(CouchError) -> DatabaseSecurity {
    try database.security
  }

  /// Gives the request a database, if its user may read it.
  mutating func use(_ database: OpenDatabase) async throws(CouchError) {
    let security = try DatabaseSecurity(
      ofDatabase: database.name, database.settings, hasUsers: server.hasUsers)
    let reader = try await reader(security)
    openDatabase = Database(database, for: reader, sender: sender, security)
    identity = reader
  }

  /// Throws if the access rules of the database have changed since it was given to the request.
  func checkAccess() async throws {
    let database = try database
    let now = try DatabaseSecurity(
      ofDatabase: database.name, await database.presentSettings(), hasUsers: server.hasUsers)
    guard try await reader(now) == identity, now.json == database.security.json else {
      throw CouchError.accessChanged
    }
  }

  /// The user for whom rules decide: the client, or the one that an admin of the database names to do what that user may do.
  func reader(_ security: DatabaseSecurity) async throws(CouchError) -> Identity {
    try security.checkMember(sender)
    guard let name = request.headers[.asUser] else { return sender }
    try security.checkAdmin(sender)
    let known = try await server.authenticator.knownUsers()[name]?.roles
    let roles = request.headers[.asRoles].map {
      $0.split(separator: ",").map { String($0.filter { $0 != " " }) }
    }
    let reader = Identity(name: name.isEmpty ? nil : name, roles: roles ?? known ?? [], handler: nil)
    try security.checkMember(reader)
    return reader
  }

  /// Throws if a document that the client wants to write is a design document, which are for the admins of the database.
  func checkDesign(_ id: String) throws(CouchError) {
    if DocumentID.isDesign(id) { try security().checkAdmin(identity) }
  }

  // MARK: Body

  /// The whole body, which must be JSON.
  func jsonBody(limit: Int? = nil) async throws -> ByteBuffer {
    let type = request.headers[.contentType] ?? ""
    guard type.lowercased().hasPrefix(Reply.json) else {
      throw CouchError(415, "bad_content_type", "Content-Type must be application/json")
    }
    return try await body(limit: limit ?? limits.requestLength)
  }

  /// The whole body, which must be a JSON object.
  ///
  /// - Parameter limit: The maximum number of bytes, that of a document if it is `nil`: in memory, an object can take many
  ///   times as much.
  func jsonObject(limit: Int? = nil) async throws -> JSONObject {
    try await jsonBody(limit: limit ?? limits.documentLength).jsonObject()
  }

  /// The whole body, decompressed.
  func body(limit: Int) async throws -> ByteBuffer {
    // A buffer holds less than 4 GB.
    let limit = min(limit, Int(Int32.max))
    if let text = request.headers[.contentLength], let length = Int(text), length > limit {
      throw CouchError.tooLarge(limit)
    }
    guard try isCompressed else {
      do {
        return try await request.body.collect(upTo: limit)
      } catch is NIOTooManyBytesError {
        throw CouchError.tooLarge(limit)
      }
    }
    let gzip = try GzipReader(limit: Int64(limit))
    var whole = ByteBuffer()
    for try await buffer in request.body {
      var chunk = buffer.readableBytesView
      while let bytes = try gzip.next(&chunk) { whole.writeBytes(bytes) }
    }
    try gzip.finish()
    return whole
  }

  /// Whether the body is compressed.
  var isCompressed: Bool {
    get throws(CouchError) {
      switch request.headers[.contentEncoding]?.lowercased() {
      case nil, "identity": return false
      case "gzip": return true
      case let other?:
        throw CouchError(
          415, "bad_ctype", "The Content-Encoding \(other.prefix(50)) is not supported: use gzip or none.")
      }
    }
  }
}

extension ByteBuffer {
  /// Reads the content as JSON.
  func json() throws(CouchError) -> JSONValue {
    try parsed { bytes throws(JSONError) in try JSONValue(parsing: bytes) }
  }

  /// Reads the content as a JSON object.
  func jsonObject() throws(CouchError) -> JSONObject {
    guard case .object(let object) = try json() else { throw .bodyNotAnObject }
    return object
  }

  /// Reads the content with a function of CDTJSON.
  func parsed<R>(_ parse: (UnsafeRawBufferPointer) throws(JSONError) -> R) throws(CouchError) -> R {
    try withUnsafeReadableBytes { bytes throws(CouchError) in
      do throws(JSONError) {
        return try parse(bytes)
      } catch {
        throw error.code == .notAnObject ? .bodyNotAnObject : .invalidJSON(error)
      }
    }
  }
}

extension CouchError {
  static let bodyNotAnObject = badRequest("Request body must be a JSON object")

  static func forbidden(_ reason: String) -> CouchError { CouchError(403, "forbidden", reason) }

  /// The remedy for a database that can only be read.
  static let writability = "allow the server to write to its directory and its files."
}

/// The path of a request, split at its slashes before anything is decoded, and its query.
struct RequestPath: Sendable {
  /// Each decoded once; none is empty.
  let segments: [String]
  let query: String
  /// Whether the path ends in a slash.
  let hasTrailingSlash: Bool

  /// - Parameter target: The path and the query as they were sent.
  init(_ target: String, limit: Int) throws(CouchError) {
    guard target.utf8.count <= limit else {
      throw CouchError(414, "uri_too_long", "The path and the query have more than \(limit) bytes.")
    }
    // The absolute form, which proxies use, has a scheme and a host.
    guard target.utf8.first == UInt8(ascii: "/") else {
      throw CouchError.badRequest("The request's target must be a path.")
    }
    let end = target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.utf8.endIndex
    query = end == target.utf8.endIndex ? "" : String(target[target.utf8.index(after: end)...])
    var segments: [String] = []
    let path = target[..<end].utf8.dropFirst()
    for segment in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      segments.append(try PercentCoding.decode(Substring(segment)))
    }
    hasTrailingSlash = segments.last == ""
    // As at CouchDB, several slashes are one: the URL of a server may end in a slash, to which clients append one.
    self.segments = segments.filter { !$0.isEmpty }
  }
}
