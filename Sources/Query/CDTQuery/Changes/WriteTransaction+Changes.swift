public import CDTDatastore
public import CDTJSON

extension WriteTransaction {
  /// Changes fields of the documents that match a selector.
  ///
  /// ```swift
  /// let count = try store.write {
  ///   try $0.update(matching: ["status": "open"], .set("status", "done"), .increment("edits"))
  /// }
  /// ```
  ///
  /// Each document gets a new revision and keeps its attachments. One that the changes leave as it is gets none. If one document
  /// can't be changed, the transaction's other changes are lost unless the error is caught.
  ///
  /// - Parameters:
  ///   - selector: The selector; `[:]` matches every document.
  ///   - changes: Are made one after the other.
  /// - Returns: The number of documents that were changed.
  /// - Throws: ``QueryError`` for an invalid selector or path, before anything is changed, and with the code `.invalidChange` for a
  ///   document whose field has another type; `DatastoreError`.
  /// - Complexity: O(*matches*) in time; the matches' ids are in memory.
  @discardableResult
  public func update(matching selector: JSONObject, _ changes: FieldChange...) throws -> Int {
    try update(matching: Query(selector), changes)
  }

  /// Changes fields of the documents that match a selector with variables.
  @_disfavoredOverload @discardableResult
  public func update(matching selector: JSONLiteral, _ changes: FieldChange...) throws -> Int {
    try update(matching: Query(selector), changes)
  }

  /// Changes fields of the results of a query, in its order, with its skip and limit.
  @discardableResult
  public func update(matching query: Query, _ changes: [FieldChange]) throws -> Int {
    let program = try FieldChange.Program(changes)
    var count = 0
    for id in try documentIDs(query) {
      var known: RevisionID?
      let saved = try updateDocument(withID: id) { document in
        known = document.revisionID
        try program.apply(to: &document.body, id: id)
      }
      if saved.revisionID != known { count += 1 }
    }
    return count
  }

  /// Deletes the documents that match a selector, each as `deleteDocument(from:)` does: if a document has a conflict, another leaf
  /// becomes its current revision.
  ///
  /// - Parameter selector: The selector; `[:]` matches every document.
  /// - Returns: The number of tombstones.
  /// - Throws: ``QueryError`` for an invalid selector; `DatastoreError`.
  /// - Complexity: O(*matches*) in time; the matches' ids are in memory.
  @discardableResult
  public func delete(matching selector: JSONObject) throws -> Int {
    try delete(matching: Query(selector))
  }

  /// Deletes the documents that match a selector with variables.
  @_disfavoredOverload @discardableResult
  public func delete(matching selector: JSONLiteral) throws -> Int {
    try delete(matching: Query(selector))
  }

  /// Deletes the results of a query.
  @discardableResult
  public func delete(matching query: Query) throws -> Int {
    let ids = try documentIDs(query)
    for id in ids { try deleteDocument(from: document(withID: id)) }
    return ids.count
  }
}
