import CDTDatastore
import CDTJSON
import CouchDB
import HTTPTypes
import Hummingbird

/// Finds the endpoint of a request.
struct Router: Sendable {
  let exchange: Exchange

  func respond() async throws -> Response {
    let segments = exchange.path.segments
    guard let first = segments.first else { return try ServerEndpoints(exchange: exchange).welcome() }
    if first.hasBytePrefix("_") { return try await ServerEndpoints(exchange: exchange).respond(to: first) }
    let rest = Array(segments.dropFirst())
    if rest.isEmpty, exchange.method == .put {
      return try await DatabaseEndpoints.create(first, exchange)
    }
    let database: Database
    do {
      database = try await exchange.databases.database(named: first)
    } catch let error as CouchError where error == .noDatabase {
      throw exchange.noDatabase
    }
    do {
      return try await respond(rest, database)
    } catch let error as DatastoreError where error.code == .closed {
      // Another user of the datastore has deleted it.
      exchange.databases.forget(database)
      throw exchange.noDatabase
    }
  }

  private func respond(_ rest: [String], _ database: Database) async throws -> Response {
    let exchange = exchange
    let access = DatabaseAccess(database: database, exchange: exchange)
    try access.checkRead()
    guard let first = rest.first else {
      return try await DatabaseEndpoints(exchange: exchange, access: access).respond()
    }
    switch first {
    case "_design" where rest.count > 1:
      return try await document("_design/\(rest[1])", Array(rest.dropFirst(2)), access)
    case "_local":
      // A slash of an id must be encoded, as what follows one is an attachment's name.
      guard rest.count == 2 else { throw CouchError.localAttachment }
      return try await LocalDocumentEndpoint(exchange: exchange, access: access, id: rest[1]).respond()
    case let name where name.hasBytePrefix(LocalDocumentInput.prefix):
      guard rest.count == 1 else { throw CouchError.localAttachment }
      let id = name.afterBytePrefix(LocalDocumentInput.prefix) ?? ""
      return try await LocalDocumentEndpoint(exchange: exchange, access: access, id: id).respond()
    case let name where DocumentID.isDesign(name):
      return try await document(name, Array(rest.dropFirst()), access)
    case let name where name.hasBytePrefix("_"):
      return try await DatabaseRouter(exchange: exchange, access: access).respond(
        to: name, Array(rest.dropFirst()))
    default:
      return try await document(first, Array(rest.dropFirst()), access)
    }
  }

  private func document(_ id: String, _ rest: [String], _ access: DatabaseAccess) async throws -> Response {
    if rest.isEmpty {
      return try await DocumentEndpoint(exchange: exchange, access: access, id: id).respond()
    }
    if DocumentID.isDesign(id), let name = rest.first, name.hasBytePrefix("_") {
      throw CouchError.unsupportedResource(ofDesignDocument: name)
    }
    return try await AttachmentEndpoint(
      exchange: exchange, access: access, id: id, name: rest.joined(separator: "/")
    ).respond()
  }
}

extension CouchError {
  fileprivate static let localAttachment = badRequest("_local documents do not accept attachments.")
}
