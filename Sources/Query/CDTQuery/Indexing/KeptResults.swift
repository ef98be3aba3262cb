/// Results of queries that are kept up to date while documents change: the live queries of a datastore.
protocol KeptResults: AnyObject, Sendable {
  /// Ends all of them, as the datastore is being closed.
  func close()

  /// Takes the documents that have expired from the results.
  ///
  /// - Parameters:
  ///   - time: The current time.
  ///   - rules: The generation of the rules by which documents expire.
  ///   - expired: Returns the numbers of the documents that have expired since a time, and whether it has looked at all documents.
  func drop(
    until time: Double, by rules: Int,
    _ expired: (_ since: Double) throws -> (numbers: [Int64], isComplete: Bool)
  ) throws
}
