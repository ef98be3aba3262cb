import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB

/// A filter that is evaluated here, not by a server.
struct CompiledFilter: Sendable {
  private enum Kind: Sendable {
    case ids(Set<[UInt8]>)
    case selector(SelectorFilter)
    case closure(@Sendable (DocumentRevision) throws -> Bool)
  }

  private let kind: Kind

  /// - Throws: ``ReplicationError`` with the code `.invalidRequest` for a filter that only a server can evaluate, and for a
  ///   malformed selector.
  init(_ filter: ReplicationFilter) throws(ReplicationError) {
    switch filter {
    case .documentIDs(let ids): kind = .ids(Set(ids.map { Array($0.utf8) }))
    case .closure(_, let body): kind = .closure(body)
    case .selector(let json):
      do throws(QueryError) {
        kind = .selector(try SelectorFilter(QuerySelector(json)))
      } catch {
        throw ReplicationError(.invalidRequest, "the filter: \(error)")
      }
    case .designDocument(let name, _):
      throw ReplicationError(
        .invalidRequest,
        "the filter \(name) of a design document can only be used to pull from a server; use a selector")
    }
  }

  private init(_ kind: Kind) {
    self.kind = kind
  }

  /// The same filter for other revisions: the patterns of a selector have limits for all revisions together.
  var renewed: CompiledFilter {
    get throws {
      guard case .selector(let selector) = kind else { return self }
      return CompiledFilter(.selector(try selector.renewed))
    }
  }

  /// The selector, if the filter is one.
  var selector: SelectorFilter? {
    if case .selector(let selector) = kind { selector } else { nil }
  }

  /// Whether a document with an id can be accepted.
  func accepts(id: String) -> Bool {
    if case .ids(let ids) = kind { ids.contains(Array(id.utf8)) } else { true }
  }

  func accepts(_ revision: DocumentRevision) throws -> Bool {
    switch kind {
    case .ids: accepts(id: revision.id)
    case .selector(let selector):
      try selector.matches(revision, with: DocumentText.attachmentMembers(of: revision))
    case .closure(let body): try body(revision)
    }
  }

  /// Whether a revision on its way is accepted.
  func accepts(_ revision: TransferredRevision, _ input: DocumentInput) throws -> Bool {
    switch kind {
    case .ids: return accepts(id: revision.id)
    default:
      return try accepts(
        DocumentRevision(
          id: revision.id, revisionID: revision.revision, body: try JSONObject(parsing: input.body.text),
          isDeleted: input.isDeleted))
    }
  }
}

extension ReplicationFilter {
  /// Whether it can also be evaluated here, if a server can't.
  var isReplaceable: Bool {
    switch self {
    case .selector, .documentIDs: true
    case .designDocument, .closure: false
    }
  }

  /// A text that identifies the filter in the id of a replication.
  var json: JSONValue {
    switch self {
    case .selector(let selector): ["selector": .object(selector)]
    case .documentIDs(let ids): ["doc_ids": .array(ids.sorted().map { .string($0) })]
    case .designDocument(let name, let parameters):
      [
        "filter": .string(name),
        "query_params": .object(
          JSONObject(parameters.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })),
      ]
    case .closure(let name, _): ["closure": .string(name)]
    }
  }
}
