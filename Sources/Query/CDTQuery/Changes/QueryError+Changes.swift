import CDTJSON

// The messages about changes of fields. A message says what is wrong and ends with the remedy.
extension QueryError {
  static func reservedField(at path: String) -> QueryError {
    QueryError(
      .invalidChange, at: path,
      "names that begin with _ are the document's own and can't be changed; use another field")
  }

  static func invalidAmount(_ amount: JSONValue, at path: String) -> QueryError {
    QueryError(.invalidChange, at: path, "the amount must be a number, not \(amount.typeWithArticle)")
  }

  static func invalidChange(_ message: String, of id: String, at path: String) -> QueryError {
    QueryError(.invalidChange, at: path, "document \"\(id)\": \(message)")
  }
}
