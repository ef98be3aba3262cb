public import CDTDatastore
public import CDTQuery

/// CDTDatastore's name for ``DatastoreManager``.
@available(*, deprecated, renamed: "DatastoreManager")
public typealias CDTDatastoreManager = DatastoreManager

/// CDTDatastore's name for ``Datastore``.
@available(*, deprecated, renamed: "Datastore")
public typealias CDTDatastore = Datastore

/// CDTDatastore's name for ``DocumentRevision``.
@available(*, deprecated, renamed: "DocumentRevision")
public typealias CDTDocumentRevision = DocumentRevision

/// CDTDatastore's name for ``ResultSet``.
@available(*, deprecated, renamed: "ResultSet")
public typealias CDTQResultSet = ResultSet
