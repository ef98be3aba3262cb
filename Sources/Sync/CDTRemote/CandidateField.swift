import CDTJSON
import CDTQuery
import CDTReplication

/// A field in a selector that a server evaluates.
///
/// CouchDB's paths don't go into arrays, so a document with an array on the way to the field is always a candidate.
struct CandidateField: Sendable {
  private let path: FieldPath
  private let isID: Bool

  /// - Returns: `nil` for a field that can't be named to both dialects.
  init?(_ path: FieldPath, isDocument: Bool) {
    guard path.segments.count <= CandidateSelector.maximumSegments,
      // CouchDB removes every backslash of a path.
      !path.segments.contains(where: { $0.name.contains(UInt8(ascii: "\\")) }),
      let first = path.segments.first
    else { return nil }
    isID = isDocument && path.documentField == .id
    // Other members that begin with an underscore are CouchDB's. Elements are compared otherwise by their `_id`.
    guard isID || first.name.first != UInt8(ascii: "_") else { return nil }
    self.path = path
  }

  /// A selector that accepts the documents whose field satisfies a predicate.
  func candidates(_ predicate: Predicate) -> CandidateSelector {
    if isID { return idCandidates(predicate) }
    let whole = forms(predicate)
    guard path.segments.count > 1, whole != .nothing else { return whole }
    let arrays = (1..<path.segments.count).map { count in
      CandidateSelector.wider([
        FieldPath(segments: Array(path.segments[..<count])).text: ["$type": "array"]
      ])
    }
    return .any([whole] + arrays)
  }

  /// A condition on the field.
  private func on(_ operators: JSONObject) -> JSONObject { [path.text: .object(operators)] }

  /// The field, or an element of it, satisfies operators.
  private func inside(_ operators: JSONObject) -> JSONObject {
    either(operators, ["$elemMatch": .object(operators)])
  }

  private func either(_ alternatives: JSONObject...) -> JSONObject {
    ["$or": .array(alternatives.map { .object(on($0)) })]
  }

  private func type(_ types: JSONType...) -> JSONObject {
    let alternatives = types.map { JSONValue.object(on(["$type": .string($0.rawValue)])) }
    return alternatives.count == 1 ? alternatives[0].objectValue ?? [:] : ["$or": .array(alternatives)]
  }

  /// Ranges that an index can serve, and that hold for arrays too.
  private var isPresent: JSONObject { on(["$gt": nil]) }
  private var isStringOrMore: JSONObject { on(["$gte": ""]) }

  // MARK: Predicates

  private func forms(_ predicate: Predicate) -> CandidateSelector {
    switch predicate {
    case .equal(let value): return equal(value)
    case .among(let members): return among(members)
    case .compare(let comparison, let value): return compare(comparison, value)
    case .exists: return .exact(on(["$exists": true]))
    case .notNull: return .exact(isPresent)
    case .type(.null): return .exact(type(.null))
    case .type(let wanted): return .exact(isPresent, type(wanted))
    case .size(let size): return .exact(isPresent, on(["$size": .int(Int64(size))]))
    case .beginsWith(let prefix):
      return Self.pattern(prefix).map { .exact(isStringOrMore, inside(["$regex": .string($0)])) }
        ?? .wider(isStringOrMore, inside(["$type": "string"]))
    // A place, or an array of vectors or places.
    case .near(let near) where near.place != nil: return .wider(isPresent, type(.object, .array))
    case .near: return .wider(isPresent, type(.array))
    case .within: return .wider(isPresent, type(.object, .array))
    case .elementMatches(let condition): return elements("$elemMatch", condition)
    case .allElementsMatch(let condition): return elements("$allMatch", condition)
    default:
      guard let type = predicate.onlyType, type != .null else { return .wider(on(["$exists": true])) }
      return .wider(type == .string ? isStringOrMore : isPresent, inside(["$type": .string(type.rawValue)]))
    }
  }

  private func equal(_ value: JSONValue) -> CandidateSelector {
    switch value {
    case .null: return .exact(inside(["$eq": value]))
    // By its collation, CouchDB takes different strings for equal.
    case .string: return .wider(on(["$gte": value]), inside(["$eq": value]))
    case _ where value.isComparable: return .exact(on(["$gte": value]), inside(["$eq": value]))
    case .array: return .wider(isPresent, type(.array))
    // CouchDB compares members in their order.
    case .object: return .wider(isPresent, type(.object, .array))
    default: return .wider(isPresent, inside(["$type": "number"]))
    }
  }

  private func among(_ members: [JSONValue]) -> CandidateSelector {
    guard members.count <= CandidateSelector.maximumMembers else { return .wider(on(["$exists": true])) }
    guard members.allSatisfy(\.isComparable) else { return .any(members.map(equal)) }
    // CouchDB fails at null in `$in` if it has an index.
    if members.first == .null { return .any([equal(.null), among(Array(members.dropFirst()))]) }
    let isIn = on(["$in": .array(members)])
    // The members are sorted: booleans, numbers, strings.
    switch members.first {
    case .int?, .double?, .spelled?:
      return .conjuncts([on(["$gte": members[0]]), isIn], isExact: !members.hasString)
    case .string?: return .wider(isStringOrMore, isIn)
    default: return .conjuncts([isIn], isExact: !members.hasString)
    }
  }

