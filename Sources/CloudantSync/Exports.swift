// One import for an app that used CDTDatastore: the store and its queries under their own names, and the old names.
@_exported public import CDTDatastore
@_exported public import CDTQuery
@_exported public import JSON
