package import CDTDatastore
package import CDTJSON

/// The body of `POST /db/_revs_diff`: revisions of documents, of which the database lists those it lacks.
///
/// ```
/// {"task1": ["3-c", "3-d"], "task2": ["1-a"]}
/// ```
package enum RevisionsDiffRequest {
  package typealias Entry = (id: String, revisions: [RevisionID])

  /// The documents in the members of a body, in their written order. A name may be repeated, as CouchDB's replicator names a
  /// document as often as the feed of changes did; its revisions are joined.
  ///
  /// - Throws: ``CouchError`` with status 400.
  package static func entries(_ members: [JSONObject.Member]) throws(CouchError) -> [Entry] {
    var ids: [String] = []
    var revisions: [[RevisionID]] = []
    // Names are compared by their bytes.
    var positions = JSONObject()
    for (id, value) in members {
      let list = try RevisionID.list(json: value)
      if let position = positions[id]?.intValue {
        revisions[position] += list
      } else {
        positions[id] = .int(Int64(ids.count))
        ids.append(id)
        revisions.append(list)
      }
    }
    return zip(ids, revisions).map { id, revisions in
      var seen: Set<RevisionID> = []
      return (id, revisions.filter { seen.insert($0).inserted })
    }
  }

  /// The body that names some documents.
  package static func json(_ entries: [Entry]) -> JSONObject {
    JSONObject(entries.map { entry in (entry.id, .array(entry.revisions.map { .string($0.description) })) })
  }
}

/// The revisions of a document that a database lacks.
package struct RevisionDifference: Sendable, Hashable {
  package let id: String
  /// The revisions that the database lacks.
  package let missing: [RevisionID]
  /// Its leaves that may be ancestors of what is missing.
  package let ancestors: [RevisionID]
  /// Whether the filter of a replication no longer accepts the document.
  package var hasLeftFilter = false
  /// Whether the source of a replication no longer shows the document, which the target has.
  package var isRemoved = false

  package init(id: String, missing: [RevisionID], ancestors: [RevisionID] = []) {
    self.id = id
    self.missing = missing
    self.ancestors = ancestors
  }
}

extension ReadTransaction {
  /// The given revisions that a document lacks; `nil` if it has them all.
  package func revisionDifference(of id: String, among revisions: [RevisionID]) throws -> RevisionDifference?
  {
    // As at CouchDB, local documents have no revisions that could be sent.
    if id.hasBytePrefix("_local/") {
      return revisions.isEmpty ? nil : RevisionDifference(id: id, missing: revisions)
    }
    let missing = try missingRevisions(of: id, among: revisions)
    guard let highest = missing.map(\.generation).max() else { return nil }
    let leaves = try tree(ofDocument: id)?.leaves.map(\.id) ?? []
    return RevisionDifference(
      id: id, missing: missing, ancestors: leaves.filter { $0.generation < highest })
  }
}
