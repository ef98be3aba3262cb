public import CDTPlatform

extension HTTPInterceptor.Request: CustomStringConvertible, SecretHolder {
  /// The method, the URL and the names of the header fields, without values, which may be secret.
  public var description: String { "\(method) \(url) \(headers.map(\.name))" }
}

extension HTTPInterceptor.Reply: CustomStringConvertible, SecretHolder {
  /// The request, the status and the names of the header fields, without values, which may be secret.
  public var description: String { "\(request): \(status) \(headers.map(\.name))" }
}
