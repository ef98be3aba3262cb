// `import CDTQuery` also imports selectors, the datastore and JSON types.
@_exported public import CDTDatastore
@_exported public import CDTSelector

/// Foundation also has a type of this name.
package typealias SortOrder = CDTSelector.SortOrder
