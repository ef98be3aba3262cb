public import CDTDatastore

extension DatastoreManager {
  /// CDTDatastore's spelling of ``DatastoreManager/datastore(named:)``.
  @available(*, deprecated, renamed: "datastore(named:)")
  public func datastoreNamed(_ name: String) throws -> Datastore {
    try datastore(named: name)
  }

  /// The spelling that CDTDatastore's guide had for ``DatastoreManager/datastore(named:)``.
  @available(*, deprecated, renamed: "datastore(named:)")
  public func datastoreName(_ name: String) throws -> Datastore {
    try datastore(named: name)
  }

  /// CDTDatastore's spelling of ``DatastoreManager/closeDatastore(named:)``.
  @available(*, deprecated, renamed: "closeDatastore(named:)")
  public func closeDatastoreNamed(_ name: String) {
    closeDatastore(named: name)
  }

  /// CDTDatastore's spelling of ``DatastoreManager/deleteDatastore(named:)``.
  @available(*, deprecated, renamed: "deleteDatastore(named:)")
  public func deleteDatastoreNamed(_ name: String) throws {
    try deleteDatastore(named: name)
  }

  /// CDTDatastore's spelling of ``DatastoreManager/datastoreNames()``; of a directory that can't be read it has no names.
  @available(*, deprecated, renamed: "datastoreNames()")
  public func allDatastores() -> [String] {
    (try? datastoreNames()) ?? []
  }
}
