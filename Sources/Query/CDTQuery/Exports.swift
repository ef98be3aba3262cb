// `import CDTQuery` also imports indexes, selectors, the datastore and JSON types.
@_exported public import CDTIndex

/// Foundation also has a type of this name.
package typealias SortOrder = CDTSelector.SortOrder
