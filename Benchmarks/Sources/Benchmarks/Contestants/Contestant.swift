/// A store that does the workload: ours, or the yardstick.
protocol Contestant: AnyObject, Sendable {
  /// Returns the store for another thread: ours is for all threads, a connection of SQLite's for one.
  func forAnotherThread() throws -> Self

  /// Saves documents that are not there yet, 1,000 to a transaction.
  ///
  /// - Parameters:
  ///   - documents: The documents in memory.
  ///   - file: The same documents as a file.
  func load(_ documents: JSONLines, file: String) throws

  /// Makes the indexes (name, age), pet.species, and tags by element; they are complete when it returns.
  func createIndexes() throws

  /// Does what else a careful user does once the indexes are there, and is not measured.
  func settle() throws

  func createAgeIndex() throws
  func deleteAgeIndex() throws

  /// Answers a question, giving each id's or document's bytes to `body`.
  func answer(_ request: Request, _ body: (UnsafeRawBufferPointer) -> Void) throws

  /// Replaces the documents at some positions, all in one durable transaction.
  func replace(_ positions: Range<Int>, of documents: JSONLines) throws

  func close() throws
}

extension Contestant {
  /// Loads and indexes documents.
  func fill(_ documents: JSONLines, file: String) throws {
    try load(documents, file: file)
    try createIndexes()
    try settle()
  }

  /// Answers a question, and gives how many results there were.
  @discardableResult
  func count(_ request: Request) throws -> Int {
    var checksum = Checksum()
    try answer(request) { checksum.take($0) }
    return checksum.results
  }
}
