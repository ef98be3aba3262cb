import CDTDatastore
import CouchDB
import HTTPTypes
import Hummingbird

/// A method of a resource, the clients that may use it, and the function that answers.
///
/// The pattern of a path is written as in `docs/openapi.yaml`:
///
/// ```
/// /{db}/_index/{ddoc}/{type}/{name}     a name in braces is any part of a path
/// /{db}/{id}/{attachment}               {attachment} is the rest of the path
/// ```
///
/// The parts of a path are decoded before they are compared, so `/db/_design/a` and `/db/_design%2Fa` name one document, whose
/// id is one part.
package struct Route: Sendable {
  typealias Answer = @Sendable (RequestContext) async throws -> Response

  /// The clients that may use a route. Of a database's routes, all are for its readers.
  enum Access: Sendable {
    case everyone
    case serverAdmin
    /// Server admins, and with the parameter `readable` everyone, for the databases that the client may read.
    case reader
    /// Server admins, and users with the role `_metrics`.
    case metrics
    /// The clients that may change documents, and the document that the path names.
    case writer
    /// The clients that may change the settings of the database.
    case admin
  }

  let method: HTTPRequest.Method
  let pattern: String
  let access: Access
  let answer: Answer
  private let parts: [Part]
  private let hasRest: Bool

  private enum Part {
    case literal(String)
    case name(String)
    case localDocument, designDocument

    func accepts(_ text: String) -> Bool {
      switch self {
      case .literal(let literal): literal.hasSameBytes(as: text)
      case .name("db"): Databases.isName(text)
      case .name("id"): !text.hasBytePrefix("_") || DocumentID.isDesign(text)
      case .name: true
      case .localDocument: text.hasBytePrefix(LocalDocumentInput.prefix)
      case .designDocument: DocumentID.isDesign(text)
      }
    }
  }

  init(
    _ method: HTTPRequest.Method, _ pattern: String, _ access: Access = .everyone, _ answer: @escaping Answer
  ) {
    self.method = method
    self.pattern = pattern
    self.access = access
    self.answer = answer
    parts = Self.joined(pattern.split(separator: "/").map(String.init)).map { part in
      if part == "\(LocalDocumentInput.prefix){id}" { return .localDocument }
      if part == "\(DocumentID.designPrefix){ddoc}" { return .designDocument }
      return part.hasPrefix("{") ? .name(String(part.dropFirst().dropLast())) : .literal(part)
    }
    hasRest = pattern.hasSuffix("{attachment}")
  }

  /// The parts of a path in which the id of a design document or a local document is one part.
  static func joined(_ path: [String]) -> [String] {
    guard path.count > 2, Databases.isName(path[0]), ["_design", "_local"].contains(path[1]) else {
      return path
    }
    return [path[0], "\(path[1])/\(path[2])"] + path[3...]
  }

  /// Whether a path has the pattern of the route.
  ///
  /// - Parameter path: The parts of the path, ``joined(_:)``.
  func accepts(_ path: [String]) -> Bool {
    (path.count == parts.count || hasRest && path.count > parts.count)
      && zip(parts, path).allSatisfy { $0.accepts($1) }
      // A name after a design document may be a function of it.
      && (!hasRest || !DocumentID.isDesign(path[1]) || !path[2].hasBytePrefix("_"))
  }

  /// The names in a path that the route accepts.
  func names(in path: [String]) -> [String: String] {
    var names: [String: String] = [:]
    for (part, text) in zip(parts, path) {
      switch part {
      case .literal: break
      case .name(let name): names[name] = text
      case .localDocument: names["local"] = text.afterBytePrefix(LocalDocumentInput.prefix).map { String($0) }
      case .designDocument: names["ddoc"] = text
      }
    }
    if hasRest { names["attachment"] = path[2...].joined(separator: "/") }
    return names
  }

  /// Throws unless the client may use the route.
  func check(_ context: RequestContext) throws {
    switch access {
    case .everyone: break
    case .serverAdmin: try context.identity.checkServerAdmin()
    case .reader: if !context.parameters.flag("readable") { try context.identity.checkServerAdmin() }
    case .metrics: try context.identity.checkMetrics()
    case .writer:
      try context.checkWritable()
      try context.checkDesign(context.documentID)
    case .admin:
      try context.checkWritable()
      try context.security().checkAdmin(context.identity)
    }
  }
}

