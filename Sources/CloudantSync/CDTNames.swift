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

/// The name that CDTDatastore 0.7 to 0.17 had for a ``DocumentRevision`` to change.
@available(*, deprecated, renamed: "DocumentRevision")
public typealias CDTMutableDocumentRevision = DocumentRevision

/// CDTDatastore's name for ``Attachment``.
@available(*, deprecated, renamed: "Attachment")
public typealias CDTAttachment = Attachment

/// CDTDatastore's name for an ``Attachment`` of data in memory.
@available(*, deprecated, renamed: "Attachment")
public typealias CDTUnsavedDataAttachment = Attachment

/// CDTDatastore's name for an ``Attachment`` of a file.
@available(*, deprecated, renamed: "Attachment")
public typealias CDTUnsavedFileAttachment = Attachment

/// CDTDatastore's name for an ``Attachment`` of a saved revision.
@available(*, deprecated, renamed: "Attachment")
public typealias CDTSavedAttachment = Attachment

/// CDTDatastore's name for ``ResultSet``.
@available(*, deprecated, renamed: "ResultSet")
public typealias CDTQResultSet = ResultSet
