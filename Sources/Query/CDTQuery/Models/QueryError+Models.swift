// The messages about conditions on the properties of models. A message says what is wrong and ends with the remedy.
extension QueryError {
  static func notEncodable(_ error: any Error, at path: String) -> QueryError {
    guard let error = error as? QueryError else {
      return QueryError(
        .invalidArgument, at: path, "the value can't be encoded: \(error); compare with another value")
    }
    return error.path.isEmpty ? QueryError(error.code, at: path, error.message) : error
  }

  static func notAnArray(_ type: any Any.Type) -> QueryError {
    QueryError(
      .invalidArgument, at: "",
      "\(type) is not stored as an array, so its elements can't be compared or counted; use isEmpty, or store the number"
    )
  }

  static var elementConditions: QueryError {
    QueryError(
      .invalidArgument, at: "",
      "these conditions on one element can't be combined; write contains { } for each alternative, or use elements with "
        + "properties"
    )
  }

  static func unknownRange(_ type: any Any.Type) -> QueryError {
    QueryError(
      .invalidArgument, at: "", "\(type) is not a range of the standard library; use two comparisons")
  }

  static func replacedTwice(_ path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path,
      "the value has a default already, or is a count, so ?? can't replace it; write (tags ?? []).count, or leave ?? out"
    )
  }

  static func nearDefault(_ path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path,
      "the value of a document without the member would be near, but only stored values have a distance; save the documents with their value, or use within"
    )
  }

  static func unordered(_ path: String, _ type: any Any.Type) -> QueryError {
    QueryError(
      .invalidArgument, at: path,
      "ids are compared as text, which is not the order of \(type); compare another property")
  }

  static func countAsPath(_ path: String) -> QueryError {
    QueryError(
      .invalidPath, at: path,
      "a number of elements is not stored, and can't be sorted, grouped or indexed by; store it as a property"
    )
  }
}