extension RequestContext {
  /// Finds the route of the request, and answers.
  func respond() async throws -> Response {
    do {
      return try await respondOnce()
    } catch let error as DatastoreError where error.code == .closed {
      // Another user of the datastore has deleted it, and may have made another datastore.
      do {
        _ = try await databases.database(named: names["db"] ?? path.segments.first ?? "")
      } catch let error as CouchError where error == .noDatabase {
        throw noDatabase
      }
      guard [.get, .head].contains(method) else { throw CouchError.databaseReplaced }
      return try await respondOnce()
    }
  }

  private func respondOnce() async throws -> Response {
    let parts = Route.joined(path.segments)
    let wanted: HTTPRequest.Method = method == .head ? .get : method
    let routes = Route.all.filter { $0.accepts(parts) }
    let found = routes.first { $0.method == wanted }
    var context = self
    context.names = (found ?? routes.first)?.names(in: parts) ?? [:]
    var used: OpenDatabase?
    // The name of a database that does not exist yet.
    if let name = parts.first, Databases.isName(name), !(parts.count == 1 && method == .put) {
      let database: OpenDatabase
      do {
        database = try await databases.database(named: name)
      } catch let error as CouchError where error == .noDatabase {
        guard Databases.isReplicator(name), identity.isAdmin, !server.configuration.isReadOnly else {
          throw noDatabase
        }
        database = try await databases.databaseOrNew(named: name)
      }
      try await context.use(database)
      followReplicator(database)
      used = database
    }
    guard let route = found else {
      guard routes.isEmpty else { throw Route.methodNotAllowed(routes.map(\.method)) }
      throw noResource(parts)
    }
    try route.check(context)
    do {
      return try await route.answer(context)
    } catch let error as DatastoreError where error.code == .closed {
      if let used { databases.forget(used) }
      throw error
    }
  }

  /// The error for a path without a resource.
  private func noResource(_ parts: [String]) -> CouchError {
    let isPut = method == .put
    guard parts.count > 1, let first = parts.first, Databases.isName(first) else {
      if let error = CouchError.unsupportedResource(ofServer: parts) { return error }
      guard isPut, parts.count == 1 else { return .noDatabase }
      return CouchError(
        400, "illegal_database_name",
        "Name: '\(parts[0].prefix(100))'. No database of this server begins with _.")
    }
    // A slash of an id must be encoded, as what follows one is an attachment's name.
    if parts[1] == "_local" || parts[1].hasBytePrefix(LocalDocumentInput.prefix) {
      return .badRequest("_local documents do not accept attachments.")
    }
    if DocumentID.isDesign(parts[1]), parts.count > 2 {
      return .unsupportedResource(ofDesignDocument: parts[2])
    }
    if let error = CouchError.unsupportedResource(ofDatabase: parts[1]) { return error }
    // As at CouchDB, it would be a document, which can't be created.
    return isPut
      ? CouchError(400, "illegal_docid", "Only reserved document ids may start with underscore.") : .missing
  }
}

extension Route {
  /// The methods and paths of all routes, such as `GET /{db}`.
  package static var list: [String] { all.map { "\($0.method) \($0.pattern)" } }

  fileprivate static func methodNotAllowed(_ allowed: [HTTPRequest.Method]) -> CouchError {
    let names = Set(allowed.flatMap { $0 == .get ? ["GET", "HEAD"] : [$0.rawValue] })
    return .methodNotAllowed(names.sorted().joined(separator: ","))
  }
}

extension HTTPRequest.Method {
  static var copy: HTTPRequest.Method { HTTPRequest.Method("COPY") ?? .put }
}

extension CouchError {
  static let databaseReplaced = CouchError(
    503, "service_unavailable", "The database was replaced during the request; send it again.")
}

extension Route {
  /// Every resource of the server. A test compares the table with `docs/openapi.yaml`.
  static let all = replications + others

