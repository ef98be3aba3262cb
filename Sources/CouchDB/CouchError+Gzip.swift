package import CDTGzip

extension CouchError {
  /// The error of a gzip stream in a request.
  package init(_ error: GzipError) {
    switch error {
    case .corrupt, .truncated: self = .badRequest(error.description)
    case .tooLarge: self.init(413, "too_large", error.description)
    case .outOfMemory: self.init(503, "service_unavailable", error.description)
    }
  }
}
