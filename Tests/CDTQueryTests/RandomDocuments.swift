import JSON

/// Draws documents, selectors, sorts and index definitions that meet each other often: few names, few values, every type.
struct RandomDocuments {
  private var generator: SplitMix
  /// Whether bodies have arrays; without, indexes have one row for each document, and can decide more.
  var hasArrays = true

  init(seed: UInt64) {
    generator = SplitMix(state: seed)
  }

  mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

  mutating func chance(_ percent: Int) -> Bool { number(below: 100) < percent }

  mutating func pick<T>(_ values: [T]) -> T { values[number(below: values.count)] }

  private static let names = ["a", "b", "c", "d", "x.y", "$p", "0", "é", "e\u{301}", "it's \"odd\""]
  private static let strings = [
    "", "a", "ab", "abc", "b", "é", "e\u{301}", "1", "\u{0}", "a\u{0}b", "\"q\"", "😀", "zz",
  ]

  mutating func scalar() -> JSONValue {
    switch number(below: 12) {
    case 0: return .null
    case 1: return .bool(chance(50))
    case 2: return .double(pick([0.5, -1.5, 1.0, 2.0, 1e300, -0.0, 9007199254740993.0]))
    case 3:
      return .int(
        pick([.max, .min, .max - 1, 9_007_199_254_740_993, 9_007_199_254_740_992, 9_007_199_254_740_991]))
    case 4, 5, 6: return .string(pick(Self.strings))
    default: return .int(Int64(number(below: 6)))
    }
  }

  mutating func value(depth: Int = 0) -> JSONValue {
    switch number(below: depth > 2 ? 7 : 10) {
    case 7: return .array((0..<number(below: 4)).map { _ in value(depth: depth + 1) })
    case 8: return .array((0..<number(below: 4)).map { _ in scalar() })
    case 9: return .object(body(depth: depth + 1))
    default: return scalar()
    }
  }

  mutating func body(depth: Int = 0) -> JSONObject {
    var object = JSONObject()
    for _ in 0..<number(below: depth == 0 ? 6 : 4) { object[pick(Self.names)] = member(depth: depth) }
    // Together in an index they have more combinations than one document may have rows.
    if depth == 0, hasArrays, chance(3) {
      for name in ["a", "b"] { object[name] = .array((0..<40).map { .int($0) }) }
    }
    return object
  }

  private mutating func member(depth: Int) -> JSONValue {
    if hasArrays { return value(depth: depth) }
    return depth < 3 && chance(15) ? .object(body(depth: depth + 1)) : scalar()
  }

  // MARK: Queries

  mutating func path() -> String {
    var segments = [segment()]
    while chance(25), segments.count < 3 { segments.append(segment()) }
    return segments.joined(separator: ".")
  }

  private mutating func segment() -> String {
    switch pick(Self.names + ["a", "b", "c"]) {
    case "x.y": "x\\.y"
    case "$p": "\\$p"
    case let name: name
    }
  }

  mutating func selector(depth: Int = 0) -> JSONObject {
    var object = JSONObject()
    if depth < 3, chance(30) {
      let name = pick(["$and", "$or", "$nor"])
      let members = (0..<number(below: 4)).map { _ in JSONValue.object(nonEmptySelector(depth: depth + 1)) }
      object[name] = .array(members)
    }
    if depth < 3, chance(8) { object["$not"] = .object(nonEmptySelector(depth: depth + 1)) }
    for _ in 0..<number(below: 3) { object[chance(4) ? "_id" : path()] = fieldValue(depth: depth) }
    return object
  }

  private mutating func nonEmptySelector(depth: Int) -> JSONObject {
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
      below[segment()] = fieldValue(depth: depth + 1)
      return .object(below)
    default: return .object(operators(depth: depth))
    }
  }

  private mutating func operators(depth: Int) -> JSONObject {
    var object = JSONObject()
    for _ in 0..<(chance(30) ? 2 : 1) {
      let (name, argument) = anOperator(depth: depth)
      object[name] = argument
    }
    return object
  }

  private mutating func anOperator(depth: Int) -> (String, JSONValue) {
    switch number(below: 17) {
    case 0: return ("$eq", value(depth: 1))
    case 1: return ("$ne", value(depth: 1))
    case 2, 3, 4, 5: return (pick(["$lt", "$lte", "$gt", "$gte"]), scalar())
    case 6: return (pick(["$in", "$nin"]), .array((0..<number(below: 5)).map { _ in value(depth: 2) }))
    case 7: return ("$exists", .bool(chance(50)))
    case 8: return ("$mod", [.int(Int64(1 + number(below: 4))), .int(Int64(number(below: 4)) - 1)])
    case 9: return ("$size", .int(Int64(number(below: 4))))
    case 10: return ("$beginsWith", .string(pick(["", "a", "ab", "é", "e", "\"", "\u{0}"])))
    case 11: return ("$regex", .string(pick(["^a", "b", "^ab", "q", "^é"])))
    case 12: return ("$type", .string(pick(["null", "boolean", "number", "string", "array", "object"])))
    case 13: return ("$all", .array((0..<number(below: 3)).map { _ in value(depth: 2) }))
    case 14 where depth < 2:
      let argument = chance(50) ? operators(depth: 3) : ["a": fieldValue(depth: 2)]
      return (pick(["$elemMatch", "$allMatch"]), .object(elementArgument(argument)))
    case 15 where depth < 3:
      return ("$not", .object(operators(depth: depth + 1)))
    default: return ("$eq", scalar())
    }
  }

  /// Element operators ask of the element itself, where complements of arrays' own operators are drawn elsewhere.
  private func elementArgument(_ argument: JSONObject) -> JSONObject {
    for (name, _) in argument where ["$nin", "$all"].contains(name) { return ["$gt": 1] }
    if argument["$gt"] == .null || argument["$gte"] == .null { return ["$lt": "b"] }
    return argument
  }

  mutating func sort() -> [JSONValue] {
    var paths: [String] = []
    for _ in 0..<number(below: 3) {
      let drawn = chance(10) ? "_id" : path()
      if !paths.contains(drawn) { paths.append(drawn) }
    }
    return paths.map { path in
      guard chance(70) else { return .string(path) }
      var object = JSONObject()
      object[path] = .string(chance(50) ? "desc" : "asc")
      return .object(object)
    }
  }

  /// The fields of an index, as `ensureIndexed` takes them.
  mutating func indexFields() -> [JSONValue] {
    var paths: [String] = []
    for _ in 0..<(1 + number(below: 3)) {
      let drawn = path()
      if !paths.contains(where: { Array($0.utf8) == Array(drawn.utf8) }) { paths.append(drawn) }
    }
    return paths.map { path in
      guard chance(30) else { return .string(path) }
      var object = JSONObject()
      object[path] = "desc"
      return .object(object)
    }
  }
}

/// A small generator whose seed says everything about a run.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
