package import CDTJSON

extension RandomDocuments {
  private static let ids = [
    "none", "é", "e\u{301}", "😀 x", "_design/d", "\"q\"", "it's", "a\u{0}b", "#", "==", "{", "cat hat", "1",
  ]

  package mutating func id() -> String {
    chance(25) ? pick(Self.ids) : "doc-\(number(below: 30))"
  }

  /// A request as `Query(request:)` takes it.
  package mutating func request() -> JSONObject {
    let isText = scope == .everything && chance(20)
    var request: JSONObject = ["selector": .object(isText ? textSelector() : selector())]
    if isText, chance(20), request["selector"]?["$text"] != nil {
      request["sort"] = [["$text": "score"]]
    } else if chance(65) {
      request["sort"] = .array(sort())
    }
    if chance(30) { request["skip"] = .int(Int64(number(below: 5))) }
    if chance(40) { request["limit"] = .int(Int64(1 + number(below: 7))) }
    if chance(25) { request["fields"] = .array(fields()) }
    if isText, chance(30) {
      request["snippets"] = pick([
        true, ["words": 1, "before": "<", "after": "/"], ["words": 0, "limit": 1],
      ])
    }
    request["collation"] = collation()?.rawValue.jsonValue
    if request["selector"]?.hasNear == true, chance(50) { request["distance"] = true }
    return request
  }

  package mutating func collation() -> Collation? { chance(40) ? pick(Collation.allCases) : nil }

  /// A request for groups as `GroupQuery(request:)` takes it, if its fields do not overlap.
  package mutating func groupRequest() -> JSONObject {
    let isText = scope == .everything && chance(10)
    var request: JSONObject = ["selector": .object(isText ? textSelector() : chance(50) ? [:] : selector())]
    var (group, aggregates, members) = (JSONObject(), JSONObject(), [String]())
    let unwind = chance(30) ? path() : nil
    group["unwind"] = unwind.map(JSONValue.string)
    func below(_ path: String) -> String { unwind.map { $0 + "." + path } ?? path }
    for number in 0..<number(below: 4) {
      let drawn = path()
      let function = pick(["$sum", "$avg", "$min", "$max"])
      aggregates["n\(number)"] =
        chance(20) ? ["$count": [:]] : [function: .string(chance(50) ? drawn : below(drawn))]
      members.append("n\(number)")
    }
    let fields = (0..<number(below: 3)).map { _ in
      let drawn = documentPath(8)
      return chance(30) ? unwind ?? drawn : chance(70) || drawn.hasPrefix("_") ? drawn : below(drawn)
    }
    members += fields
    group["by"] = .array(fields.map(JSONValue.string))
    group["aggregates"] = .object(aggregates)
    if chance(25), let member = members.first { group["having"] = [member: .object(["$gte": .int(1)])] }
    request["group"] = .object(group)
    if chance(50), !members.isEmpty {
      let member = pick(members)
      request["sort"] = chance(50) ? [.string(member)] : [[member: "desc"]]
    }
    if chance(20) { request["skip"] = .int(Int64(number(below: 3))) }
    if chance(40) { request["limit"] = .int(Int64(1 + number(below: 5))) }
    return request
  }
}

extension JSONValue {
  /// Whether a selector has a `$near`.
  fileprivate var hasNear: Bool {
    objectValue?.contains { name, value in
      name == "$and" ? value.arrayValue?.contains(where: \.hasNear) == true : value["$near"] != nil
    } ?? false
  }
}
