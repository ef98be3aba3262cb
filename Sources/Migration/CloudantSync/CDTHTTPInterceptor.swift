#if Replication
  public import CDTPlatform
  public import CDTReplication

  /// CDTDatastore's form of an `HTTPInterceptor`.
  @available(*, deprecated, message: "use HTTPInterceptor")
  public protocol CDTHTTPInterceptor: Sendable {
    /// Sees and changes a request before it is sent.
    func interceptRequest(in context: CDTHTTPInterceptorContext) async -> CDTHTTPInterceptorContext
    /// Sees the head of a reply.
    func interceptResponse(in context: CDTHTTPInterceptorContext) async -> CDTHTTPInterceptorContext
    /// The credentials that the interceptor stands for.
    var credentials: Credentials? { get }
  }

  @available(*, deprecated, message: "use HTTPInterceptor")
  extension CDTHTTPInterceptor {
    /// Returns the context unchanged.
    public func interceptRequest(in context: CDTHTTPInterceptorContext) async -> CDTHTTPInterceptorContext {
      context
    }
    /// Returns the context unchanged.
    public func interceptResponse(in context: CDTHTTPInterceptorContext) async -> CDTHTTPInterceptorContext {
      context
    }
    /// `nil`.
    public var credentials: Credentials? { nil }
  }

  /// The context of a request or a reply that an interceptor sees.
  @available(*, deprecated, message: "use HTTPInterceptor")
  public struct CDTHTTPInterceptorContext: Sendable {
    /// The request.
    public var request: HTTPInterceptor.Request
    /// The head of the reply; `nil` before it has arrived.
    public var response: HTTPInterceptor.Reply?
    /// Whether to send the request again.
    public var shouldRetry = false
  }

  @available(*, deprecated, message: "use HTTPInterceptor")
  extension HTTPInterceptor {
    init(_ interceptor: any CDTHTTPInterceptor) {
      self.init(
        request: { request in
          request = await interceptor.interceptRequest(in: CDTHTTPInterceptorContext(request: request))
            .request
        },
        reply: { reply in
          let context = CDTHTTPInterceptorContext(request: reply.request, response: reply)
          let changed = await interceptor.interceptResponse(in: context)
          reply = changed.response ?? reply
          if changed.shouldRetry { reply.sendsAgain = true }
        })
    }
  }

  /// Exchanges a name and a password for a session cookie, which every replication with a name and a password now does.
  @available(*, deprecated, message: "use Credentials.session")
  public struct CDTSessionCookieInterceptor: CDTHTTPInterceptor {
    private let name: String
    private let password: String

    /// Creates the interceptor.
    public init(username: String, password: String) {
      (name, self.password) = (username, password)
    }

    /// The name and the password.
    public var credentials: Credentials? { .session(name, password) }
  }

  /// Exchanges an API key of IBM Cloud for a token, which every replication with an API key now does.
  @available(*, deprecated, message: "use Credentials.iam")
  public struct CDTIAMSessionCookieInterceptor: CDTHTTPInterceptor {
    private let key: String

    /// Creates the interceptor.
    public init(apiKey: String) {
      key = apiKey
    }

    /// The API key.
    public var credentials: Credentials? { .iam(apiKey: key) }
  }

  /// Waits when a server asks for fewer requests, which every replication now does.
  @available(*, deprecated, message: "see Replication.retries")
  public struct CDTReplay429Interceptor: CDTHTTPInterceptor {
    /// Creates the interceptor.
    public init() {}
  }

  @available(*, deprecated, message: "use Credentials.session")
  extension CDTSessionCookieInterceptor: CustomStringConvertible, SecretHolder {
    /// A description without secrets.
    public var description: String { "CDTSessionCookieInterceptor" }
  }

  @available(*, deprecated, message: "use Credentials.iam")
  extension CDTIAMSessionCookieInterceptor: CustomStringConvertible, SecretHolder {
    /// A description without secrets.
    public var description: String { "CDTIAMSessionCookieInterceptor" }
  }
#endif
