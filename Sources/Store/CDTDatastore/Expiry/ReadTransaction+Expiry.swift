import CDTSQLite

extension Datastore {
  /// Whether documents may expire.
  var hidesDocuments: Bool { extensionObjects.all.contains(where: \.hidesDocuments) }
}

/// Documents that have expired. From that instant on, reads leave them out and changes treat them as deleted; an extension, which
/// decides when a document expires, deletes them soon after.
extension ReadTransaction {
  /// The numbers of the documents that had expired when the transaction first asked, and are not deleted yet.
  package func expiredDocuments() throws -> Set<Int64> {
    if let expired { return expired }
    var found = Set<Int64>()
    if store.hidesDocuments {
      for each in store.extensionObjects.all { found.formUnion(try each.expiredDocuments(in: self)) }
    }
    if !found.isEmpty {
      try use { connection in
        if reader?.canHideDocuments != true { try ExpiredDocuments.create(on: connection) }
        try ExpiredDocuments.hide(found, on: connection)
      }
    }
    expired = found
    return found
  }

  /// The table or view that reads of documents use.
  func documentsTable() throws -> String {
    try expiredDocuments().isEmpty ? "documents" : ExpiredDocuments.view
  }

  /// Whether a document has expired and is left out.
  func isHidden(_ id: String) throws -> Bool {
    let expired = try expiredDocuments()
    guard !expired.isEmpty else { return false }
    return try use { try DocumentRow.find(id, on: $0) }.map { expired.contains($0.number) } ?? false
  }
}
