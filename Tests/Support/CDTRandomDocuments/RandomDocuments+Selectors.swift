package import CDTJSON

extension RandomDocuments {
  package mutating func selector(depth: Int = 0) -> JSONObject {
    if depth == 0, chance(12) { return alternatives() }
    if depth == 0, chance(12) { return nearSelector() }
    var object = JSONObject()
    if depth < 3, chance(30) {
      let name = pick(["$and", "$or", "$nor"])
      let members = (0..<number(below: 4)).map { _ in JSONValue.object(nonEmptySelector(depth: depth + 1)) }
      object[name] = .array(members)
    }
    if depth < 3, chance(8) { object["$not"] = .object(nonEmptySelector(depth: depth + 1)) }
    for _ in 0..<number(below: 3) { object[documentPath(4)] = fieldValue(depth: depth) }
    return object
  }

  /// Alternatives among fields that indexes are likely to have, with something asked beside them.
  private mutating func alternatives() -> JSONObject {
    let members = (0..<(2 + number(below: 2))).map { _ in
      JSONValue.object([pick(Self.plainNames): .object(operators(depth: 3))])
    }
    var selector: JSONObject = ["$or": .array(members)]
    for _ in 0..<number(below: 3) { selector[pick(Self.plainNames)] = .object(operators(depth: 3)) }
    return selector
  }

  /// The filter of a partial index.
  package mutating func filter() -> JSONObject {
    let filter = chance(30) ? selector(depth: 2) : condition()
    filters.append(filter)
    return filter
  }

  /// One condition on a field that indexes are likely to have, or two.
  private mutating func condition() -> JSONObject {
    var selector = JSONObject()
    for _ in 0..<(1 + number(below: 2)) {
      selector[pick(Self.plainNames)] =
        switch number(below: 8) {
        case 0: ["$exists": true]
        case 1: ["$gt": nil]
        case 2: ["$gte": chance(50) ? 0 : 1]
        case 3: ["$lt": chance(50) ? "b" : 2]
        case 4: ["$ne": scalar()]
        case 5: ["$in": .array((0..<3).map { _ in scalar() })]
        case 6: ["$exists": false]
        default: ["$eq": scalar()]
        }
    }
    return selector
  }

  /// A selector that implies a filter drawn before, mostly.
  package mutating func narrowed(_ selector: JSONValue) -> JSONValue {
    guard !filters.isEmpty else { return selector }
    return ["$and": [.object(pick(filters)), selector == [:] ? ["_id": ["$exists": true]] : selector]]
  }

  /// A selector with a text search at its top or in an `$or`.
  package mutating func textSelector() -> JSONObject {
    let search: JSONObject = ["$text": ["$search": .string(search())]]
    switch number(below: 5) {
    case 0: return ["$and": [.object(search), .object(nonEmptySelector(depth: 1))]]
    case 1: return ["$or": [.object(search), .object(nonEmptySelector(depth: 1))]]
    case 2:
      var selector = selector(depth: 1)
      selector["$text"] = search["$text"]
      return selector
    default: return search
    }
  }

  mutating func nonEmptySelector(depth: Int) -> JSONObject {
    let drawn = selector(depth: depth)
    return drawn.isEmpty ? ["a": fieldValue(depth: depth)] : drawn
  }

  private mutating func fieldValue(depth: Int) -> JSONValue {
    switch number(below: 10) {
    case 0, 1:
      let plain = value(depth: 1)
      return plain.objectValue == nil ? plain : ["$eq": plain]
    case 2 where depth < 3:
      var below = JSONObject()
      for _ in 0..<(1 + number(below: 2)) { below[segment()] = fieldValue(depth: depth + 1) }
      return .object(below)
    default: return .object(operators(depth: depth))
    }
  }

  private mutating func operators(depth: Int) -> JSONObject {
    var object = JSONObject()
    for _ in 0..<(chance(30) ? 2 : 1) { addOperator(to: &object, depth: depth) }
    return object
  }

  // MARK: Operators

  private mutating func addOperator(to object: inout JSONObject, depth: Int) {
    switch number(below: 20) {
    case 18: object["$geoWithin"] = .object(region())
    case 0: object["$eq"] = value(depth: 1)
    case 1: object["$ne"] = value(depth: 1)
    case 2, 3, 4, 5: object[pick(["$lt", "$lte", "$gt", "$gte"])] = chance(15) ? .null : scalar()
    case 6: object[pick(["$in", "$nin"])] = members()
    case 7: object["$exists"] = .bool(chance(50))
    case 8: object["$mod"] = modulo()
    case 9: object["$size"] = size()
    case 10:
      object["$beginsWith"] = .string(pick(["", "a", "ab", "é", "e", "\"", "\u{0}", "\\", "\u{10FFFF}"]))
    case 11: addPattern(to: &object)
    case 12: object["$type"] = .string(pick(["null", "boolean", "number", "string", "array", "object"]))
    case 13: object["$all"] = .array((0..<number(below: 3)).map { _ in value(depth: 2) })
    case 14 where depth < 2, 15 where depth < 2:
      let argument = chance(50) ? operators(depth: 2) : nonEmptySelector(depth: 2)
      object[pick(["$elemMatch", "$allMatch"])] = .object(argument)
    case 16 where depth < 3: object["$not"] = .object(operators(depth: depth + 1))
    case 17 where depth < 3: object["$keyMapMatch"] = .object(operators(depth: 2))
    default: object["$eq"] = scalar()
    }
  }

  private mutating func members() -> JSONValue {
    // Above eight members they are looked up, not tried.
    .array((0..<(chance(15) ? 8 + number(below: 8) : number(below: 5))).map { _ in value(depth: 2) })
  }

  private mutating func modulo() -> JSONValue {
    guard scope == .everything, chance(40) else {
      return [.int(Int64(1 + number(below: 4))), .int(Int64(number(below: 4)) - 1)]
    }
    let divisors = ["2", "-3", "2.9", "1e19", "18446744073709551617", "-1", "9223372036854775807"]
    let remainders = ["0", "1", "-1", "1.9", "-0.5", "9223372036854775807", "1e18"]
    let drawn = [pick(divisors), pick(remainders)].compactMap { try? JSONValue(parsing: $0) }
    return .array(drawn)
  }

  private mutating func size() -> JSONValue {
    guard scope == .everything, chance(20) else { return .int(Int64(number(below: 4))) }
    return pick([.double(2), .double(1.5), .int(-1), .string("2"), .double(1e300), .int(.max)])
  }

  /// In the oracle's scope patterns are `^literal` or `literal`, which need no engine.
  private mutating func addPattern(to object: inout JSONObject) {
    guard scope == .everything, chance(70) else {
      object["$regex"] = .string(pick(["^a", "b", "^ab", "q", "^é"]))
      return
    }
    object["$regex"] = .string(
      pick([
        "^a|b", "^(a|b)", "^ab?", "^ab*", "^a{2}", "^a{0}", "^ab+", "^a.b", "(?i)^A", "(?-i)^a", "^", "", ".",
        "^.$",
        "\\d", "^[ab]", "^(?:ab)+", "^\\Qa?\\Eb", "\\Aab", "^a\\b", "é$", "^é", "^\\x61", "^a\\x00b", "b$",
        "^#a", "^a\\E?b", "^ab\\Q\\E*", "^a(?#c)?b",
        "^a b", "^ab\\?", "^\\^", "(?:)^a", "^^a", "^\\\\", "^a$|^b", "^ab(?=c)", "^\\u", "^😀",
      ]))
    if chance(40) { object["$options"] = .string(pick(["", "i", "m", "s", "x", "im", "sx", "ii"])) }
  }
}
