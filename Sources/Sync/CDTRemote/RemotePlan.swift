import CDTJSON
import CDTPlatform
import CDTQuery
import CDTReplication

/// The way in which the candidates of a query are read from a server.
struct RemotePlan: Sendable {
  enum Source: Sendable, Hashable {
    /// Nothing can match.
    case nothing
    /// The documents with these ids.
    case ids([String])
    /// The documents that the server finds. The design documents are read first, as they may define indexes for words.
    case find(JSONObject)
    /// Every document, in the order of ids.
    case allDocuments(isDescending: Bool)
  }

  let source: Source
  /// Whether the candidates arrive in the order of the results.
  let isInOrder: Bool
  /// The conditions that the source does not decide.
  let residual: Clause
  /// The members that the matcher reads; empty for all.
  let fields: [String]

  /// - Throws: `QueryError` with the path of the invalid part.
  init(_ query: Query) throws(QueryError) {
    let resolved = try ResolvedQuery(query)
    let (sort, clause) = (resolved.sort, resolved.selector.clause)
    let byID = sort.fields.first.flatMap { $0.path.documentField == .id ? $0 : nil }
    let candidates = CandidateSelector(clause)
    if candidates == .nothing {
      source = .nothing
    } else if let ids = Self.ids(clause) {
      source = .ids(ids)
    } else if let selector = candidates.selector {
      source = .find(selector)
    } else {
      source = .allDocuments(isDescending: byID?.isDescending ?? false)
    }
    switch source {
    case .nothing:
      residual = .always
      isInOrder = true
    case .ids:
      residual = .all(clause.conjuncts.filter { $0.ids == nil })
      isInOrder = sort.isEmpty
    case .find:
      residual = .all(clause.conjuncts.filter { !CandidateSelector($0).isExact })
      isInOrder = sort.isEmpty
    case .allDocuments:
      residual = clause
      isInOrder = sort.isEmpty || byID != nil
    }
    fields = Self.fields(clause)
  }

  /// The ids that a document must have one of.
  private static func ids(_ clause: Clause) -> [String]? {
    clause.conjuncts.lazy.compactMap(\.ids).first
  }

  /// The members that a clause reads; empty if they can't all be named to a server.
  private static func fields(_ clause: Clause) -> [String] {
    guard let names = clause.memberNames else { return [] }
    return ["_id", "_rev"] + names.subtracting(["_id", "_rev"]).sorted()
  }
}

extension Clause {
  /// The ids that a conjunct requires.
  fileprivate var ids: [String]? {
    guard case .field(let path, let predicate) = self, path.documentField == .id else { return nil }
    switch predicate {
    case .equal(.string(let id)): return [id]
    case .among(let members): return members.compactMap(\.stringValue)
    default: return nil
    }
  }

  /// The members of a document that the clause reads, if their names are letters, digits and underscores.
  fileprivate var memberNames: Set<String>? {
    switch self {
    case .always, .never: return []
    case .and(let clauses), .or(let clauses):
      return clauses.reduce([] as Set<String>?) { names, clause in
        guard let names, let more = clause.memberNames else { return nil }
        return names.union(more)
      }
    case .not(let clause): return clause.memberNames
    case .field(let path, _):
      guard let name = path.segments.first?.name, name.allSatisfy(\.isWordCharacter) else { return nil }
      return [String(decoding: name, as: UTF8.self)]
    case .text, .value, .rule: return nil
    }
  }
}

extension UInt8 {
  fileprivate var isWordCharacter: Bool {
    isLetter || isDigit || self == UInt8(ascii: "_")
  }
}
