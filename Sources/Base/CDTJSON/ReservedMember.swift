/// The members of a document that are not part of its body: those whose names begin with an underscore, such as `_id`.
///
/// As at CouchDB, those that its replicator writes into the documents of replications are part of the body.
package enum ReservedMember {
  private static let stored = [
    "_replication_id", "_replication_state", "_replication_state_time", "_replication_state_reason",
    "_replication_stats",
  ]
  private static let shortestStored = "_replication_id".utf8.count

  /// Whether a member of a document is not part of its body.
  package static func isReserved(_ name: String) -> Bool { isReserved(utf8: name.utf8) }

  /// - Parameter name: The name in UTF-8.
  static func isReserved(utf8 name: some Collection<UInt8>) -> Bool {
    guard name.first == UInt8(ascii: "_") else { return false }
    // Most names are shorter.
    return name.count < shortestStored || !stored.contains { name.elementsEqual($0.utf8) }
  }
}
