import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB
import HTTPTypes
import Hummingbird

/// The indexes of a database: `_index`.
///
/// An index that is made here is a member of a design document, which the datastore follows. Those that apps made are listed
/// without one.
extension RequestContext {
  func indexes() async throws -> Response {
    let page = try parameters.page()
    let known =
      try await parameters.flag("statistics")
      ? database.measureIndexes(until: .now + limits.queryTime).map(IndexJSON.measured)
      : database.indexDefinitions().map(IndexJSON.of)
    let all = [IndexJSON.allDocuments] + known
    return Reply.json([
      "total_rows": .int(Int64(all.count)),
      "indexes": .array(page.part(of: all).map { .object($0) }),
    ])
  }

  // MARK: Creating

  func createIndex() async throws -> Response {
    let (wanted, database) = (try IndexRequest(try await jsonObject()), try database)
    let known = try await database.indexDefinitions()
    if let same = known.first(where: wanted.isMade) { return Self.createdIndex(same, "exists") }
    try await changeDesign(wanted.document) { document in
      var body = document ?? [:]
      guard document == nil || body["language"] == DesignDocument.language else {
        throw CouchError(
          400, "invalid_ddoc_lang", "\(wanted.document) is not of the language `query`; name another `ddoc`.")
      }
      DesignDocument.add(wanted.definition, named: wanted.definition.ownName, to: &body)
      return body
    }
    try await server.tasks.run("indexer", on: database.name) { report in
      try await database.updateIndexes { report($0.done, $0.total) }
    }
    let mistakes = try await database.documentsThatNeverExpire(byIndex: wanted.definition.name)
    return Self.createdIndex(wanted.definition, "created", warning: mistakes)
  }

  private static func createdIndex(
    _ definition: IndexDefinition, _ result: String, warning: String? = nil
  ) -> Response {
    var reply: JSONObject = [
      "result": .string(result), "id": definition.designDocument.map { .string($0) } ?? .null,
      "name": .string(definition.ownName),
    ]
    if let warning { reply["warning"] = .string(warning) }
    return Reply.json(reply)
  }

  /// Saves a new revision of a design document.
  ///
  /// - Parameter change: Receives the body, `nil` if there is none, and returns the new one; `nil` deletes the document.
  private func changeDesign(
    _ id: String, _ change: @escaping @Sendable (JSONObject?) throws -> JSONObject?
  ) async throws {
    _ = try await database.save(id) { transaction in
      let known = try transaction.documents(withIDs: [id]).first { !$0.isDeleted }
      guard let body = try change(known?.body) else {
        guard let known else { throw CouchError.missing }
        return try transaction.updateDocument(
          id: id, revision: known.revisionID, isDeleted: true, body: .none, attachments: []
        ).revision
      }
      guard var known else {
        return try transaction.createDocument(from: DocumentDraft(id: id, body: body)).revisionID
      }
      known.body = body
      return try transaction.updateDocument(from: known).revisionID
    }
  }

  // MARK: Deleting

  func deleteIndex() async throws -> Response {
    guard let type = IndexType(rawValue: names["type"] ?? "") else { throw CouchError.noIndex }
    return try await deleteIndex(names["name"] ?? "", type, of: IndexRequest.documentID(names["ddoc"] ?? ""))
  }

  private func deleteIndex(_ name: String, _ type: IndexType, of document: String) async throws -> Response {
    try await changeDesign(document) { document in
      guard var body = document, DesignDocument.remove(name, type, from: &body) else {
        throw CouchError.noIndex
      }
      return body["views"] == nil && body["indexes"] == nil ? nil : body
    }
    return Reply.json(Reply.ok)
  }

  /// The index that a request's body names, also one without a design document.
  private func namedIndex() async throws -> IndexDefinition {
    let body = try await jsonObject()
    guard let name = body["name"]?.stringValue else {
      throw CouchError(400, "missing_required_key", "Missing required key: name")
    }
    let document = body["ddoc"]?.stringValue.map(IndexRequest.documentID)
    guard
      let index = try await database.indexDefinitions().first(where: {
        $0.ownName.hasSameBytes(as: name) && $0.designDocument == document
      })
    else { throw CouchError.noIndex }
    return index
  }

  /// Deletes an index, also one that an app made.
  func deleteNamedIndex() async throws -> Response {
    let index = try await namedIndex()
    guard let document = index.designDocument else {
      try await database.deleteIndex(named: index.name)
      return Reply.json(Reply.ok)
    }
    return try await deleteIndex(index.ownName, index.type, of: document)
  }

  /// Builds an index again from the documents, and answers at the end.
  func rebuildIndex() async throws -> Response {
    let (index, database) = (try await namedIndex(), try database)
    try await server.tasks.run("indexer", on: database.name) { report in
      try await database.rebuildIndex(named: index.name) { report($0.done, $0.total) }
    }
    return Reply.json(Reply.ok)
  }

  func deleteIndexes() async throws -> Response {
    guard case .array(let names)? = try await jsonObject()["docids"] else {
      throw CouchError.badRequest("`docids` must be an array.")
    }
    var (done, failed): ([JSONValue], [JSONValue]) = ([], [])
    for value in names {
      do {
        guard let name = value.stringValue else { throw CouchError.missing }
        try await changeDesign(IndexRequest.documentID(name)) { document in
          guard document?["language"] == DesignDocument.language else { throw CouchError.missing }
          return nil
        }
        done.append(["id": value, "ok": true])
      } catch let error as CouchError {
        failed.append(["id": value, "error": .string(error.error)])
      }
    }
    return Reply.json(["success": .array(done), "fail": .array(failed)])
  }
}

