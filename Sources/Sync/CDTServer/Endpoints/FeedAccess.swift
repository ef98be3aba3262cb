import CDTDatastore
import CouchDB
import HTTPTypes

/// The right of a client to a feed, which ends the feed when it is lost.
///
/// A feed is opened with the rights of a moment. While it lasts, it is compared with the users, and with the access rules of the
/// database, as they are now.
struct FeedAccess: Sendable {
  private let context: RequestContext
  private let stamp: String?
  private var checked = ContinuousClock.now

  /// Without users, nobody can lose the right.
  private var interval: Duration { context.server.hasUsers ? .milliseconds(700) : .seconds(3_600) }

  init(_ context: RequestContext) async throws {
    self.context = context
    stamp = try await context.credentialStamp()
  }

  /// The time at which it is to be checked again.
  var nextCheck: ContinuousClock.Instant { checked + interval }

  /// Throws the error of a new request, or ``CouchDB/CouchError/accessChanged`` if it would have other rights. Between two checks, a call
  /// does nothing.
  mutating func check() async throws {
    guard nextCheck <= .now else { return }
    checked = .now
    guard let stamp = try await context.credentialStamp() else { throw CouchError.accessEnded }
    guard stamp == self.stamp else { throw CouchError.accessChanged }
    do {
      try await context.checkAccess()
    } catch let error as DatastoreError where error.code == .closed {
      // The feed notices that the database was deleted, and ends in its own way.
    }
  }
}

extension RequestContext {
  fileprivate func credentialStamp() async throws(CouchError) -> String? {
    try await server.authenticator.stamp(of: sender, cookies: request.headers[values: .cookie])
  }
}

extension CouchError {
  static let accessEnded = CouchError(
    401, "unauthorized", "Your account, password or session is not valid any more; log in again.")

  static let accessChanged = CouchError(
    403, "access_changed",
    "Your password, your roles or the access rules of the database have changed; connect again.")

  static let rulesChanged = CouchError(
    403, "rules_changed", "The rules that decide which documents you see have changed; connect again.")
}
