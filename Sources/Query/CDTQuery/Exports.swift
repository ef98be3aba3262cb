// `import CDTQuery` also imports indexes, selectors, the datastore and JSON types.
@_exported public import CDTIndex
@_exported public import CDTRules

/// Foundation also has a type of this name.
package typealias SortOrder = CDTSelector.SortOrder
