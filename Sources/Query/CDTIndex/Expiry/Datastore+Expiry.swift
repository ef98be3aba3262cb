public import CDTDatastore
public import CDTJSON

extension Datastore {
  /// Deletes each document some time after the date in one of its fields. The rule stays in force until it is deleted.
  ///
  /// ```swift
  /// try store.expireDocuments(after: .seconds(86_400), by: "seen", where: ["kind": "message"])
  /// ```
  ///
  /// At that time a document is left out of every read, and soon afterwards it is deleted. The rule is an index;
  /// `deleteIndex(named:)` deletes it. `documentsThatNeverExpire` counts the documents with other values than dates.
  ///
  /// - Parameters:
  ///   - lifetime: The time after the date; zero for the date itself.
  ///   - field: The path of a date: a number of seconds since 1970, or text such as `2026-11-27T12:00:00Z`.
  ///   - isInMilliseconds: Whether numbers in that field are milliseconds since 1970, as of JavaScript's `Date.now()`.
  ///   - filter: The selector of the documents that expire; without one, all that have the field do.
  /// - Returns: The name of the index.
  /// - Throws: ``QueryError`` for an invalid path or filter.
  /// - Complexity: O(*n* log *n*) in the number of documents the first time, then O(1).
  ///
  /// Source: `docs/query.md`, Documents that expire.
  @discardableResult
  public func expireDocuments(
    after lifetime: Duration, by field: String, milliseconds isInMilliseconds: Bool = false,
    where filter: JSONObject = [:]
  ) throws -> String {
    try ensureIndexed(
      [SortField(field)], where: filter, expireAfter: lifetime, milliseconds: isInMilliseconds)
  }

  /// Deletes each document some time after the date in one of its fields; the index is built on one of the datastore's threads.
  @discardableResult
  public func expireDocuments(
    after lifetime: Duration, by field: String, milliseconds isInMilliseconds: Bool = false,
    where filter: JSONObject = [:]
  ) async throws -> String {
    try await ensureIndexed(
      [SortField(field)], where: filter, expireAfter: lifetime, milliseconds: isInMilliseconds)
  }
}
