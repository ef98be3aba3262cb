// The declarations of swift-nio-ssl that CDTReplication uses.
public struct TLSConfiguration: Sendable {
  public static func makeClientConfiguration() -> TLSConfiguration { TLSConfiguration() }
  public var certificateChain: [NIOSSLCertificateSource] = []
  public var privateKey: NIOSSLPrivateKeySource?
}

public enum NIOSSLCertificateSource: Hashable, Sendable {
  case file(String)
}

public enum NIOSSLPrivateKeySource: Hashable, Sendable {
  case file(String)
}

public struct NIOSSLExtraError: Error, Equatable {
  public static let failedToValidateHostname = NIOSSLExtraError()
  public static let serverHostnameImpossibleToMatch = NIOSSLExtraError()
}

public enum BoringSSLError: Error, Equatable {
  case eofDuringHandshake
  case sslError([BoringSSLInternalError])
}

public struct BoringSSLInternalError: Hashable, Sendable, CustomStringConvertible {
  public static let eofDuringHandshake = BoringSSLInternalError()
  public var description: String { "" }
}

public enum NIOSSLError: Error, Equatable {
  case handshakeFailed(BoringSSLError)
  case failedToLoadCertificate, failedToLoadPrivateKey, uncleanShutdown, unableToValidateCertificate
  case noSuchFilesystemObject
}
