import CDTJSON

/// Validates the argument of each operator and returns its clause.
enum OperatorArgument {
  static func clause(
    _ name: String, _ argument: JSONValue, on target: OperatorTarget, at path: String
  ) throws(QueryError) -> Clause {
    switch name {
    case "$eq": return target.clause(.equal(argument))
    case "$ne": return target.clause(.equal(argument)).complement
    case "$lt": return try comparison(.less, argument, on: target, at: path)
    case "$lte": return try comparison(.lessOrEqual, argument, on: target, at: path)
    case "$gt": return try comparison(.greater, argument, on: target, at: path)
    case "$gte": return try comparison(.greaterOrEqual, argument, on: target, at: path)
    case "$in": return try membership(name, argument, on: target, at: path)
    case "$nin": return try membership(name, argument, on: target, at: path).complement
    case "$exists":
      guard case .bool(let wanted) = argument else {
        throw QueryError(.wrongArgument(of: name, wanted: "true or false", found: argument), at: path)
      }
      let exists = target.clause(.exists)
      return wanted ? exists : exists.complement
    case "$type": return target.clause(.type(try type(argument, at: path)))
    case "$mod": return target.clause(.modulo(try modulo(argument, at: path)))
    case "$size": return try size(argument, on: target, at: path)
    case "$all":
      guard case .array(let members) = argument else {
        throw QueryError(.wrongArgument(of: name, wanted: "an array", found: argument), at: path)
      }
      return members.isEmpty ? .never : .all(members.map { target.clause(.equal($0)) })
    case "$beginsWith":
      guard case .string(let prefix) = argument else {
        throw QueryError(.wrongArgument(of: name, wanted: "a string", found: argument), at: path)
      }
      return target.clause(.beginsWith(prefix))
    default:
      throw QueryError(.unknownOperator(name), at: path)
    }
  }

  /// Ranges: numbers and strings share one scale, booleans have their own, null means presence.
  private static func comparison(
    _ comparison: Predicate.Comparison, _ argument: JSONValue, on target: OperatorTarget, at path: String
  ) throws(QueryError) -> Clause {
    switch argument {
    case .null:
      switch comparison {
      case .less: return .never
      case .lessOrEqual: return target.clause(.equal(.null))
      case .greater: return target.clause(.notNull)
      case .greaterOrEqual: return target.clause(.exists)
      }
    case .array, .object:
      throw QueryError(
        .wrongArgument(
          of: comparison.rawValue, wanted: "a number, a string, a boolean or null", found: argument), at: path
      )
    default:
      return target.clause(.compare(comparison, argument))
    }
  }

  private static func membership(
    _ name: String, _ argument: JSONValue, on target: OperatorTarget, at path: String
  ) throws(QueryError) -> Clause {
    guard case .array(let members) = argument else {
      throw QueryError(.wrongArgument(of: name, wanted: "an array", found: argument), at: path)
    }
    let distinct = Set(members).sorted()
    switch distinct.count {
    case 0: return .never
    case 1: return target.clause(.equal(distinct[0]))
    default: return target.clause(.among(distinct))
    }
  }

  private static func type(_ argument: JSONValue, at path: String) throws(QueryError) -> JSONType {
    guard case .string(let name) = argument else {
      throw QueryError(.wrongArgument(of: "$type", wanted: "the name of a type", found: argument), at: path)
    }
    guard let type = JSONType(rawValue: name) else { throw QueryError(.unknownType(name), at: path) }
    return type
  }

  private static func modulo(_ argument: JSONValue, at path: String) throws(QueryError) -> Modulo {
    guard case .array(let pair) = argument else {
      throw QueryError(.wrongArgument(of: "$mod", wanted: "[divisor, remainder]", found: argument), at: path)
    }
    guard pair.count == 2 else { throw QueryError(.moduloCount(pair.count), at: path) }
    for member in pair {
      switch member {
      case .int, .double, .spelled: continue
      default: throw QueryError(.wrongArgument(of: "$mod", wanted: "two numbers", found: member), at: path)
      }
    }
    guard let modulo = Modulo(divisor: pair[0], remainder: pair[1]) else {
      throw QueryError(.moduloByZero, at: path)
    }
    return modulo
  }

  /// Strings and numbers that can't be an array's length match nothing.
  private static func size(
    _ argument: JSONValue, on target: OperatorTarget, at path: String
  ) throws(QueryError) -> Clause {
    switch argument {
    case .int, .double, .spelled, .string:
      guard let size = argument.intValue, size >= 0 else { return .never }
      return target.clause(.size(size))
    default:
      throw QueryError(.wrongArgument(of: "$size", wanted: "a whole number", found: argument), at: path)
    }
  }

  static func regex(
    _ pattern: JSONValue, options: JSONValue?, at place: String
  ) throws(QueryError) -> RegularExpression {
    let path = SelectorParser.join(place, "$regex")
    let optionsPath = SelectorParser.join(place, "$options")
    guard case .string(let text) = pattern else {
      throw QueryError(
        .wrongArgument(of: "$regex", wanted: "a pattern in a string", found: pattern), at: path)
    }
    guard text.utf8.count <= RegularExpression.maximumLength else {
      throw QueryError(.regexTooLong, at: path)
    }
    var letters = ""
    switch options {
    case nil: break
    case .string(let given)?: letters = given
    case .some(let found):
      throw QueryError(
        .wrongArgument(of: "$options", wanted: "letters of \"imsx\"", found: found), at: optionsPath)
    }
    for letter in letters where !"imsx".contains(letter) {
      throw QueryError(.unknownRegexOption(letter), at: optionsPath)
    }
    let canonical = String("imsx".filter { letters.contains($0) })
    do {
      return try RegularExpression(pattern: text, options: canonical)
    } catch {
      throw QueryError(.regexRefused(error), at: path)
    }
  }

  /// Throws if engines other than PCRE2 may decide a pattern differently.
  static func checkIsPortable(_ expression: RegularExpression, at path: String) throws(QueryError) {
    do throws(RegularExpression.Refusal) {
      _ = try PortablePattern(expression.pattern, options: expression.options)
    } catch {
      throw QueryError(.regexNotPortable(error), at: path)
    }
  }
}
