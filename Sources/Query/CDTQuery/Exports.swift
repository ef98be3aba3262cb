// `import CDTQuery` also imports the datastore and JSON types.
@_exported public import CDTDatastore
