public import CDTDatastore
public import CDTJSON

extension Datastore {
  /// Creates a summary unless it exists, and builds it: an index that also keeps counts and sums for each combination of values of
  /// some fields.
  ///
  /// ```swift
  /// try store.ensureSummarized(by: ["city"], sum: "total")  // "summary_city_of_total"
  /// let rows = try store.group(by: ["city"], .count(), .sum("total", as: "total"))
  /// ```
  ///
  /// Each write updates the groups of the documents that it changes. `group(by:)` then reads groups and no documents, if it groups by
  /// all of the fields or the first of them and asks for counts, sums and averages of the values, or for the least and greatest value
  /// of the first of these. Its selector may have conditions on the fields, and must imply the filter. Other queries use the summary
  /// like an index on the fields and values.
  ///
  /// - Parameters:
  ///   - fields: The paths of the fields whose values make the groups, most significant first; none for one group of all.
  ///   - values: The paths of the numbers that are summed.
  ///   - filter: A selector of the documents that the summary holds; empty for all.
  ///   - name: A name, or `nil` to generate one.
  ///   - progress: Called with the progress of the build.
  /// - Returns: The name. `deleteIndex(named:)` deletes the summary.
  /// - Throws: ``QueryError`` for an invalid definition, or if another definition has the name.
  /// - Complexity: O(*n* log *n*) in the number of documents; later O(log *n*) for each document that a write changes.
  ///
  /// See <doc:QueryingDocuments#Summaries>.
  @discardableResult
  public func ensureSummarized(
    by fields: [String], sum values: String..., where filter: JSONObject = [:], name: String? = nil,
    progress: (IndexProgress) -> Void = { _ in }
  ) throws -> String {
    let definition = try IndexDefinition(
      fields: fields.map { SortField($0) }, name: name, type: .json, where: filter, sum: values)
    return try ensure(definition, isNamed: name != nil, stop: nil, progress)
  }

  /// Creates a summary unless it exists, and builds it on one of the datastore's threads. If you cancel the task, completed work is
  /// kept.
  @discardableResult
  public func ensureSummarized(
    by fields: [String], sum values: String..., where filter: JSONObject = [:], name: String? = nil,
    progress: @escaping @Sendable (IndexProgress) -> Void = { _ in }
  ) async throws -> String {
    let definition = try IndexDefinition(
      fields: fields.map { SortField($0) }, name: name, type: .json, where: filter, sum: values)
    return try await runLong { try self.ensure(definition, isNamed: name != nil, stop: $0, progress) }
  }
}
