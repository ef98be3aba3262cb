@_exported public import CDTIndex
