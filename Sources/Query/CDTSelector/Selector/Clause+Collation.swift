package import CDTJSON

// A clause whose comparisons of strings go by a collation.
//
//   {"name": "Anna", "age": {"$gt": 30}, "_id": "a"}   →   name is compared by the collation; age and _id are as before
extension Clause {
  /// The clause, with its strings compared by a collation. `_id` and `_rev`, the names of members and patterns are not.
  package func collated(by collation: Collation) -> Clause { collated(by: collation, isDocument: true) }

  /// - Parameter isDocument: Whether `_id` and `_rev` are the document's; in an element they are members.
  private func collated(by collation: Collation, isDocument: Bool) -> Clause {
    switch self {
    case .always, .never, .text: self
    case .and(let members): .and(members.map { $0.collated(by: collation, isDocument: isDocument) })
    case .or(let members): .or(members.map { $0.collated(by: collation, isDocument: isDocument) })
    case .not(let clause): .not(clause.collated(by: collation, isDocument: isDocument))
    case .value(let predicate): .value(predicate.collated(by: collation))
    case .rule: self
    case .field(let path, let predicate):
      isDocument && path.documentField != nil ? self : .field(path, predicate.collated(by: collation))
    }
  }

  fileprivate func ofElementCollated(by collation: Collation) -> Clause {
    collated(by: collation, isDocument: false)
  }
}

extension ElementCondition {
  fileprivate func collated(by collation: Collation) -> ElementCondition {
    switch self {
    case .fields(let clause): .fields(clause.ofElementCollated(by: collation))
    case .operators(let clause): .operators(clause.ofElementCollated(by: collation))
    }
  }
}

extension Predicate {
  fileprivate func collated(by collation: Collation) -> Predicate {
    switch self {
    case .elementMatches(let condition): .elementMatches(condition.collated(by: collation))
    case .allElementsMatch(let condition): .allElementsMatch(condition.collated(by: collation))
    default: folded(by: collation) == nil ? self : .collated(self, collation)
    }
  }

  /// The predicate with its strings folded, to be compared with folded values by their bytes; `nil` if it compares no strings.
  package func folded(by collation: Collation) -> Predicate? {
    switch self {
    case .equal(let value): value.hasString ? .equal(collation.folded(value)) : nil
    case .compare(let comparison, let value):
      value.hasString ? .compare(comparison, collation.folded(value)) : nil
    case .among(let members):
      members.contains(where: \.hasString) ? .among(members.map(collation.folded)) : nil
    case .beginsWith(let prefix): .beginsWith(collation.folded(prefix))
    case .exists, .notNull, .type, .modulo, .size, .regex, .near, .within, .elementMatches, .allElementsMatch,
      .keyMatches, .computed, .collated:
      nil
    }
  }
}

extension Collation {
  /// Reads the member `collation` of a request; `nil` and null mean none.
  ///
  /// - Throws: ``QueryError`` for any other value than the name of a collation.
  package init?(json: JSONValue?, at place: String) throws(QueryError) {
    guard let json, json != .null else { return nil }
    guard let collation = json.stringValue.flatMap(Collation.init) else {
      throw QueryError(.unknownCollation(json), at: place)
    }
    self = collation
  }
}

extension Collation? {
  /// The comparison of strings, for explanations.
  package var text: String { map { "by \"\($0.rawValue)\"" } ?? "by their bytes" }
}

extension UnsafeRawBufferPointer {
  /// The bytes of a string in the form that is compared.
  package func folded(by collation: Collation?) -> [UInt8] {
    guard let collation else { return Array(self) }
    var bytes: [UInt8] = []
    collation.fold(self, to: &bytes)
    return bytes
  }
}
