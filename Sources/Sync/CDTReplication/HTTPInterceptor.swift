/// Closures that see and can change each request to a server, and the head of each reply.
///
/// ```swift
/// database.interceptors = [HTTPInterceptor { $0.headers.append((name: "X-App", value: "tasks")) }]
/// ```
///
/// An error thrown by a closure ends the replication. See <doc:ReplicatingStores>.
public struct HTTPInterceptor: Sendable {
  /// A request, as an interceptor sees it.
  public struct Request: Sendable {
    /// The method, such as `GET`.
    public let method: String
    /// The URL.
    public let url: String
    /// The header fields in the order in which they are sent. They may have credentials.
    public var headers: [(name: String, value: String)]
  }

  /// The head of a reply, as an interceptor sees it.
  public struct Reply: Sendable {
    /// The request as it was sent.
    public let request: Request
    /// The status, such as 200.
    public var status: Int
    /// The header fields.
    public var headers: [(name: String, value: String)]
    /// Set it to send the request again, through all interceptors: after you have fetched a new token, for example. A
    /// request is sent at most five times.
    public var sendsAgain = false
  }

  let request: @Sendable (inout Request) async throws -> Void
  let reply: @Sendable (inout Reply) async throws -> Void

  /// Creates an interceptor.
  ///
  /// - Parameters:
  ///   - request: Called before a request is sent.
  ///   - reply: Called when the head of its reply has arrived.
  public init(
    request: @escaping @Sendable (inout Request) async throws -> Void = { _ in },
    reply: @escaping @Sendable (inout Reply) async throws -> Void = { _ in }
  ) {
    (self.request, self.reply) = (request, reply)
  }
}
