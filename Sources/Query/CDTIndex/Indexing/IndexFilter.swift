import CDTJSON

/// The filters of partial indexes.
enum IndexFilter {
  /// The maximum length of a filter's JSON in bytes.
  static let maximumLength = 10_000

  /// Validates a filter given by the user.
  ///
  /// The result is in a canonical form: filters with the same conditions in another order or spelling, such as
  /// `{"a": 1, "b": 2}` and `{"$and": [{"b": {"$eq": 2}}, {"a": 1}]}`, are equal.
  ///
  /// - Returns: `nil` for a selector that every document matches.
  /// - Throws: ``QueryError`` with a path below `where`.
  static func selector(_ json: JSONObject) throws(QueryError) -> QuerySelector? {
    if json.isEmpty { return nil }
    let clause: Clause
    do {
      clause = try QuerySelector(json).clause.canonical
    } catch {
      throw error.below("where")
    }
    if case .always = clause { return nil }
    if clause.textSearch != nil { throw .filterNeedsText }
    if clause.near != nil { throw .filterWithNear }
    if clause.hasPattern { throw .filterWithPattern }
    let length = clause.selector.utf8Text.count
    guard length <= maximumLength else { throw .filterTooLong(length) }
    // The form that is read from a file again.
    return try QuerySelector(clause.selector)
  }
}

extension Clause {
  /// The clause with the members of conjunctions and disjunctions in the order of their text, each once.
  fileprivate var canonical: Clause {
    switch self {
    case .and(let members): .all(Self.canonical(members))
    case .or(let members): .any(Self.canonical(members))
    case .not(let member): member.canonical.complement
    case .always, .never, .field, .text, .value, .rule: self
    }
  }

  private static func canonical(_ members: [Clause]) -> [Clause] {
    let spelled = members.map(\.canonical).map { (clause: $0, text: $0.selector.text) }
      .sorted { $0.text.precedesInBytes($1.text) }
    return spelled.indices.filter { $0 == 0 || !spelled[$0].text.hasSameBytes(as: spelled[$0 - 1].text) }.map
    { spelled[$0].clause }
  }
}
