package import CDTDatastore
package import CDTGzip
package import CDTJSON

/// An error as CouchDB sends it: a status, and `{"error": …, "reason": …}` as the body.
package struct CouchError: Error, Sendable, Hashable {
  /// The HTTP status.
  package let status: Int
  /// The kind of error in CouchDB's word, such as `not_found`.
  package let error: String
  /// The reason, for people: at most 1,000 characters, although it may quote megabytes that a client has sent.
  package let reason: String
  /// The parts of rules that do not hold.
  package private(set) var failures: [RuleFailure] = []
  /// The methods of the resource, if the status is 405.
  ///
  /// It is the last member because the array must not be: the optimizer of Swift 6.3 merges the store of a last pointer with that of
  /// an error, and crashes (`make server`).
  package private(set) var allowedMethods: String?

  /// Creates an error.
  ///
  /// - Parameter reason: If it is too long, the middle is left out: reasons end in the remedy.
  package init(_ status: Int, _ error: String, _ reason: String) {
    self.status = status
    self.error = error
    self.reason = reason.boundedMessage
  }

  /// The error of a method that a resource does not have.
  ///
  /// - Parameter allowed: The methods that it has, such as `GET,HEAD`.
  package static func methodNotAllowed(_ allowed: String) -> CouchError {
    var error = CouchError(405, "method_not_allowed", "Only \(allowed) allowed")
    error.allowedMethods = allowed
    return error
  }

  /// The error of a write that a rule refuses.
  package init(_ violation: RuleViolation) {
    self.init(violation.isUnauthorized ? 401 : 403, violation.error, violation.reason)
    failures = violation.failures
  }

  /// The body of the reply.
  package var json: JSONObject {
    var json: JSONObject = ["error": .string(error), "reason": .string(reason)]
    if !failures.isEmpty { json["failures"] = .array(failures.map { .object($0.json) }) }
    return json
  }

  /// The error as that of one document of a request that names several.
  package func row(id: String, revision: String?) -> JSONObject {
    var row: JSONObject = ["id": .string(id)]
    if let revision { row["rev"] = .string(revision) }
    for (name, value) in json { row[name] = value }
    return row
  }

  /// An error of a datastore in CouchDB's words.
  package init(_ error: DatastoreError) {
    switch error.code {
    case .notFound: self.init(404, "not_found", error.message)
    case .conflict: self = .conflict
    case .invalidID: self.init(400, "illegal_docid", error.message)
    case .reservedKey: self.init(400, "doc_validation", error.message)
    case .invalidName: self.init(400, "illegal_database_name", error.message)
    case .busy, .timedOut, .suspended, .protected: self.init(503, "service_unavailable", error.message)
    case .full: self.init(507, "insufficient_storage", error.message)
    case let code where error.status == 400:
      self.init(400, "bad_request", code == .missingBody ? "document must have a body" : error.message)
    default: self.init(500, "internal_server_error", error.message)
    }
  }
}

extension CouchError: CustomStringConvertible {
  /// The kind of error and what is wrong.
  package var description: String { "\(error): \(reason)" }
}

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
