// There is no alias `CDTDatastore` for `Datastore`, as it would hide the module of that name.

public import CDTDatastore
public import CDTQuery

/// CDTDatastore's name for `DatastoreManager`.
@available(*, deprecated, renamed: "DatastoreManager")
public typealias CDTDatastoreManager = DatastoreManager

/// The name of a mutable ``CDTDocumentRevision`` in CDTDatastore 0.7 to 0.17.
@available(*, deprecated, message: "use DocumentDraft for a new document, DocumentRevision for a saved one")
public typealias CDTMutableDocumentRevision = CDTDocumentRevision

/// CDTDatastore's name for `Attachment`.
@available(*, deprecated, renamed: "Attachment")
public typealias CDTAttachment = Attachment

/// CDTDatastore's name for an `Attachment` of data in memory.
@available(*, deprecated, renamed: "Attachment")
public typealias CDTUnsavedDataAttachment = Attachment

/// CDTDatastore's name for an `Attachment` of a file.
@available(*, deprecated, renamed: "Attachment")
public typealias CDTUnsavedFileAttachment = Attachment

/// CDTDatastore's name for an `Attachment` of a saved revision.
@available(*, deprecated, renamed: "Attachment")
public typealias CDTSavedAttachment = Attachment

/// CDTDatastore's name for the results of a query.
@available(*, deprecated, message: "a query returns an array of documents")
public typealias CDTQResultSet = [CDTDocumentRevision]

/// CDTDatastore's name for `IndexType`.
@available(*, deprecated, renamed: "IndexType")
public typealias CDTQIndexType = IndexType
