// One import for an app that used CDTDatastore: the store, the import of its files, its queries, its replication, and the old names.
@_exported public import CDTImport
@_exported public import CDTQuery

#if Replication
  @_exported public import CDTReplication
#endif
