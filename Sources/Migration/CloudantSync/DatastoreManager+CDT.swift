public import CDTDatastore

extension DatastoreManager {
  /// CDTDatastore's form of `DatastoreManager.datastore(named:)`.
  @available(*, deprecated, renamed: "datastore(named:)")
  public func datastoreNamed(_ name: String) throws -> Datastore {
    try datastore(named: name)
  }

  /// The form of `DatastoreManager.datastore(named:)` in CDTDatastore's guide.
  @available(*, deprecated, renamed: "datastore(named:)")
  public func datastoreName(_ name: String) throws -> Datastore {
    try datastore(named: name)
  }

  /// CDTDatastore's form of `DatastoreManager.closeDatastore(named:)`. It can't fail, so inside a write to the
  /// datastore it does nothing.
  @available(*, deprecated, renamed: "closeDatastore(named:)")
  public func closeDatastoreNamed(_ name: String) {
    try? closeDatastore(named: name)
  }

  /// CDTDatastore's form of `DatastoreManager.deleteDatastore(named:)`.
  @available(*, deprecated, renamed: "deleteDatastore(named:)")
  public func deleteDatastoreNamed(_ name: String) throws {
    try deleteDatastore(named: name)
  }

  /// CDTDatastore's form of `DatastoreManager.datastoreNames()`; empty if the directory can't be read.
  @available(*, deprecated, renamed: "datastoreNames()")
  public func allDatastores() -> [String] {
    (try? datastoreNames()) ?? []
  }
}
