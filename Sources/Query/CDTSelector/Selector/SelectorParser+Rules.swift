import CDTJSON

// The operators that only rules have.
extension SelectorParser {
  /// The object in which an operator stands.
  enum Scope {
    /// A selector, whose keys are fields and combinations.
    case selector
    /// Operators on a target.
    case target(OperatorTarget)
  }

  /// Whether a key stands beside fields as well as beside operators.
  func isNeutral(_ key: String) -> Bool { additions != nil && RuleAdditions.neutral.contains(key) }

  /// The clause of a neutral key; `nil` for one that belongs to another key, or to the failures of the whole object.
  mutating func addition(
    _ name: String, of object: JSONObject, in scope: Scope, at place: String
  ) throws(QueryError) -> Clause? {
    let path = Self.join(place, name)
    switch name {
    case "$if":
      guard let then = object["$then"] else { throw QueryError(.thenIsMissing, at: path) }
      let condition = try part(name, object[name] ?? .null, in: scope, at: path)
      let holds = try part("$then", then, in: scope, at: Self.join(place, "$then"))
      var otherwise = Clause.always
      if let value = object["$else"] {
        otherwise = try part("$else", value, in: scope, at: Self.join(place, "$else"))
      }
      return .rule(.conditional(condition, then: holds, otherwise: otherwise))
    case "$then", "$else":
      guard object["$if"] != nil else { throw QueryError(.withoutIf(name), at: path) }
      return nil
    case "$ref":
      let (name, selector) = try referenced(object["$ref"] ?? .null, at: path)
      guard !references.contains(name) else { throw QueryError(.recursiveReference(name), at: path) }
      // A long list could be referred to often.
      referencedLength += selector.utf8Text.count
      guard referencedLength <= Self.maximumReferencedLength else {
        throw QueryError(.tooManyClauses, at: path)
      }
      references.append(name)
      defer { references.removeLast() }
      return try part("$ref", selector, in: scope, at: path)
    default:
      guard additions?.kind == .writing else { throw QueryError(.onlyForWriting(name), at: path) }
      guard let value = object[name], case .string(let text) = value,
        name == "$reason" || Self.errors[text] != nil
      else {
        let wanted = name == "$reason" ? "a text" : "\"forbidden\" or \"unauthorized\""
        throw QueryError(.wrongArgument(of: name, wanted: wanted, found: object[name] ?? .null), at: path)
      }
      return nil
    }
  }

  private static let maximumReferencedLength = 16 << 20

  /// The values of `$error`, and whether each is that of status 401.
  private static let errors = ["forbidden": false, "unauthorized": true]

  /// A clause with the `$error` and the `$reason` of its object.
  func annotated(_ clause: Clause, by object: JSONObject) -> Clause {
    guard additions != nil else { return clause }
    let isUnauthorized = object["$error"]?.stringValue.flatMap { Self.errors[$0] }
    let reason = object["$reason"]?.stringValue
    guard isUnauthorized != nil || reason != nil else { return clause }
    return .rule(.annotated(clause, isUnauthorized: isUnauthorized, reason: reason))
  }

  /// The selector that a `$ref` names, which has the path of its name.
  private func referenced(_ argument: JSONValue, at path: String) throws(QueryError) -> (String, JSONValue) {
    guard case .string(let name) = argument else {
      throw QueryError(
        .wrongArgument(of: "$ref", wanted: "a path such as \"defs.name\"", found: argument), at: path)
    }
    var value = JSONValue.object(additions?.designDocument ?? [:])
    for segment in try Self.fieldPath(name, at: path).segments {
      guard let member = value.objectValue?[String(decoding: segment.name, as: UTF8.self)] else {
        throw QueryError(.unknownReference(name), at: path)
      }
      value = member
    }
    return (name, value)
  }

  /// The object that decides whether additions alone test an element or its fields: the condition, or the selector that is
  /// referred to.
  func decisive(_ object: JSONObject, at path: String) throws(QueryError) -> JSONObject {
    var object = object
    var names = references
    while true {
      while object.count == 1, case .object(let inner)? = object["$not"] { object = inner }
      guard !object.isEmpty, object.allSatisfy({ isNeutral($0.key) }) else { return object }
      if case .object(let condition)? = object["$if"] {
        object = condition
      } else if let reference = object["$ref"] {
        let (name, selector) = try referenced(reference, at: Self.join(path, "$ref"))
        guard !names.contains(name) else { throw QueryError(.recursiveReference(name), at: path) }
        guard case .object(let referenced) = selector, names.count < QuerySelector.maximumDepth else {
          return object
        }
        names.append(name)
        object = referenced
      } else {
        return object
      }
    }
  }

  // MARK: Operands

  private static let dataOperators = ["$data", "$cat"]
  private static let scalarOperators: Set<String> = ["$eq", "$ne", "$lt", "$lte", "$gt", "$gte"]
  private static let listOperators: Set<String> = ["$in", "$nin", "$all", "$mod"]

