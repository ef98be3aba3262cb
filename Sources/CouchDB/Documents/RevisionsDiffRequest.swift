package import CDTDatastore
package import CDTJSON

/// The body of `POST /db/_revs_diff`: revisions of documents, of which the database lists those it lacks.
///
/// ```
/// {"task1": ["3-c", "3-d"], "task2": ["1-a"]}
/// ```
package struct RevisionsDiffRequest: Sendable, Hashable {
  package struct Entry: Sendable, Hashable {
    package let id: String
    package let revisions: [RevisionID]

    package init(id: String, revisions: [RevisionID]) {
      self.id = id
      self.revisions = revisions
    }
  }

  /// The documents in their written order.
  package var entries: [Entry]

  package init(_ entries: [Entry]) {
    self.entries = entries
  }

  /// Parses the body.
  ///
  /// - Throws: ``CouchError`` with status 400.
  package init(json: JSONValue) throws(CouchError) {
    guard case .object(let object) = json else { throw .revisionsDiffNotAnObject }
    try self.init(members: Array(object))
  }

  /// Reads the members of the body. A name may be repeated, as CouchDB's replicator names a document as often as the feed
  /// of changes did; its revisions are joined.
  ///
  /// - Throws: ``CouchError`` with status 400.
  package init(members: [JSONObject.Member]) throws(CouchError) {
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
    entries = zip(ids, revisions).map { id, revisions in
      var seen: Set<RevisionID> = []
      return Entry(id: id, revisions: revisions.filter { seen.insert($0).inserted })
    }
  }

  /// The body.
  package var json: JSONObject {
    JSONObject(entries.map { entry in (entry.id, .array(entry.revisions.map { .string($0.description) })) })
  }
}