/// Indexes as CouchDB describes them.
enum IndexJSON {
  static let allDocuments: JSONObject = [
    "ddoc": nil, "name": "_all_docs", "type": "special", "def": ["fields": [["_id": "asc"]]],
  ]

  static func of(_ index: IndexDefinition) -> JSONObject {
    var definition = DesignDocument.couchDB(index.json)
    definition["fields"] = .array(
      index.fields.map { [$0.path: .string($0.isDescending ? "desc" : "asc")] })
    return [
      "ddoc": index.designDocument.map { .string($0) } ?? .null, "name": .string(index.ownName),
      "type": .string(index.type.rawValue), "partitioned": false, "def": .object(definition),
    ]
  }
}

extension IndexJSON {
  /// An index with its size and the distribution of its values.
  static func measured(_ info: IndexInfo) -> JSONObject {
    var json = of(info.definition)
    json["statistics"] = [
      "entries": .int(Int64(info.entries)), "bytes": .int(Int64(info.bytes)),
      "sequence": .int(info.indexedSequence), "fields": info.distributionJSON,
    ]
    return json
  }
}

/// The body of a request for an index.
struct IndexRequest: Sendable {
  let definition: IndexDefinition
  /// The id of its design document.
  let document: String
  /// The names in the request; an index that is there may have another name if it names none.
  private let names: (name: String?, document: String?)

  /// The maximum length of a name in bytes, with which a path can name the index.
  private static let longestName = 1_000

  init(_ body: JSONObject) throws {
    guard case .object(let index)? = body["index"] else {
      throw CouchError(400, "missing_required_key", "Missing required key: index")
    }
    // `w` is an option of a cluster.
    let known: Set = ["index", "name", "ddoc", "type", "w", "partitioned"]
    if let unknown = body.first(where: { !known.contains($0.key) })?.key {
      throw CouchError(400, "invalid_key", "Invalid key \(unknown) for this request.")
    }
    if let isPartitioned = body["partitioned"], isPartitioned != false {
      throw CouchError.unsupported(
        "A partitioned index", instead: "an index whose first field divides documents")
    }
    for member in ["name", "ddoc", "type"] {
      guard let value = body[member] else { continue }
      guard let text = value.stringValue else {
        throw CouchError(400, "invalid_string", "\(member): must be a string, not \(value.text.prefix(100))")
      }
      guard text.utf8.count <= Self.longestName else {
        throw CouchError(
          400, "invalid_index", "\(member): must have at most \(Self.longestName) bytes; shorten it.")
      }
    }
    let type: IndexType
    switch body["type"]?.stringValue {
    case nil, "json": type = .json
    case "text": type = .text
    case "place": type = .place
    case "vector": type = .vector
    case let other?:
      throw CouchError(
        400, "invalid_index",
        "The type \(other.prefix(50)) is unknown: use json, text, place or vector.")
    }
    if let unknown = DesignDocument.unknownMember(of: .object(index), type)
      ?? (index["value"] == nil ? nil : "value")
    {
      throw CouchError(
        400, "invalid_key",
        "Invalid key \(unknown.prefix(100)) for an index of type \(type.rawValue): \(DesignDocument.knownMembers(type))."
      )
    }
    guard index["fields"]?.arrayValue != nil else {
      throw CouchError(400, "invalid_index", "`fields` must be an array of names or {name: direction}.")
    }
    let wanted: IndexDefinition
    do throws(QueryError) {
      wanted = try IndexDefinition(json: try DesignDocument.json(ofCouchDB: .object(index), type))
    } catch {
      throw Self.error(error, in: index)
    }
    if body["name"] == "" {
      throw CouchError(400, "invalid_index", "The name of an index must not be empty.")
    }
    names = (body["name"]?.stringValue, body["ddoc"]?.stringValue.map(Self.documentID))
    let name = names.name ?? wanted.name
    document = names.document ?? Self.documentID(name)
    definition = wanted.named(DesignDocument.name(of: name, in: document), in: document)
  }

  /// The error with the names that the request has for members.
  private static func error(_ error: QueryError, in index: JSONObject) -> QueryError {
    let filter = index["selector"] == nil ? IndexOptions.Name.filter.couchName : "selector"
    for (ours, name) in [("where", filter), ("settings.tokenize", "tokenize")] {
      guard let rest = error.path.afterBytePrefix(ours) else { continue }
      return QueryError(error.code, at: "\(name)\(rest)", error.message)
    }
    return error
  }

  static func documentID(_ name: String) -> String {
    DocumentID.isDesign(name) ? name : DocumentID.designPrefix + name
  }

  /// Whether an index is the one that the request wants.
  func isMade(_ other: IndexDefinition) -> Bool {
    guard let document = other.designDocument, other.isSame(as: definition) else { return false }
    return (names.name ?? other.ownName).hasSameBytes(as: other.ownName)
      && (names.document ?? document).hasSameBytes(as: document)
  }
}

extension CouchError {
  fileprivate static let noIndex = CouchError(404, "not_found", "Index not found")

  /// A write that a unique index refuses. It is not a `conflict`, after which clients would try again with another revision.
  init(_ violation: UniqueViolation) {
    self.init(412, "duplicate_key", violation.description)
  }
}
