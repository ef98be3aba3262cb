extension HTTPInterceptor.Request: CustomStringConvertible, CustomReflectable {
  /// The method, the URL and the names of the header fields, without values, which may be secret.
  public var description: String { "\(method) \(url) \(headers.map(\.name))" }

  /// A mirror without children, so that `dump` shows no more than the description.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension HTTPInterceptor.Reply: CustomStringConvertible, CustomReflectable {
  /// The request, the status and the names of the header fields, without values, which may be secret.
  public var description: String { "\(request): \(status) \(headers.map(\.name))" }

  /// A mirror without children, so that `dump` shows no more than the description.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
