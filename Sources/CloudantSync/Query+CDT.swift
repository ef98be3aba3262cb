public import CDTDatastore
public import CDTJSON
public import CDTQuery

extension Datastore {
  /// CDTDatastore's form of `Datastore.ensureIndexed(_:name:type:settings:progress:)`.
  @available(*, deprecated, renamed: "ensureIndexed(_:name:type:settings:progress:)")
  @discardableResult
  public func ensureIndexed(
    _ fields: [JSONValue], withName name: String, type: IndexType = .json, settings: JSONObject = [:]
  ) throws -> String {
    try ensureIndexed(
      SortField.fields(fields, at: "fields"), name: name, type: type, settings: settings)
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
extension Array where Element == DocumentRevision {
  /// The ids of the query's results.
  public var documentIds: [String] { map(\.id) }

  /// Calls a block with each document and its position, until it sets its last argument.
  public func enumerateObjectsUsingBlock(
    _ block: (_ revision: DocumentRevision, _ index: Int, _ stop: inout Bool) throws -> Void
  ) rethrows {
    var stop = false
    for (index, revision) in enumerated() where !stop { try block(revision, index, &stop) }
  }
}
