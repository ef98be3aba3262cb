import CDTJSON
import CDTQuery
import CDTReplication

/// Conditions on the elements of an array in a selector that a server evaluates.
enum CandidateElement {
  /// The argument of `$elemMatch` or `$allMatch`, as one conjunct.
  static func operators(_ condition: ElementCondition) -> CandidateSelector {
    switch condition {
    case .fields(let clause):
      let fields = CandidateSelector(clause, isDocument: false)
      guard let selector = fields.selector else { return fields == .nothing ? .nothing : .unknown }
      // CouchDB finds a position in an element that is an array.
      return .wider(selector)
    case .operators(let clause): return values(clause)
    }
  }

  /// Operators of an element itself. Both dialects take them in one object only, so each operator is sent once.
  private static func values(_ clause: Clause) -> CandidateSelector {
    var operators = JSONObject()
    var isExact = true
    for conjunct in clause.conjuncts {
      guard let (name, argument, exact) = condition(conjunct), operators[name] == nil else {
        if conjunct == .never { return .nothing }
        isExact = false
        continue
      }
      operators[name] = argument
      isExact = isExact && exact
    }
    return operators.isEmpty ? .everything(isExact: isExact) : .conjuncts([operators], isExact: isExact)
  }

  private static func condition(_ clause: Clause) -> (name: String, argument: JSONValue, isExact: Bool)? {
    switch clause {
    case .value(let predicate): condition(predicate)
    // A string would exclude those that are equal by CouchDB's collation.
    case .not(.value(.equal(let value))) where value.isComparable && value.stringValue == nil:
      ("$ne", value, true)
    default: nil
    }
  }

  private static func condition(
    _ predicate: Predicate
  ) -> (name: String, argument: JSONValue, isExact: Bool)? {
    func type(_ type: JSONType, isExact: Bool = false) -> (String, JSONValue, Bool) {
      ("$type", .string(type.rawValue), isExact)
    }
    switch predicate {
    case .equal(let value) where value.isComparable: return ("$eq", value, value.stringValue == nil)
    case .among(let members):
      // CouchDB fails at null in `$in` if it has an index.
      guard members.count <= CandidateSelector.maximumMembers, members.first != .null,
        members.allSatisfy(\.isComparable)
      else { return nil }
      return ("$in", .array(members), false)
    case .compare(.greater, .string), .compare(.greaterOrEqual, .string): return ("$gte", "", false)
    case .compare(let comparison, let value) where value.isNumber && value.isComparable:
      return (comparison.rawValue, value, false)
    case .notNull: return ("$gt", .null, true)
    case .type(let wanted): return type(wanted, isExact: true)
    case .size(let size): return ("$size", .int(Int64(size)), true)
    case .beginsWith(let prefix):
      return CandidateField.pattern(prefix).map { ("$regex", .string($0), true) } ?? type(.string)
    case .elementMatches(let condition): return nested("$elemMatch", condition)
    case .allElementsMatch(let condition): return nested("$allMatch", condition)
    default: return predicate.onlyType.map { type($0) }
    }
  }

  private static func nested(
    _ name: String, _ condition: ElementCondition
  ) -> (name: String, argument: JSONValue, isExact: Bool)? {
    guard case .conjuncts(let conjuncts, let isExact) = operators(condition) else {
      return ("$type", "array", false)
    }
    return (name, .object(conjuncts[0]), isExact)
  }
}
