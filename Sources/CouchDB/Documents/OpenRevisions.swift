package import CDTDatastore
import CDTJSON

/// The parameter `open_revs`: which revisions of a document to read.
package enum OpenRevisions: Sendable, Hashable {
  /// Every leaf.
  case all
  case revisions([RevisionID])

  /// Parses the parameter: `all`, or a JSON array of revisions' ids.
  ///
  /// - Throws: ``CouchError`` with status 400.
  package init(parameter text: String) throws(CouchError) {
    guard text != "all" else {
      self = .all
      return
    }
    guard let json = try? JSONValue(parsing: text) else { throw .invalidOpenRevisions }
    self = .revisions(try RevisionID.list(json: json))
  }

  /// The parameter, not percent-encoded.
  package var parameter: String {
    switch self {
    case .all: "all"
    case .revisions(let revisions): RevisionID.parameter(revisions)
    }
  }
}
