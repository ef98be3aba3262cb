import CouchDB
import HTTPTypes
import Hummingbird

/// What holds for every request before anything else is looked at: its host, and the origin of the page that sends it.
struct RequestRules: Sendable {
  private let hosts: HostCheck
  private let origins: CrossOrigin
  private let isSecure: Bool

  init(_ configuration: ServerConfiguration) throws {
    isSecure = configuration.tls != nil
    origins = try Self.origins(configuration)
    hosts = try HostCheck(names: configuration.hostNames.sorted(), listeningOn: [configuration.host])
    try Exposure(
      address: configuration.host, hasUsers: configuration.usersFile != nil, hasTLS: isSecure,
      allowsAnyOrigin: origins.allowsAnyOrigin, isInsecure: configuration.isInsecure
    ).check()
  }

  static func origins(_ configuration: ServerConfiguration) throws -> CrossOrigin {
    configuration.origins.isEmpty ? .off : try CrossOrigin(origins: configuration.origins.sorted())
  }

  /// Refuses what is not allowed.
  ///
  /// - Returns: The reply to a preflight of a browser; `nil` for other requests.
  func check(_ request: Request) throws -> Response? {
    let host = try hosts.check([request.head.authority].compactMap(\.self) + request.headers[values: .host])
    let origin = request.headers[.origin]
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
