import CDTQuery
import Foundation
import Hummingbird

/// The requests of the service, in the manner of CouchDB:
///
/// | | |
/// |---|---|
/// | `GET /documents/ID` | a document, with `_id` and `_rev` |
/// | `POST /documents` | creates a document; the body is a JSON object, and may have an `_id` |
/// | `PUT /documents/ID` | replaces the body of a document; the object has the `_rev` that was read |
/// | `DELETE /documents/ID?rev=REV` | deletes a document |
/// | `POST /query` | `{"selector": …, "sort": …, "fields": …, "skip": …, "limit": …}` |
struct DocumentRoutes {
  typealias Context = BasicRequestContext

  let store: Datastore

  /// The most that a request may bring.
  private static let maximumLength = 1_000_000
  /// The most documents that an answer has.
  private static let maximumResults = 1_000

  var router: Router<Context> {
    let router = Router(context: Context.self)
    router.add(middleware: StoreErrors())
    router.get("documents/:id", use: document)
    router.post("documents", use: create)
    router.put("documents/:id", use: replace)
    router.delete("documents/:id", use: delete)
    router.post("query", use: query)
    return router
  }

  @Sendable private func document(_ request: Request, context: Context) async throws -> Response {
    // The text goes out as it is stored, and no value is made of it.
    .json(try await store.read { try $0.documentText(withID: context.id) })
  }

  @Sendable private func create(_ request: Request, context: Context) async throws -> Response {
    var body = try await object(in: request)
    let id = body.removeValue(forKey: "_id")?.stringValue
    let created = try await store.createDocument(from: DocumentDraft(id: id, body: body))
    return .json(created.summary, status: .created)
  }

  @Sendable private func replace(_ request: Request, context: Context) async throws -> Response {
    var body = try await object(in: request)
    body["_id"] = nil
    let rev = body.removeValue(forKey: "_rev")?.stringValue
    let (id, revisionID) = (try context.id, try revisionID(rev))
    let updated = try await store.write { [body] in
      try $0.updateDocument(withID: id, revisionID: revisionID, body: body)
    }
    return .json(updated.summary)
  }

  @Sendable private func delete(_ request: Request, context: Context) async throws -> Response {
    let (id, revisionID) = try (
      context.id, revisionID(request.uri.queryParameters["rev"].map(String.init))
    )
    let deleted = try await store.write { transaction in
      try transaction.deleteDocument(from: transaction.document(withID: id, revisionID: revisionID))
    }
    return .json(deleted.summary)
  }

  @Sendable private func query(_ request: Request, context: Context) async throws -> Response {
    var query = try Query(request: await object(in: request))
    // A stranger asks, so the query is bounded.
    query.limit = min(query.limit ?? Self.maximumResults, Self.maximumResults)
    query.timeLimit = .seconds(5)
    let documents = try await store.read { [query] in try $0.find(query) }
    return .json(["documents": .array(documents.map { .object($0.json) })])
  }

  /// The JSON object that a request brings.
  private func object(in request: Request) async throws -> JSONObject {
    let buffer = try await request.body.collect(upTo: Self.maximumLength)
    do {
      return try buffer.withUnsafeReadableBytes { try JSONObject(parsing: $0) }
    } catch let error as JSONError {
      throw HTTPError(.badRequest, message: error.description)
    }
  }

  private func revisionID(_ text: String?) throws -> RevisionID {
    guard let revisionID = text.flatMap({ RevisionID($0) }) else {
      throw HTTPError(.badRequest, message: "give the revision that you have read")
    }
    return revisionID
  }
}

extension BasicRequestContext {
  /// The id in the request's path.
  fileprivate var id: String {
    get throws {
      let text = try parameters.require("id")
      return text.removingPercentEncoding ?? text
    }
  }
}

extension DocumentRevision {
  /// The reply to a change: the document's id and its new revision.
  fileprivate var summary: JSONObject { ["id": .string(id), "rev": .string(revisionID.description)] }
}