  /// The clause of an operator whose operand is computed, or of an operand that stands alone and means equality; `nil` if it is
  /// a literal.
  func computed(
    _ name: String, _ argument: JSONValue, of object: JSONObject, on target: OperatorTarget, at path: String
  ) throws(QueryError) -> Clause? {
    guard additions != nil else { return nil }
    let operand: Operand?
    var name = name
    if Self.dataOperators.contains(name) {
      operand = try self.operand([name: argument], at: path)
      name = "$eq"
    } else if Self.scalarOperators.contains(name) {
      operand = try self.operand(argument, at: path)
    } else if Self.listOperators.contains(name) {
      operand = try list(argument, at: path)
    } else {
      operand = nil
    }
    guard let operand else { return nil }
    let complements = ["$ne": "$eq", "$nin": "$in"]
    if case .field(let field) = target, additions?.kind == .reading, field.documentField != nil,
      !operand.isOfUser
    {
      throw QueryError(.documentFieldInRule(field.text), at: path)
    }
    // As with literals, each member can be that of another value that the path reaches.
    if name == "$all", case .list(let members) = operand {
      return .all(members.map { target.clause("$eq", $0) })
    }
    let clause = target.clause(complements[name] ?? name, operand)
    return complements[name] == nil ? clause : clause.complement
  }

  /// The operand in an object with `$data` or `$cat`; `nil` for a literal.
  private func operand(_ value: JSONValue, at path: String) throws(QueryError) -> Operand? {
    guard case .object(let object) = value, object.count == 1, let (name, argument) = object.first,
      Self.dataOperators.contains(name)
    else { return nil }
    let place = path.hasSuffix(name) ? path : Self.join(path, name)
    if name == "$data" {
      guard case .string(let text) = argument else {
        throw QueryError(.wrongArgument(of: name, wanted: "a path", found: argument), at: place)
      }
      return try data(text, at: place)
    }
    guard case .array(let members) = argument else {
      throw QueryError(.wrongArgument(of: name, wanted: "an array of strings", found: argument), at: place)
    }
    var parts: [Operand] = []
    for (number, member) in members.enumerated() {
      let place = "\(place)[\(number)]"
      if case .string = member {
        parts.append(.literal(member))
      } else if let part = try operand(member, at: place) {
        parts.append(part)
      } else {
        throw QueryError(.wrongArgument(of: name, wanted: "strings and \"$data\"", found: member), at: place)
      }
    }
    return .joined(parts)
  }

  private func data(_ text: String, at place: String) throws(QueryError) -> Operand {
    let up = text.prefix { $0 == "." }.count
    guard up <= QuerySelector.maximumDepth else { throw QueryError(.tooDeep, at: place) }
    let rest = String(text.dropFirst(up))
    let path = try Self.fieldPath(up == 0 ? additions?.rootPath(rest) ?? rest : rest, at: place)
    if up == 0 {
      try additions?.check(path, at: place)
      if additions?.kind == .reading, path.documentField != nil {
        throw QueryError(.documentFieldInRule(path.text), at: place)
      }
    }
    return .data(up: up, path)
  }

  /// The operand of an operator that takes an array.
  private func list(_ value: JSONValue, at path: String) throws(QueryError) -> Operand? {
    guard case .array(let members) = value else { return try operand(value, at: path) }
    var operands: [Operand] = []
    var isComputed = false
    for (number, member) in members.enumerated() {
      if let operand = try operand(member, at: "\(path)[\(number)]") {
        isComputed = true
        operands.append(operand)
      } else {
        operands.append(.literal(member))
      }
    }
    return isComputed ? .list(operands) : nil
  }

  /// Throws for `$data` and `$cat` inside a literal, where they would be compared as members.
  func checkLiteral(_ value: JSONValue, at path: String) throws(QueryError) {
    guard additions != nil else { return }
    switch value {
    case .array(let elements): for element in elements { try checkLiteral(element, at: path) }
    case .object(let object):
      for (key, member) in object {
        guard !Self.dataOperators.contains(key) else { throw QueryError(.misplacedOperand(key), at: path) }
        try checkLiteral(member, at: path)
      }
    default: break
    }
  }
}

extension OperatorTarget {
  fileprivate func clause(_ name: String, _ operand: Operand) -> Clause {
    if case .literal(let value) = operand { return clause(.equal(value)) }
    let looksIntoArrays = if case .field = self { true } else { false }
    return clause(.computed(ComputedPredicate(name, operand, looksIntoArrays: looksIntoArrays)))
  }
}

extension Operand {
  /// Whether it depends on the user only.
  var isOfUser: Bool {
    switch self {
    case .literal: true
    case .data(let up, let path): up == 0 && path.isOfUser
    case .joined(let parts), .list(let parts): parts.allSatisfy(\.isOfUser)
    }
  }
}

extension FieldPath {
  /// Whether it begins with the user's context.
  package var isOfUser: Bool {
    segments.first.map { $0.name.elementsEqual(RuleAdditions.user.utf8) } ?? false
  }
}
