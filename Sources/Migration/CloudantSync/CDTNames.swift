// There is no alias `CDTDatastore` for `Datastore`, as it would hide the module of that name.

public import CDTDatastore
public import CDTQuery

/// CDTDatastore's name for `DatastoreManager`.
@available(*, deprecated, renamed: "DatastoreManager")
public typealias CDTDatastoreManager = DatastoreManager

/// The name of a mutable ``CDTDocumentRevision`` in CDTDatastore 0.7 to 0.17.
@available(*, deprecated, message: "use DocumentDraft for a new document, DocumentRevision for a saved one")
public typealias CDTMutableDocumentRevision = CDTDocumentRevision

/// CDTDatastore's name for `DocumentAttachment`.
@available(*, deprecated, renamed: "DocumentAttachment")
public typealias CDTAttachment = DocumentAttachment

/// CDTDatastore's name for a `DocumentAttachment` of data in memory.
@available(*, deprecated, renamed: "DocumentAttachment")
public typealias CDTUnsavedDataAttachment = DocumentAttachment

/// CDTDatastore's name for a `DocumentAttachment` of a file.
@available(*, deprecated, renamed: "DocumentAttachment")
public typealias CDTUnsavedFileAttachment = DocumentAttachment

/// CDTDatastore's name for a `DocumentAttachment` of a saved revision.
@available(*, deprecated, renamed: "DocumentAttachment")
public typealias CDTSavedAttachment = DocumentAttachment

/// CDTDatastore's name for the results of a query.
@available(*, deprecated, message: "a query returns an array of documents")
public typealias CDTQResultSet = [CDTDocumentRevision]

/// CDTDatastore's name for `IndexType`.
@available(*, deprecated, renamed: "IndexType")
public typealias CDTQIndexType = IndexType
