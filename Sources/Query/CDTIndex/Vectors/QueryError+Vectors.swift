import CDTSelector

// The messages about indexes of vectors.
extension QueryError {
  static func invalidVectorLength(_ length: Int) -> QueryError {
    QueryError(
      .invalidIndex, at: "vector",
      "a vector has 1 to \(Distance.maximumLength) numbers, not \(length); give the length of the vectors")
  }

  static func severalVectorFields(_ count: Int) -> QueryError {
    QueryError(
      .invalidIndex, at: "fields",
      "an index of vectors has one field, not \(count); create an index for each of them")
  }

  static let vectorIndexWithoutLength = QueryError(
    .invalidIndex, at: "vector", "an index of type \"vector\" needs \"vector\", the length of the vectors")

  package static func vectorIndexUnused(_ index: IndexDefinition) -> QueryError {
    QueryError(
      .unknownIndex, at: "use_index",
      "\"\(index.name)\" is an index of vectors of \(index.options.vectorLength ?? 0) numbers, for a \"$near\" with such a \"$vector\" and no other sort; name another index, or remove use_index"
        .boundedMessage)
  }
}
