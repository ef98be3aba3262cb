public import CDTDatastore
public import CDTQuery
public import JSON

extension Datastore {
  /// CDTDatastore's spelling of ``Datastore/ensureIndexed(_:name:type:settings:)``.
  @available(*, deprecated, renamed: "ensureIndexed(_:name:type:settings:)")
  @discardableResult
  public func ensureIndexed(
    _ fields: [JSONValue], withName name: String, type: IndexType = .json, settings: JSONObject = [:]
  ) throws -> String {
    try ensureIndexed(fields, name: name, type: type, settings: settings)
  }

  /// CDTDatastore's spelling of ``Datastore/deleteIndex(named:)``.
  @available(*, deprecated, renamed: "deleteIndex(named:)")
  public func deleteIndexNamed(_ name: String) throws {
    try deleteIndex(named: name)
  }
}

extension ResultSet {
  /// CDTDatastore's spelling of ``ResultSet/documentIDs``.
  @available(*, deprecated, renamed: "documentIDs")
  public var documentIds: [String] {
    get throws { try documentIDs }
  }

  /// CDTDatastore's spelling of ``ResultSet/forEach(_:)``: the block gets each document with its number, and ends the
  /// reading by setting its last argument.
  @available(*, deprecated, renamed: "forEach(_:)")
  public func enumerateObjectsUsingBlock(
    _ block: (_ revision: DocumentRevision, _ index: Int, _ stop: inout Bool) throws -> Void
  ) throws {
    var (index, stop) = (0, false)
    while !stop, let revision = try next() {
      try block(revision, index, &stop)
      index += 1
    }
  }
}
