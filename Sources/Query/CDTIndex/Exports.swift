// `import CDTIndex` also imports selectors, the datastore and JSON types.
@_exported public import CDTDatastore
@_exported public import CDTSelector
