// The messages about result sets. A message says what is wrong and ends with the remedy.
extension QueryError {
  static var resultSetClosed: QueryError {
    QueryError(.closed, at: "", "the result set is closed; run the query again")
  }

  static var resultSetInUse: QueryError {
    QueryError(
      .inUse, at: "", "another call is reading the result set; wait until it returns, or run the query again")
  }
}