  private func compare(_ comparison: Predicate.Comparison, _ value: JSONValue) -> CandidateSelector {
    let isGreater = comparison == .greater || comparison == .greaterOrEqual
    let operators = JSONObject([(comparison.rawValue, value)])
    switch value {
    case .bool: return .wider(isPresent, inside(["$type": "boolean"]))
    case .string:
      return isGreater
        ? .wider(isStringOrMore, type(.string, .array)) : .wider(isPresent, type(.number, .string, .array))
    case _ where value.isComparable:
      return isGreater ? .wider(on(operators)) : .wider(isPresent, inside(operators))
    default: return .wider(isPresent, type(.number, .string, .array))
    }
  }

  private func elements(_ name: String, _ condition: ElementCondition) -> CandidateSelector {
    switch CandidateElement.operators(condition) {
    case .nothing: .nothing
    case .everything: .wider(isPresent, type(.array))
    case .conjuncts(let conjuncts, let isExact):
      .conjuncts([isPresent, on([name: .object(conjuncts[0])])], isExact: isExact)
    }
  }

  // MARK: Complements

  /// A selector that accepts the documents whose field does not satisfy a predicate.
  func complement(_ predicate: Predicate) -> CandidateSelector {
    if isID { return idComplement(predicate) }
    guard path.segments.count == 1 else { return .unknown }
    let isMissing = CandidateSelector.exact(on(["$exists": false]))
    func missing(or other: CandidateSelector) -> CandidateSelector { .any([isMissing, other]) }
    switch predicate {
    case .exists: return isMissing
    case .notNull: return missing(or: .exact(type(.null)))
    case .type, .size: return missing(or: .exact(on(["$not": .object(predicate.operators)])))
    case .equal(let value): return Self.unequal(value).map { missing(or: .wider(on($0))) } ?? .unknown
    case .among(let members):
      guard members.count <= CandidateSelector.maximumMembers else { return .unknown }
      return missing(or: .all(members.map { Self.unequal($0).map { .wider(on($0)) } ?? .unknown }))
    case .compare(let comparison, let value):
      guard value.isComparable, value.isNumber else { return .unknown }
      let other = on([comparison.opposite.rawValue: value])
      return missing(or: .any([.wider(other), .wider(type(.null, .boolean, .array, .object))]))
    case .beginsWith(let prefix):
      guard let pattern = Self.pattern(prefix) else { return .unknown }
      return missing(or: .wider(on(["$not": ["$regex": .string(pattern)]])))
    default: return .unknown
    }
  }

  /// Operators that hold for values other than one; `nil` if no operator does in both dialects.
  private static func unequal(_ value: JSONValue) -> JSONObject? {
    switch value {
    case .string(let text): pattern(text).map { ["$not": ["$regex": .string($0 + "\\z")]] }
    case _ where value.isComparable: ["$ne": value]
    default: nil
    }
  }

  // MARK: Ids

  /// Ids are strings, which CouchDB compares by their bytes. In an index they have another order, so ranges are where
  /// no index serves them.
  private func idCandidates(_ predicate: Predicate) -> CandidateSelector {
    switch predicate {
    case .exists, .notNull, .type(.string): return .everything(isExact: true)
    case .equal(.string): return .exact(on(predicate.operators))
    case .among(let members):
      let ids = members.filter(\.isString)
      return ids.isEmpty ? .nothing : .exact(on(["$in": .array(ids)]))
    case .compare(_, .string): return .exact(["$or": [.object(on(predicate.operators))]])
    case .compare(let comparison, .int), .compare(let comparison, .double),
      .compare(let comparison, .spelled):
      return comparison.holds(.descending) ? .everything(isExact: true) : .nothing
    case .beginsWith(let prefix):
      guard let pattern = Self.pattern(prefix) else { return .unknown }
      return .exact(on(["$regex": .string(pattern)]))
    default: return predicate.types.contains(.string) ? .unknown : .nothing
    }
  }

  private func idComplement(_ predicate: Predicate) -> CandidateSelector {
    switch predicate {
    case .exists, .notNull, .type(.string): .nothing
    case .equal(.string(let id)): .exact(on(["$ne": .string(id)]))
    default: .unknown
    }
  }

  /// A pattern for strings with a prefix, for servers that match bytes and for those that match characters. `nil` if it
  /// is too long.
  static func pattern(_ prefix: String) -> String? {
    guard prefix.utf8.count <= 500 else { return nil }
    return prefix.unicodeScalars.reduce(into: "^") { pattern, scalar in
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9", "\u{80}"...: pattern.unicodeScalars.append(scalar)
      default:
        let digits = String(scalar.value, radix: 16)
        pattern += "\\x" + (digits.count < 2 ? "0" : "") + digits
      }
    }
  }
}

extension JSONValue {
  /// Whether `$eq` of both dialects accepts at least what equals the value: null, booleans, strings, and numbers for which
  /// it does not matter how precisely a server compares.
  var isComparable: Bool {
    switch self {
    case .null, .bool, .string: true
    case .int(let int): abs(Double(int)) < 9_007_199_254_740_992
    case .double, .spelled: abs(doubleValue ?? .infinity) < 9_007_199_254_740_992
    case .array, .object: false
    }
  }

  var isNumber: Bool {
    switch self {
    case .int, .double, .spelled: true
    default: false
    }
  }

  fileprivate var isString: Bool { stringValue != nil }
}

extension [JSONValue] {
  fileprivate var hasString: Bool { contains(where: \.isString) }
}
