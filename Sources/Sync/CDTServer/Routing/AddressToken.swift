import CDTDigest
import CDTPlatform
import CouchDB
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// The token in the address that `cdtquery look` prints, and the cookie for which the first browser exchanges it.
///
/// ```
/// GET /_utils/?token=3f…      →  303, Set-Cookie: CDTLook-81…=c0…; the token is used up
/// GET /_all_dbs, the cookie   →  answered
/// GET /_all_dbs               →  401
/// ```
///
/// Other programs of the machine can reach the port too, so every request needs the cookie. Its name is new in each run, as
/// browsers keep cookies by host, and not by port. The cookie is `SameSite=Lax`: `Strict` would not be sent after the redirection if the
/// address is a link in a page of another site, and the token would be used up. Writes of other pages are refused by their origin
/// (`CrossOrigin`).
final class AddressToken: Sendable {
  private let token: [UInt8]
  private let isUsed = Mutex(false)
  private let cookieName = "CDTLook-\(RandomID.digits().prefix(8))"
  private let cookie = Hexadecimal.text(RandomBytes.make(32))

  init(_ token: String) {
    self.token = Array(token.utf8)
  }

  /// Admits a request with the cookie, and exchanges the token.
  ///
  /// - Returns: The reply to the request that brings the token, or to a browser without the cookie; `nil` for those that are admitted.
  /// - Throws: 401 for other requests without the cookie.
  func check(_ context: RequestContext) throws(CouchError) -> Response? {
    let isPage = context.path.segments.first == "_utils"
    let given = isPage && context.method == .get ? context.parameters["token"] : nil
    let isKnown = hasCookie(context.request.headers[values: .cookie])
    if let given {
      if isKnown { return Self.redirection() }
      if redeem(given) {
        return Self.redirection([.setCookie: "\(cookieName)=\(cookie); Path=/; HttpOnly; SameSite=Lax"])
      }
    }
    if isKnown { return nil }
    guard isPage else { throw .noLook }
    return Reply.bytes(
      ByteBuffer(string: CouchError.noLook.reason + "\n"), type: "text/plain; charset=utf-8", .unauthorized)
  }

  /// Whether a token is the one of the address, which is then used up.
  private func redeem(_ given: String) -> Bool {
    guard AuthenticationCode.areEqual(Array(given.utf8), token) else { return false }
    return isUsed.withLock { isUsed in
      defer { isUsed = true }
      return !isUsed
    }
  }

  private func hasCookie(_ headers: [String]) -> Bool {
    let wanted = Array("\(cookieName)=\(cookie)".utf8)
    return headers.joined(separator: ";").utf8.split(separator: UInt8(ascii: ";")).contains { pair in
      AuthenticationCode.areEqual(Array(pair.drop { $0 == 0x20 || $0 == 0x09 }), wanted)
    }
  }

  /// To the page without the token, so that it is not in the history of the browser.
  private static func redirection(_ headers: HTTPFields = [:]) -> Response {
    var headers = headers
    headers[.location] = "/_utils/"
    headers[.referrerPolicy] = "no-referrer"
    headers[.cacheControl] = "no-store"
    return Reply.empty(.seeOther, headers: headers)
  }
}

extension CouchError {
  fileprivate static let noLook = CouchError(
    401, "unauthorized",
    "This address is for the browser that opened it first; run cdtquery look again for another one.")
}
