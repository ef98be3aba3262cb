import CDTJSON

/// Parses a selector's JSON into a ``Clause``, or throws.
///
/// ```
/// {"name": "mike", "age": {"$gt": 12, "$ne": 40}}
/// → and(name = "mike", age > 12, not(age = 40))
/// ```
struct SelectorParser {
  /// The operators of rules; `nil` in other selectors.
  var additions: RuleAdditions?
  /// The references that are being parsed.
  var references: [String] = []
  /// The length of the selectors that were referred to.
  var referencedLength = 0
  private var depth = 0
  private var clauses = 0
  /// The number of enclosing negations, and whether there is a text search.
  private var complements = 0
  private var elements = 0
  private var hasText = false
  /// The number of enclosing disjunctions, and whether there is a distance.
  private var disjunctions = 0
  private var hasNear = false

  init(additions: RuleAdditions? = nil) {
    self.additions = additions
  }

  /// Parses a selector whose keys are fields and combinations.
  mutating func parse(_ object: JSONObject, at path: String = "") throws(QueryError) -> Clause {
    try enter(path)
    defer { depth -= 1 }
    var members: [Clause] = []
    members.reserveCapacity(object.count)
    for (key, value) in object {
      let place = Self.join(path, key)
      if isNeutral(key) {
        if let clause = try addition(key, of: object, in: .selector, at: path) { members.append(clause) }
      } else if let additions, elements == 0 {
        let name = additions.rootPath(key)
        if name.utf8.first == UInt8(ascii: "$") {
          members.append(try combination(key, value, at: place))
        } else {
          let field = try Self.fieldPath(name, at: place)
          try additions.check(field, at: place)
          // As at CouchDB, where a new document has null.
          members.append(
            additions.isNoOldDocument(field, value)
              ? Clause.field(field, .exists).complement : try self.field(field, value, at: place))
        }
      } else if key.utf8.first == UInt8(ascii: "$") {
        members.append(try combination(key, value, at: place))
      } else {
        members.append(try field(try Self.fieldPath(key, at: place), value, at: place))
      }
    }
    return annotated(.all(members), by: object)
  }

  // MARK: Combinations

  private mutating func combination(
    _ name: String, _ argument: JSONValue, at path: String
  ) throws(QueryError) -> Clause {
    switch name {
    case "$and": return .all(try members(of: name, argument, at: path))
    case "$or":
      disjunctions += 1
      defer { disjunctions -= 1 }
      return .any(try members(of: name, argument, at: path))
    case "$nor":
      complements += 1
      defer { complements -= 1 }
      return Clause.any(try members(of: name, argument, at: path)).complement
    case "$not":
      complements += 1
      defer { complements -= 1 }
      guard case .object(let selector) = argument else { throw QueryError(.notAnObject(argument), at: path) }
      return try parse(selector, at: path).complement
    case "$text": return .text(try textSearch(argument, at: path))
    default:
      throw OperatorNames.all.contains(name)
        ? QueryError(.operatorNeedsField(name), at: path) : QueryError(.unknownOperator(name), at: path)
    }
  }

  private mutating func textSearch(_ argument: JSONValue, at path: String) throws(QueryError) -> TextSearch {
    guard additions == nil else { throw QueryError(.textInRule, at: path) }
    guard elements == 0 else { throw QueryError(.combinationUnderField("$text"), at: path) }
    guard complements == 0 else { throw QueryError(.textUnderNegation, at: path) }
    guard !hasText else { throw QueryError(.secondText, at: path) }
    hasText = true
    guard case .object(let object) = argument, object.count == 1, let search = object["$search"] else {
      throw QueryError(
        .wrongArgument(of: "$text", wanted: "{\"$search\": \"words\"}", found: argument), at: path)
    }
    let place = Self.join(path, "$search")
    guard case .string(let text) = search else {
      throw QueryError(.wrongArgument(of: "$search", wanted: "a string", found: search), at: place)
    }
    do {
      return try TextSearch(text)
    } catch {
      throw QueryError(.invalidSearch(error), at: place)
    }
  }

  private mutating func members(
    of name: String, _ argument: JSONValue, at path: String
  ) throws(QueryError) -> [Clause] {
    guard case .array(let selectors) = argument else {
      throw QueryError(.wrongArgument(of: name, wanted: "an array of selectors", found: argument), at: path)
    }
    var parsed: [Clause] = []
    for (number, member) in selectors.enumerated() {
      let place = "\(path)[\(number)]"
      guard case .object(let selector) = member else { throw QueryError(.notAnObject(member), at: place) }
      guard !selector.isEmpty else { throw QueryError(.emptyMember(name), at: place) }
      parsed.append(try parse(selector, at: place))
    }
    return parsed
  }

