import CDTDatastore
import CDTJSON
import CouchDB
import HTTPTypes
import Hummingbird
import NIOCore

/// What replicators ask for before they send revisions: which of them are missing.
struct RevisionsEndpoint: Sendable {
  let exchange: Exchange
  let access: DatabaseAccess

  /// `_revs_diff`
  func differences() async throws -> Response {
    let missing = try await self.missingRevisions()
    return Reply.json(
      JSONObject(
        missing.map { found in
          var entry: JSONObject = ["missing": .array(found.missing.map { .string($0.description) })]
          if !found.ancestors.isEmpty {
            entry["possible_ancestors"] = .array(found.ancestors.map { .string($0.description) })
          }
          return (found.id, .object(entry))
        }))
  }

  /// `_missing_revs`
  func missing() async throws -> Response {
    let missing = try await self.missingRevisions()
    let entries = missing.map { ($0.id, JSONValue.array($0.missing.map { .string($0.description) })) }
    return Reply.json(["missing_revs": .object(JSONObject(entries))])
  }

  private func missingRevisions() async throws -> [RevisionDifference] {
    guard exchange.method == .post else { throw exchange.methodNotAllowed("POST") }
    let asked = try RevisionsDiffRequest(members: try await exchange.jsonBody().members()).entries
    var found: [RevisionDifference] = []
    for start in stride(from: 0, to: asked.count, by: 500) {
      let page = Array(asked[start..<min(asked.count, start + 500)])
      found += try await access.database.store.read { transaction in
        try page.compactMap { try transaction.revisionDifference(of: $0.id, among: $0.revisions) }
      }
    }
    return found
  }
}

extension ByteBuffer {
  /// The members of an object, whose names may be repeated.
  fileprivate func members() throws(CouchError) -> [JSONObject.Member] {
    try withUnsafeReadableBytes { bytes throws(CouchError) in
      do throws(JSONError) {
        return try JSONObject.members(parsing: bytes)
      } catch {
        guard error.code == .notAnObject else { throw .invalidJSON(error) }
        throw .badRequest("Request body must be a JSON object")
      }
    }
  }
}
