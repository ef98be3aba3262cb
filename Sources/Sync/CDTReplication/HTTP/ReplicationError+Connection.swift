import AsyncHTTPClient
import CDTJSON
import CDTPlatform
package import CouchDB
import NIOCore
import NIOPosix
import NIOSSL

extension ReplicationError {
  /// An error of the connection. It may not occur again, unless the other end is not trusted.
  init(connection error: any Error, _ request: String) {
    if let problem = Self.trustProblem(error) {
      self.init(.untrusted, "\(request): \(problem)")
      return
    }
    let reason: String
    var isSilence = false
    switch error {
    case let error as HTTPClientError where error == .connectTimeout: reason = "the server does not answer"
    case let error as HTTPClientError where error == .readTimeout:
      reason = "the server has stopped answering"
      isSilence = true
    case is UploadStalled: reason = "the server has stopped reading"
    case let error as HTTPClientError where error == .remoteConnectionClosed:
      reason = "the server closed the connection"
    case let error as ChannelError where error == .ioOnClosedChannel:
      reason = "the connection was closed while the request was sent"
    case let error as IOError: reason = "\(SystemError(error.errnoCode))"
    case let error as NIOConnectionError where error.dnsAError != nil: reason = "the host is unknown"
    case is NIOConnectionError: reason = "the server can't be connected to"
    default: reason = "\(error)"
    }
    self.init(.unreachable, "\(request): \(reason)", isTransient: true, isSilence: isSilence)
  }

  /// The reason why the ends of a connection don't trust each other; `nil` if the connection only failed.
  private static func trustProblem(_ error: any Error) -> String? {
    switch error {
    case let error as NIOSSLExtraError
    where [.failedToValidateHostname, .serverHostnameImpossibleToMatch].contains(error):
      "the server's certificate is for another host name"
    case NIOSSLError.handshakeFailed(.sslError([.eofDuringHandshake])): nil
    case NIOSSLError.handshakeFailed(let failure): trustProblem(in: failure) ?? "TLS can't begin: \(failure)"
    case NIOSSLError.failedToLoadCertificate, NIOSSLError.failedToLoadPrivateKey,
      NIOSSLError.noSuchFilesystemObject:
      "a certificate or a key in the settings of TLS can't be read"
    case let failure as BoringSSLError: trustProblem(in: failure)
    default: nil
    }
  }

  private static func trustProblem(in failure: BoringSSLError) -> String? {
    let text = "\(failure)"
    if text.contains("CERTIFICATE_VERIFY_FAILED") {
      return "the server's certificate is not signed by a trusted authority"
    }
    if text.contains("WRONG_VERSION_NUMBER") { return "the server does not speak TLS at this port" }
    // The server's reason: it needs a certificate, or does not know the authority of the client's.
    let isAlert = text.contains("ALERT") && (text.contains("CERTIFICATE") || text.contains("UNKNOWN_CA"))
    return isAlert ? "the server does not accept the client's certificate, or asks for one" : nil
  }

  /// An error that the server sent.
  package init(_ error: CouchError, _ request: String, pause: Duration?) {
    let code: Code =
      switch error.status {
      case 401: .unauthorized
      case 403: .forbidden
      case 404: .notFound
      // The server can't do it, or does not speak this version of HTTP.
      case 501, 505: .refused
      case 408, 429, 500...: .unreachable
      default: .refused
      }
    let reason = error.reason.isEmpty ? error.error : "\(error.error): \(error.reason)"
    self.init(
      code, "\(request): the server answers \(error.status)\(reason.isEmpty ? "" : ", \(reason)")",
      status: error.status, isTransient: code == .unreachable, pause: pause)
  }
}

extension CouchError {
  /// An error in a reply, without what the client keeps secret, which a server may repeat.
  init(_ status: Int, _ json: JSONValue, hiding secrets: [String]) {
    func text(_ name: String) -> String {
      let text = secrets.reduce(json[name]?.stringValue ?? "") { text, secret in
        secret.isEmpty ? text : text.replacing(secret, with: "…")
      }
      return text.utf8.count <= Self.maximumLength ? text : "\(text.prefix(Self.maximumLength))…"
    }
    self.init(status, text("error"), text("reason"))
  }

  /// People read it, and many may be listed.
  private static let maximumLength = 1_000
}