  // MARK: Fields

  /// Parses the value of a field's name: operators, a subselector, or a value to equal.
  private mutating func field(
    _ path: FieldPath, _ value: JSONValue, at place: String
  ) throws(QueryError) -> Clause {
    guard case .object(let object) = value else {
      try count(place)
      try checkLiteral(value, at: place)
      return .field(path, .equal(value))
    }
    try enter(place)
    defer { depth -= 1 }
    guard try holdsOperators(object, at: place) else {
      return try subselector(path, object, at: place)
    }
    return try operators(object, on: .field(path), at: place)
  }

  /// `{"pet": {"species": "cat"}}` means `{"pet.species": "cat"}`.
  private mutating func subselector(
    _ path: FieldPath, _ object: JSONObject, at place: String
  ) throws(QueryError) -> Clause {
    guard !object.isEmpty else { throw QueryError(.emptyFieldValue, at: place) }
    var members: [Clause] = []
    members.reserveCapacity(object.count)
    for (key, value) in object {
      if isNeutral(key) {
        if let clause = try addition(key, of: object, in: .target(.field(path)), at: place) {
          members.append(clause)
        }
        continue
      }
      let inner = Self.join(place, key)
      let whole = path.appending(try Self.fieldPath(key, at: inner))
      guard whole.segments.count <= FieldPath.maximumSegments else {
        throw QueryError(.invalidPath(whole.text, .tooLong), at: inner)
      }
      members.append(try field(whole, value, at: inner))
    }
    return annotated(.all(members), by: object)
  }

  // MARK: Operators

  mutating func operators(
    _ object: JSONObject, on target: OperatorTarget, at place: String
  ) throws(QueryError) -> Clause {
    var members: [Clause] = []
    members.reserveCapacity(object.count)
    for (name, argument) in object {
      let path = Self.join(place, name)
      try count(path)
      switch name {
      case "$not": members.append(try complement(argument, on: target, at: path))
      case "$options":
        guard object["$regex"] != nil else { throw QueryError(.optionsWithoutRegex, at: path) }
      case "$regex":
        let expression = try OperatorArgument.regex(argument, options: object["$options"], at: place)
        if additions?.requiresPortablePatterns == true {
          try OperatorArgument.checkIsPortable(expression, at: path)
        }
        members.append(target.clause(.regex(expression)))
      case "$near": members.append(target.clause(.near(try near(argument, on: target, at: path))))
      case "$geoWithin":
        members.append(target.clause(.within(try OperatorArgument.region(argument, at: path))))
      case "$elemMatch", "$allMatch", "$keyMapMatch":
        members.append(target.clause(try elementOperator(name, argument, at: path)))
      case _ where isNeutral(name):
        if let clause = try addition(name, of: object, in: .target(target), at: place) {
          members.append(clause)
        }
      default:
        if let computed = try computed(name, argument, of: object, on: target, at: path) {
          members.append(computed)
        } else {
          try checkLiteral(argument, at: path)
          members.append(try OperatorArgument.clause(name, argument, on: target, at: path))
        }
      }
    }
    return annotated(.all(members), by: object)
  }

  /// `{x: {$not: {y: 1}}}` is the negation of `{x: {y: 1}}`.
  private mutating func complement(
    _ argument: JSONValue, on target: OperatorTarget, at path: String
  ) throws(QueryError) -> Clause {
    guard case .object(let object) = argument else {
      throw QueryError(
        .wrongArgument(of: "$not", wanted: "operators or a selector", found: argument), at: path)
    }
    guard !object.isEmpty else { throw QueryError(.emptyComplement, at: path) }
    complements += 1
    defer { complements -= 1 }
    return try part("$not", argument, in: .target(target), at: path).complement
  }

  /// Parses an argument that stands in for the object in which its operator stands.
  mutating func part(
    _ name: String, _ argument: JSONValue, in scope: Scope, at path: String
  ) throws(QueryError) -> Clause {
    switch scope {
    case .target(.field(let field)): return try self.field(field, argument, at: path)
    case .selector:
      guard case .object(let object) = argument else { throw QueryError(.notAnObject(argument), at: path) }
      return try parse(object, at: path)
    case .target(.value):
      try enter(path)
      defer { depth -= 1 }
      guard case .object(let object) = argument, try holdsOperators(object, at: path) else {
        throw QueryError(.wrongArgument(of: name, wanted: "operators here", found: argument), at: path)
      }
      return try operators(object, on: .value, at: path)
    }
  }

