public import CDTDatastore
import CDTJSON

extension Datastore {
  /// Reads every document but design documents, and returns which fields they have, with their types and values, and the indexes that may
  /// help.
  ///
  /// ```swift
  /// let summary = try store.summarizeFields()
  /// summary.fields.first { $0.path == "tags[]" }?.distinct
  /// ```
  ///
  /// The summary is that of one state. Memory does not depend on the number of documents or of their fields.
  ///
  /// - Throws: `DatastoreError` if reading fails.
  /// - Complexity: O(*bytes of the documents*)
  ///
  /// See <doc:UsingTheCommandLine#Describe-and-sample>.
  public func summarizeFields() throws -> FieldSummary {
    var scan = FieldScan()
    try results(for: Query([:])).forEachJSON { scan.add($0) }
    return scan.summary(indexed: try firstIndexedFields())
  }

  /// The first field of each index.
  package func firstIndexedFields() throws -> Set<String> {
    Set(try listIndexes().compactMap { $0.type.isOrdered ? $0.fields.first?.path : nil })
  }
}

extension ReadTransaction {
  /// The fields of the documents without design documents, or of the first of them, which are not in a particular order.
  ///
  /// - Parameters:
  ///   - limit: The number of documents to read, for which no index is proposed; `nil` for all.
  ///   - isSampling: Whether the fields have samples of their values.
  package func summarizeFields(ofFirst limit: Int?, isSampling: Bool = false) throws -> FieldSummary {
    let query = try Query([:], limit: limit)
    var scan = FieldScan(isSampling: isSampling)
    try forEachJSON(query) { scan.add($0) }
    return scan.summary(indexed: limit == nil ? try store.firstIndexedFields() : nil)
  }
}
