package import CDTDatastore
package import CDTJSON

/// An entry of CouchDB's `_revs_info`.
package struct RevisionInfo: Sendable, Hashable {
  /// What a database has of a revision.
  package enum Status: String, Sendable, Hashable {
    /// Its body.
    case available
    /// Its body, and it is a deletion.
    case deleted
    /// Its id only.
    case missing
  }

  package let revision: RevisionID
  package let status: Status

  package init(_ revision: RevisionID, _ status: Status) {
    self.revision = revision
    self.status = status
  }

  /// The entry, such as `{"rev":"3-c","status":"available"}`.
  package var json: JSONObject {
    ["rev": .string(revision.description), "status": .string(status.rawValue)]
  }
}