  private mutating func near(
    _ argument: JSONValue, on target: OperatorTarget, at path: String
  ) throws(QueryError) -> NearCondition {
    guard case .field = target, additions == nil, elements + complements + disjunctions == 0 else {
      throw .nestedNear(at: path)
    }
    guard !hasNear else { throw .secondNear(at: path) }
    hasNear = true
    return try OperatorArgument.near(argument, at: path)
  }

  private mutating func elementOperator(
    _ name: String, _ argument: JSONValue, at path: String
  ) throws(QueryError) -> Predicate {
    let wanted = name == "$keyMapMatch" ? "operators" : "a selector, or operators"
    guard case .object(let object) = argument else {
      throw QueryError(.wrongArgument(of: name, wanted: wanted, found: argument), at: path)
    }
    guard !object.isEmpty else { throw QueryError(.emptyElementSelector(name), at: path) }
    try enter(path)
    defer { depth -= 1 }
    if try asksOfValue(object, at: path) {
      let clause = try operators(object, on: .value, at: path)
      switch name {
      case "$elemMatch": return .elementMatches(.operators(clause))
      case "$allMatch": return .allElementsMatch(.operators(clause))
      default: return .keyMatches(clause)
      }
    }
    guard name != "$keyMapMatch" else {
      throw QueryError(
        .wrongArgument(of: name, wanted: "operators, which test each key", found: argument), at: path)
    }
    elements += 1
    defer { elements -= 1 }
    let fields = ElementCondition.fields(try parse(object, at: path))
    return name == "$elemMatch" ? .elementMatches(fields) : .allElementsMatch(fields)
  }

  // MARK: Shape

  /// Whether an object has operators, decided by its first key. An object with both operators and names is an error.
  private func holdsOperators(_ object: JSONObject, at path: String) throws(QueryError) -> Bool {
    var first: (key: String, isOperator: Bool)?
    for (key, _) in object where !isNeutral(key) {
      let isOperator = key.utf8.first == UInt8(ascii: "$")
      guard let first else {
        first = (key, isOperator)
        continue
      }
      guard first.isOperator == isOperator else {
        throw isOperator
          ? QueryError(.mixedKeys(key, first.key), at: path)
          : QueryError(.mixedKeys(first.key, key), at: path)
      }
    }
    if first?.isOperator == true {
      for (key, _) in object where OperatorNames.combinations.contains(key) || key == "$where" {
        let place = Self.join(path, key)
        throw key == "$where"
          ? QueryError(.unknownOperator(key), at: place) : QueryError(.combinationUnderField(key), at: place)
      }
    }
    // The additions of rules can stand beside operators.
    return first?.isOperator ?? !object.isEmpty
  }

  /// Whether an element is tested by operators, not by a selector of its fields. Names, `$and`, `$or` and `$nor` form
  /// a selector, which may contain `$not`; `$not` alone is decided by its content.
  private func asksOfValue(_ object: JSONObject, at path: String) throws(QueryError) -> Bool {
    let object = try decisive(object, at: path)
    let others = object.filter { !isNeutral($0.key) }
    let isSelector = others.contains { Self.isPartOfSelector($0.key) }
    if isSelector, others.allSatisfy({ Self.isPartOfSelector($0.key) || $0.key == "$not" }) { return false }
    if object.isEmpty { return true }
    return try holdsOperators(object, at: path)
  }

  private static func isPartOfSelector(_ key: String) -> Bool {
    key.utf8.first != UInt8(ascii: "$") || OperatorNames.combinations.contains(key)
  }

  private mutating func enter(_ path: String) throws(QueryError) {
    try count(path)
    depth += 1
    guard depth <= QuerySelector.maximumDepth else { throw QueryError(.tooDeep, at: path) }
  }

  private mutating func count(_ path: String) throws(QueryError) {
    clauses += 1
    guard clauses <= QuerySelector.maximumClauses else { throw QueryError(.tooManyClauses, at: path) }
  }

  static func fieldPath(_ text: String, at place: String) throws(QueryError) -> FieldPath {
    do {
      return try FieldPath(text)
    } catch {
      throw QueryError(.invalidPath(text, error), at: place)
    }
  }

  static func join(_ path: String, _ key: String) -> String {
    path.isEmpty ? key : path + "." + key
  }
}

/// The target of an operator: a field's values, or one element of an array.
enum OperatorTarget {
  case field(FieldPath)
  case value

  func clause(_ predicate: Predicate) -> Clause {
    switch self {
    case .field(let path): .field(path, predicate)
    case .value: .value(predicate)
    }
  }
}
