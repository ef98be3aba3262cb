// The declarations of swift-nio that CDTReplication uses.
public struct NIOConnectionError: Error {
  public let dnsAError: (any Error)?
}