  /// The routes of every build.
  private static let others: [Route] = [
    Route(.get, "/") { $0.welcome() },
    Route(.get, "/_up") { try await $0.up() },
    Route(.get, "/_uuids") { try $0.uuids() },
    Route(.get, "/_utils") { try $0.page() },
    Route(.get, "/_utils/{file}") { try $0.pageFile() },
    Route(.get, "/_session") { try $0.session() },
    Route(.post, "/_session") { try await $0.beginSession() },
    Route(.delete, "/_session") { try $0.endSession() },
    Route(.get, "/_users") { try await $0.usersInfo() },
    Route(.put, "/_users") { try await $0.createUsers() },
    Route(.post, "/_users") { try await $0.postUser() },
    Route(.get, "/_users/_all_docs") { try await $0.allUsers() },
    Route(.post, "/_users/_all_docs") { try await $0.allUsers() },
    Route(.get, "/_users/{user}") { try await $0.userDocument() },
    Route(.put, "/_users/{user}") { try await $0.putUser() },
    Route(.delete, "/_users/{user}") { try await $0.deleteUser() },
    Route(.get, "/_all_dbs", .serverAdmin) { try await $0.databaseNames() },
    Route(.get, "/_dbs_info", .reader) { try await $0.databasesInfo() },
    Route(.post, "/_dbs_info", .serverAdmin) { try await $0.databasesInfo() },
    Route(.post, "/_import") { try await $0.previewImport() },
    Route(.get, "/_active_tasks", .serverAdmin) { $0.activeTasks() },
    Route(.get, "/_metrics", .metrics) { await $0.metrics() },
    Route(.get, "/_membership", .serverAdmin) { $0.membership() },
    Route(.get, "/_node/{node}", .serverAdmin) { try $0.node() },
    Route(.get, "/_node/{node}/_stats", .metrics) { try await $0.statistics() },
    Route(.get, "/_node/{node}/_system", .metrics) { try $0.system() },
    Route(.get, "/_node/{node}/_prometheus", .metrics) { try await $0.nodeMetrics() },
    Route(.get, "/_node/{node}/_config", .serverAdmin) { try await $0.settings() },
    Route(.get, "/_node/{node}/_config/{section}", .serverAdmin) { try await $0.settings() },
    Route(.get, "/_node/{node}/_config/{section}/{key}", .serverAdmin) { try await $0.settings() },
    Route(.put, "/_node/{node}/_config/{section}/{key}", .serverAdmin) { try await $0.changeSetting() },
    Route(.delete, "/_node/{node}/_config/{section}/{key}", .serverAdmin) { try await $0.changeSetting() },
    Route(.get, "/_cluster_setup", .serverAdmin) { _ in Reply.json(["state": "single_node_enabled"]) },
    Route(.post, "/_cluster_setup", .serverAdmin) { try await $0.setUpCluster() },

    Route(.get, "/{db}") { try await $0.info() },
    Route(.put, "/{db}", .serverAdmin) { try await $0.createDatabase() },
    Route(.post, "/{db}", .writer) { try await $0.postDocument() },
    Route(.delete, "/{db}", .serverAdmin) { try await $0.deleteDatabase() },
    Route(.get, "/{db}/_security") { Reply.json(try $0.security().json) },
    Route(.put, "/{db}/_security", .admin) { try await $0.setSecurity() },
    Route(.get, "/{db}/_revs_limit") { Reply.value(.int(Int64(try $0.database.revisionsLimit))) },
    Route(.put, "/{db}/_revs_limit", .admin) { try await $0.setRevisionsLimit() },
    Route(.post, "/{db}/_compact", .admin) { try await $0.compact() },
    Route(.post, "/{db}/_compact/{ddoc}", .admin) { try await $0.compact() },
    Route(.post, "/{db}/_ensure_full_commit") { try await $0.ensureFullCommit() },
    Route(.post, "/{db}/_view_cleanup") { try await $0.cleanViews() },

    Route(.get, "/{db}/_all_docs") { try await $0.allDocuments() },
    Route(.post, "/{db}/_all_docs") { try await $0.allDocuments() },
    Route(.post, "/{db}/_all_docs/queries") { try await $0.allDocumentsQueries() },
    Route(.get, "/{db}/_design_docs") { try await $0.allDocuments(onlyDesign: true) },
    Route(.post, "/{db}/_design_docs") { try await $0.allDocuments(onlyDesign: true) },
    Route(.post, "/{db}/_design_docs/queries") { try await $0.allDocumentsQueries(onlyDesign: true) },
    Route(.get, "/{db}/_local_docs") { try await $0.localDocuments() },
    Route(.post, "/{db}/_local_docs") { try await $0.localDocuments() },
    Route(.post, "/{db}/_local_docs/queries") { try await $0.localDocumentsQueries() },
    Route(.post, "/{db}/_bulk_docs", .writer) { try await $0.saveDocuments() },
    Route(.post, "/{db}/_bulk_get") { try await $0.revisions() },
    Route(.get, "/{db}/_changes") { try await $0.changes() },
    Route(.post, "/{db}/_changes") { try await $0.changes() },
    Route(.post, "/{db}/_revs_diff") { try await $0.revisionDifferences() },
    Route(.post, "/{db}/_missing_revs") { try await $0.missingRevisions() },

    Route(.post, "/{db}/_find") { try await $0.find() },
    Route(.post, "/{db}/_explain") { try await $0.explain() },
    Route(.get, "/{db}/_index") { try await $0.indexes() },
    Route(.post, "/{db}/_index", .admin) { try await $0.createIndex() },
    Route(.post, "/{db}/_index/_bulk_delete", .admin) { try await $0.deleteIndexes() },
    Route(.post, "/{db}/_index/_delete", .admin) { try await $0.deleteNamedIndex() },
    Route(.post, "/{db}/_index/_rebuild", .admin) { try await $0.rebuildIndex() },
    Route(.delete, "/{db}/_index/{ddoc}/{type}/{name}", .admin) { try await $0.deleteIndex() },
    Route(.delete, "/{db}/_index/_design/{ddoc}/{type}/{name}", .admin) { try await $0.deleteIndex() },

    Route(.get, "/{db}/_conflicts") { try await $0.conflicts() },
    Route(.get, "/{db}/_results") { try await $0.download() },
    Route(.post, "/{db}/_results") { try await $0.download() },
    Route(.post, "/{db}/_import", .writer) { try await $0.importFile() },
    Route(.get, "/{db}/_backup") { try await $0.backUp() },
    Route(.get, "/{db}/_fields") { try await $0.fields() },
    Route(.get, "/{db}/_rules") { try await $0.brokenRules() },

    Route(.get, "/{db}/_design/{ddoc}/_view/{view}") { try await $0.view() },
    Route(.post, "/{db}/_design/{ddoc}/_view/{view}") { try await $0.view() },
    Route(.post, "/{db}/_design/{ddoc}/_view/{view}/queries") { try await $0.viewQueries() },

    Route(.get, "/{db}/_local/{id}") { try await $0.localDocument() },
    Route(.put, "/{db}/_local/{id}", .writer) { try await $0.putLocalDocument() },
    Route(.delete, "/{db}/_local/{id}", .writer) { try await $0.deleteLocalDocument() },
    Route(.copy, "/{db}/_local/{id}") { try await $0.copyLocalDocument() },
    Route(.get, "/{db}/{id}") { try await $0.document() },
    Route(.put, "/{db}/{id}", .writer) { try await $0.putDocument() },
    Route(.post, "/{db}/{id}", .writer) { try await $0.postForm() },
    Route(.delete, "/{db}/{id}", .writer) { try await $0.deleteDocument() },
    Route(.copy, "/{db}/{id}") { try await $0.copyDocument() },
    Route(.get, "/{db}/{id}/{attachment}") { try await $0.attachment() },
    Route(.put, "/{db}/{id}/{attachment}", .writer) { try await $0.putAttachment() },
    Route(.delete, "/{db}/{id}/{attachment}", .writer) { try await $0.deleteAttachment() },
  ]
}
