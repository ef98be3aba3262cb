import CDTDatastore
import CDTJSON
import CouchDB

/// The revisions that a server was asked for, and what it has sent so far.
///
/// It may send the leaves that descend from a revision in its place. A reply without TLS can be damaged on the way, and
/// a server or a proxy may leave out a part: what was not asked for is refused, and what did not arrive is known.
struct RequestedRevisions {
  private let documents: [RevisionDifference]
  private let requested: [KeyBytes: Set<RevisionID>]
  /// The revisions that were not sent, nor a descendant of them.
  private var rest: [KeyBytes: Set<RevisionID>]
  private var arrived: Set<RevisionKey> = []

  init(_ documents: [RevisionDifference]) {
    self.documents = documents
    requested = Dictionary(documents.map { (KeyBytes($0.id), Set($0.missing)) }) { $0.union($1) }
    rest = requested
  }

  /// Notes a revision that was sent.
  ///
  /// - Returns: Whether it was asked for, or descends from one that was.
  mutating func take(_ revision: TransferredRevision) -> Bool {
    let id = KeyBytes(revision.id)
    guard let requested = requested[id] else { return false }
    let answered = Self.ancestors(of: revision, among: requested)
    guard !answered.isEmpty else { return false }
    rest[id]?.subtract(answered)
    arrived.insert(revision.key)
    return true
  }

  private static func ancestors(
    of revision: TransferredRevision, among requested: Set<RevisionID>
  ) -> Set<RevisionID> {
    if requested.contains(revision.revision) { return [revision.revision] }
    guard case .parsed(let input) = revision.content else { return [] }
    let history = input.history
    let known = requested.intersection(history)
    guard known.isEmpty, let oldest = history.last?.generation else { return known }
    // The history may be cut off.
    return requested.filter { $0.generation < oldest }
  }

  /// The documents of which something is missing.
  var unanswered: [RevisionDifference] {
    documents.compactMap { document in
      let rest = rest[KeyBytes(document.id)] ?? []
      let missing = document.missing.filter { rest.contains($0) }
      return missing.isEmpty
        ? nil : document.only(missing)
    }
  }

  /// The documents of which something has not arrived itself.
  var notArrived: [RevisionDifference] { documents.without(arrived) }
}
