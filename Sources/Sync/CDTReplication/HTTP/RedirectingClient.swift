import AsyncHTTPClient
import CDTPlatform
import NIOCore
import NIOHTTP1
import NIOSSL

/// Sends requests, and follows redirects without taking secrets to another origin: another scheme, host or port.
///
/// The client of AsyncHTTPClient removes only some header fields, and sends a body that is a login to any host.
struct RedirectingClient: Sendable {
  private let client: HTTPClient
  /// The settings of TLS without the certificate of the client.
  private let anonymous: TLSConfiguration?
  private let permitsHost: (@Sendable (String, Int) -> Bool)?

  private static let maximumRedirects = 5

  init(_ client: HTTPClient, for database: RemoteDatabase) {
    self.client = client
    permitsHost = database.permitsHost
    anonymous = database.tls.map { tls in
      var tls = tls
      (tls.certificateChain, tls.privateKey) = ([], nil)
      return tls
    }
  }

  /// The answer to a request.
  struct Answer: Sendable {
    let response: HTTPClientResponse
    /// Whether it comes from another origin than the one that was asked.
    let isForeign: Bool
  }

  /// Sends a request, and follows at most five redirects. The method and the body stay as they are, except after a 303.
  ///
  /// - Parameter publicFields: The header fields for another origin; `nil` if it must not get the request. Then the
  ///   answer is the redirect, as it is for one from TLS to plain HTTP.
  func execute(_ request: HTTPClientRequest, elsewhere publicFields: HTTPHeaders?) async throws -> Answer {
    var request = request
    var isForeign = false
    for _ in 0..<Self.maximumRedirects {
      let response = try await send(request)
      guard let target = Redirect(response, from: request.url) else {
        return Answer(response: response, isForeign: isForeign)
      }
      if !target.staysAtOrigin {
        guard let publicFields, !target.leavesTLS else {
          return Answer(response: response, isForeign: isForeign)
        }
        isForeign = true
        request.headers = publicFields
        request.tlsConfiguration = anonymous
      }
      request.url = target.url
      if response.status == .seeOther, request.method != .HEAD {
        request.method = .GET
        request.body = nil
        request.headers.remove(name: "Content-Type")
      }
    }
    return Answer(response: try await send(request), isForeign: isForeign)
  }

  private func send(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
    guard RemoteDatabase.isPermitted(request.url, permitsHost) else {
      throw ReplicationError(
        .forbidden,
        "\(request.method) \(request.url.prefix { $0 != "?" }): connections to this host are not allowed")
    }
    // Reading has a time limit of its own.
    return try await client.execute(request, deadline: .distantFuture)
  }
}

/// The target of a redirect.
private struct Redirect {
  let url: String
  let staysAtOrigin: Bool
  /// Whether what TLS protects would be sent without it.
  let leavesTLS: Bool

  /// - Returns: `nil` if the response is not a redirect that can be followed.
  init?(_ response: HTTPClientResponse, from old: String) {
    guard [301, 302, 303, 307, 308].contains(response.status.code),
      let location = response.headers.first(name: "Location"), let base = URL(string: old),
      let target = URL(string: location, relativeTo: base)?.absoluteURL,
      let from = URLComponents(string: old),
      var parts = URLComponents(string: target.absoluteString), parts.hasServer,
      let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme)
    else { return nil }
    // Credentials of the server's choice.
    if parts.user != nil || parts.password != nil { (parts.user, parts.password) = (nil, nil) }
    guard let url = parts.string else { return nil }
    self.url = url
    staysAtOrigin = Origin(parts) == Origin(from)
    leavesTLS = from.scheme?.lowercased() == "https" && scheme == "http"
  }
}

private struct Origin: Hashable {
  private let scheme, host: String?
  private let port: Int

  init(_ url: URLComponents) {
    (scheme, host) = (url.scheme?.lowercased(), url.host?.lowercased())
    port = url.port ?? (scheme == "https" ? 443 : 80)
  }
}
