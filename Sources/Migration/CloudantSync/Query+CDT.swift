public import CDTDatastore
import CDTJSON
public import CDTQuery
public import Foundation

extension IndexType {
  /// The name of `IndexType.json` in Swift 2.
  @available(*, deprecated, renamed: "json")
  public static var JSON: IndexType { .json }
}

extension Datastore {
  /// CDTDatastore's form of `Datastore.ensureIndexed(_:_:name:progress:)`.
  @available(*, deprecated, message: "use ensureIndexed(_:_:name:) with IndexOptions, such as .text")
  @discardableResult
  public func ensureIndexed(
    _ fields: [Any], withName name: String, ofType type: IndexType = .json, settings: [String: Any] = [:]
  ) throws -> String {
    let json = try JSONObject(
      ["fields": fields, "settings": settings, "type": type.rawValue] as NSDictionary)
    return try ensureIndexed(
      SortField.fields(json["fields"]?.arrayValue ?? [], at: "fields"), IndexOptions(json: json), name: name)
  }

  /// The name of the method before 2.0.
  @available(*, deprecated, message: "use ensureIndexed(_:_:name:) with IndexOptions, such as .text")
  @discardableResult
  public func ensureIndexed(
    _ fields: [Any], withName name: String, type: IndexType, settings: [String: Any] = [:]
  ) throws -> String {
    try ensureIndexed(fields, withName: name, ofType: type, settings: settings)
  }

  /// CDTDatastore's form of `Datastore.find(_:skip:limit:fields:sort:)`. A limit of 0 means no limit.
  @available(
    *, deprecated, message: "use find(_:skip:limit:fields:sort:) with a JSONObject and [] for all fields"
  )
  @_disfavoredOverload
  public func find(
    _ query: [String: Any], skip: Int = 0, limit: Int = 0, fields: [String]? = nil,
    sort: [[String: String]]? = nil
  ) throws -> CDTQResultSet {
    try find(NSDictionary(dictionary: query), skip: skip, limit: limit, fields: fields, sort: sort)
  }

  /// CDTDatastore's form of `Datastore.find(_:skip:limit:fields:sort:)`. A limit of 0 means no limit.
  @available(
    *, deprecated, message: "use find(_:skip:limit:fields:sort:) with a JSONObject and [] for all fields"
  )
  @_disfavoredOverload
  public func find(
    _ query: NSDictionary, skip: Int = 0, limit: Int = 0, fields: [String]? = nil,
    sort: [[String: String]]? = nil
  ) throws -> CDTQResultSet {
    let clauses = (sort ?? []).map { JSONValue.object(JSONObject($0)) }
    return try find(
      JSONObject(query), skip: skip, limit: limit == 0 ? nil : limit, fields: fields ?? [],
      sort: SortField.fields(clauses, at: "sort")
    ).map { CDTDocumentRevision($0) }
  }

  /// CDTDatastore's form of `updateIndexes()`.
  @available(*, deprecated, renamed: "updateIndexes()")
  public func updateAllIndexes() throws {
    try updateIndexes()
  }

  /// CDTDatastore's form of `Datastore.deleteIndex(named:)`.
  @available(*, deprecated, renamed: "deleteIndex(named:)")
  public func deleteIndexNamed(_ name: String) throws {
    try deleteIndex(named: name)
  }
}

@available(*, deprecated, message: "a query returns an array of documents")
extension Array where Element == CDTDocumentRevision {
  /// The ids of the query's results.
  public var documentIds: [String] { compactMap(\.docId) }

  /// Calls a block with each document and its position, until it sets its last argument.
  public func enumerateObjects(
    _ block: (_ revision: CDTDocumentRevision, _ index: Int, _ stop: CDTQStop) throws -> Void
  ) rethrows {
    let stop = CDTQStop()
    for (index, revision) in enumerated() where !stop.pointee { try block(revision, index, stop) }
  }

  /// The name of `enumerateObjects(_:)` before Swift 3.
  public func enumerateObjectsUsingBlock(
    _ block: (_ revision: CDTDocumentRevision, _ index: Int, _ stop: CDTQStop) throws -> Void
  ) rethrows {
    try enumerateObjects(block)
  }
}

@available(*, deprecated, message: "a query returns an array of documents")
extension Array where Element == DocumentRevision {
  /// The ids of the query's results.
  public var documentIds: [String] { map(\.id) }

  /// Calls a block with each document and its position, until it sets its last argument.
  public func enumerateObjects(
    _ block: (_ revision: CDTDocumentRevision, _ index: Int, _ stop: CDTQStop) throws -> Void
  ) rethrows {
    try map { CDTDocumentRevision($0) }.enumerateObjects(block)
  }

  /// The name of `enumerateObjects(_:)` before Swift 3.
  public func enumerateObjectsUsingBlock(
    _ block: (_ revision: CDTDocumentRevision, _ index: Int, _ stop: CDTQStop) throws -> Void
  ) rethrows {
    try enumerateObjects(block)
  }
}
