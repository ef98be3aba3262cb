import HTTPTypes

// Names that HTTPTypes has no constants for.
extension HTTPField.Name {
  static let contentMD5 = named("Content-MD5")
  static let destination = named("Destination")
  static let host = named("Host")
  static let pragma = named("Pragma")
  static let secFetchSite = named("Sec-Fetch-Site")
  static let xCouchRequestID = named("X-Couch-Request-ID")
  static let xHTTPMethodOverride = named("X-HTTP-Method-Override")
  static let xForwardedHost = named("X-Forwarded-Host")
  static let xForwardedProto = named("X-Forwarded-Proto")
  static let xForwardedSSL = named("X-Forwarded-Ssl")

  /// - Parameter text: A token, as header names are.
  private static func named(_ text: String) -> HTTPField.Name {
    guard let name = HTTPField.Name(text) else { preconditionFailure("\(text) is not the name of a header") }
    return name
  }
}
