package import CDTDatastore
package import CDTJSON

/// A revision and its ancestors, newest first: CouchDB's `_revisions`.
///
/// ```
/// [3-c, 2-b, 1-a]   {"start": 3, "ids": ["c", "b", "a"]}
/// ```
package struct RevisionList: Sendable, Hashable {
  /// The revisions, each one generation lower than the one before.
  package let revisions: [RevisionID]

  /// Creates a list.
  ///
  /// - Parameter revisions: Newest first, each one generation lower than the one before.
  package init(_ revisions: [RevisionID]) {
    self.revisions = revisions
  }

  /// Parses the value of `_revisions`.
  ///
  /// - Throws: ``CouchError`` with status 400 if it is not an object with `start` and `ids`, an id is not valid, or there
  ///   are more ids than generations.
  package init(json: JSONValue) throws(CouchError) {
    guard case .object(let object) = json else { throw .badSpecialMember("_revisions") }
    guard case .int(let start)? = object["start"] else { throw .revisionsStartNotAnInteger }
    guard case .array(let suffixes)? = object["ids"] else { throw .revisionsNotAnArray }
    guard start >= 0, Int64(suffixes.count) <= start, start <= Int64(Int.max) else {
      throw .revisionsOutOfRange(start: start, count: suffixes.count)
    }
    var revisions: [RevisionID] = []
    revisions.reserveCapacity(suffixes.count)
    for suffix in suffixes {
      guard case .string(let suffix) = suffix else { throw .revisionSuffixNotAString }
      guard let revision = RevisionID("\(Int(start) - revisions.count)-\(suffix)") else {
        throw .invalidRevision
      }
      revisions.append(revision)
    }
    self.revisions = revisions
  }

  /// The value of `_revisions`.
  package var json: JSONObject {
    [
      "start": .int(Int64(revisions.first?.generation ?? 0)),
      "ids": .array(revisions.map { .string($0.suffix) }),
    ]
  }
}

extension RevisionID {
  /// Parses a revision's id in JSON.
  ///
  /// - Throws: ``CouchError`` with status 400, also for what CouchDB accepts and we can't have: the generation 0 and
  ///   more than 255 bytes.
  package init(json: JSONValue) throws(CouchError) {
    guard case .string(let text) = json, let revision = RevisionID(text) else { throw .invalidRevision }
    self = revision
  }

  /// Parses an array of revisions' ids.
  package static func list(json: JSONValue) throws(CouchError) -> [RevisionID] {
    guard case .array(let elements) = json else { throw .invalidRevisionList }
    var revisions: [RevisionID] = []
    revisions.reserveCapacity(elements.count)
    for element in elements { revisions.append(try RevisionID(json: element)) }
    return revisions
  }

  /// Parses the parameter `atts_since`: a JSON array of revisions' ids.
  package static func list(parameter text: String) throws(CouchError) -> [RevisionID] {
    guard let json = try? JSONValue(parsing: text) else { throw .invalidJSON }
    return try list(json: json)
  }

  /// Revisions' ids as a JSON array, for `atts_since` and `open_revs`.
  package static func parameter(_ revisions: [RevisionID]) -> String {
    JSONValue.array(revisions.map { .string($0.description) }).text
  }
}

/// An entry of CouchDB's `_revs_info`.
package struct RevisionInfo: Sendable, Hashable {
  /// The part of a revision that a database has.
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

extension ReadTransaction {
  /// The ids of the revisions that a client asked for, each once. The document may not have them. Leaves are in CouchDB's order
  /// of a tree.
  package func openRevisionIDs(
    of id: String, _ wanted: OpenRevisions, isLatest: Bool
  ) throws -> [RevisionID] {
    guard let tree = try tree(ofDocument: id) else {
      if case .revisions(let revisions) = wanted { return revisions }
      return []
    }
    guard case .revisions(let revisions) = wanted else { return tree.leavesByBranch.map(\.id) }
    // A document may have thousands of leaves.
    let inner = isLatest ? revisions.filter { tree.nodes[$0]?.isLeaf == false } : []
    let below = inner.isEmpty ? [:] : tree.leaves(below: Set(inner))
    let places = Dictionary(
      inner.isEmpty ? [] : tree.leavesByBranch.enumerated().map { ($1.id, $0) },
      uniquingKeysWith: { first, _ in first })
    var ids: [RevisionID] = []
    var known: Set<RevisionID> = []
    for revision in revisions {
      let found = below[revision]?.map(\.id).sorted { places[$0, default: 0] < places[$1, default: 0] }
      for id in found ?? [revision] where known.insert(id).inserted { ids.append(id) }
    }
    return ids
  }
}
