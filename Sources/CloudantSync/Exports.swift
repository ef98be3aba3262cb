// One import for an app that used CDTDatastore: the store, its queries, and the old names.
@_exported public import CDTQuery
