// The declarations of async-http-client that CDTReplication uses.
public import NIOCore
public import NIOHTTP1
public import NIOSSL

public final class HTTPClient: Sendable {
  public enum EventLoopGroupProvider {
    case singleton
  }

  public struct Configuration {
    public struct Timeout {
      public var connect, read, write: TimeAmount?
    }

    public struct ConnectionPool {
      public var idleTimeout = TimeAmount(.zero)
      public var concurrentHTTP1ConnectionsPerHostSoftLimit = 8
      public var retryConnectionEstablishment = true
    }

    public struct RedirectConfiguration: Sendable {
      public static let disallow = RedirectConfiguration()
    }

    public enum Decompression {
      case disabled
    }

    public enum HTTPVersion {
      case http1Only
    }

    public init() {}
    public var tlsConfiguration: TLSConfiguration?
    public var redirectConfiguration = RedirectConfiguration.disallow
    public var timeout = Timeout()
    public var connectionPool = ConnectionPool()
    public var decompression = Decompression.disabled
    public var httpVersion = HTTPVersion.http1Only
  }

  public init(eventLoopGroupProvider: EventLoopGroupProvider, configuration: Configuration) {}
  public func shutdown(_ callback: @Sendable @escaping ((any Error)?) -> Void) {}
  public func shutdown() async throws {}
  public func execute(_ request: HTTPClientRequest, deadline: NIODeadline) async throws -> HTTPClientResponse {
    HTTPClientResponse()
  }
}

public struct HTTPClientRequest: Sendable {
  public struct Body: Sendable {
    public enum Length: Sendable {
      case unknown
      case known(Int64)
    }

    public static func bytes(_ buffer: ByteBuffer) -> Body { Body() }
    public static func stream<S: AsyncSequence & Sendable>(_ body: S, length: Length) -> Body where S.Element == ByteBuffer {
      Body()
    }
  }

  public init(url: String) { self.url = url }
  public var url: String
  public var method = HTTPMethod.GET
  public var headers = HTTPHeaders()
  public var body: Body?
  public var tlsConfiguration: TLSConfiguration?
}

public struct HTTPClientResponse: Sendable {
  public struct Body: AsyncSequence, Sendable {
    public struct AsyncIterator: AsyncIteratorProtocol {
      public mutating func next() async throws -> ByteBuffer? { nil }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
  }

  public var status = HTTPResponseStatus.ok
  public var headers = HTTPHeaders()
  public var body = Body()
}

public struct HTTPClientError: Error, Equatable {
  public static let connectTimeout = HTTPClientError()
  public static let readTimeout = HTTPClientError()
  public static let writeTimeout = HTTPClientError()
  public static let remoteConnectionClosed = HTTPClientError()
  public static let cancelled = HTTPClientError()
}
