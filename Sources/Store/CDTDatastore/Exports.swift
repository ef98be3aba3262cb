// `import CDTDatastore` also imports the JSON types of documents.
@_exported public import CDTJSON
