import CDTJSON
import CDTQuery
import CDTReplication

/// A selector that a server evaluates, which accepts at least the documents that a selector of ours accepts.
///
/// ```
/// {"age": 5}           [{"age": {"$gte": 5}}, {"$or": [{"age": {"$eq": 5}}, {"age": {"$elemMatch": {"$eq": 5}}}]}]
/// {"name": {"$gt": "m"}}                                                         [{"name": {"$gte": ""}}]
/// ```
///
/// It holds for CouchDB's dialect as well as for ours, which a server of ours evaluates. The dialects differ: CouchDB
/// compares across types, by ICU's collation, and does not look into arrays. Where no form is provably wider in both,
/// nothing is sent. The first conjuncts are ranges that an index can serve; CouchDB's planner does not look into `$or`.
enum CandidateSelector: Sendable, Hashable {
  /// Every document may match. - Parameter isExact: Whether every document does.
  case everything(isExact: Bool)
  /// No document can match.
  case nothing
  /// Only documents that satisfy all conjuncts can match. - Parameter isExact: Whether all of these do.
  case conjuncts([JSONObject], isExact: Bool)

  /// The maximum number of members of `$in` and of segments of a path in a request.
  static let maximumMembers = 1_000
  static let maximumSegments = 10
  /// The maximum length of the request's selector.
  static let maximumLength = 256 * 1024

  /// - Parameter isDocument: Whether `_id` is the document's, and not a member of an element.
  init(_ clause: Clause, isDocument: Bool = true) {
    self =
      switch clause {
      case .always: .everything(isExact: true)
      case .never: .nothing
      case .and(let clauses): .all(clauses.map { CandidateSelector($0, isDocument: isDocument) })
      case .or(let clauses): .any(clauses.map { CandidateSelector($0, isDocument: isDocument) })
      case .not(let clause): CandidateSelector(complementOf: clause, isDocument: isDocument)
      case .field(let path, let predicate):
        CandidateField(path, isDocument: isDocument)?.candidates(predicate) ?? .unknown
      case .text, .value, .rule: .unknown
      }
  }

  /// A selector that accepts at least the documents that a clause does not accept.
  private init(complementOf clause: Clause, isDocument: Bool) {
    self =
      switch clause {
      case .always: .nothing
      case .never: .everything(isExact: true)
      case .and(let clauses):
        .any(clauses.map { CandidateSelector(complementOf: $0, isDocument: isDocument) })
      case .or(let clauses): .all(clauses.map { CandidateSelector(complementOf: $0, isDocument: isDocument) })
      case .not(let clause): CandidateSelector(clause, isDocument: isDocument)
      case .field(let path, let predicate):
        CandidateField(path, isDocument: isDocument)?.complement(predicate) ?? .unknown
      case .text, .value, .rule: .unknown
      }
  }

  /// Nothing is known of the documents that match.
  static let unknown = CandidateSelector.everything(isExact: false)

  /// A selector that says exactly what is asked.
  static func exact(_ conjuncts: JSONObject...) -> CandidateSelector { .conjuncts(conjuncts, isExact: true) }

  /// A selector that accepts more than is asked.
  static func wider(_ conjuncts: JSONObject...) -> CandidateSelector { .conjuncts(conjuncts, isExact: false) }

  var isExact: Bool {
    switch self {
    case .everything(let isExact), .conjuncts(_, let isExact): isExact
    case .nothing: true
    }
  }

  /// The selector that is sent; `nil` if every document is a candidate, also because a server would refuse a selector
  /// that is so large or so deep.
  var selector: JSONObject? {
    guard case .conjuncts(let conjuncts, _) = self else { return nil }
    let selector = Self.joined("$and", conjuncts)
    guard selector.utf8Text.count <= Self.maximumLength, (try? QuerySelector(selector)) != nil else {
      return nil
    }
    return selector
  }

  static func all(_ members: [CandidateSelector]) -> CandidateSelector {
    if members.contains(.nothing) { return .nothing }
    let isExact = members.allSatisfy(\.isExact)
    let conjuncts = members.flatMap { member -> [JSONObject] in
      if case .conjuncts(let conjuncts, _) = member { conjuncts } else { [] }
    }
    return conjuncts.isEmpty ? .everything(isExact: isExact) : .conjuncts(conjuncts, isExact: isExact)
  }

  static func any(_ members: [CandidateSelector]) -> CandidateSelector {
    var alternatives: [JSONObject] = []
    for member in members {
      switch member {
      case .nothing: continue
      case .everything: return .everything(isExact: members.contains(.everything(isExact: true)))
      case .conjuncts(let conjuncts, _): alternatives.append(joined("$and", conjuncts))
      }
    }
    if alternatives.isEmpty { return .nothing }
    return .conjuncts([joined("$or", alternatives)], isExact: members.allSatisfy(\.isExact))
  }

  private static func joined(_ name: String, _ members: [JSONObject]) -> JSONObject {
    members.count == 1 ? members[0] : [name: .array(members.map { .object($0) })]
  }
}
