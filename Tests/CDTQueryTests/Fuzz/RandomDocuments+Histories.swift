import CDTJSON

extension RandomDocuments {
  private static let ids = [
    "none", "é", "e\u{301}", "😀 x", "_design/d", "\"q\"", "it's", "a\u{0}b", "#", "==", "{", "cat hat", "1",
  ]

  private mutating func id() -> String {
    chance(25) ? pick(Self.ids) : "doc-\(number(below: 30))"
  }

  /// What happens to a datastore before the first query.
  mutating func beginning() -> [Step] {
    var steps: [Step] = []
    if chance(40) { steps.append(textIndex()) }
    if chance(50) { steps.append(Step(.index, ["fields": .array(indexFields())])) }
    for _ in 0..<number(below: 40) { steps.append(write()) }
    if chance(60) { steps.append(Step(.index, ["fields": .array(indexFields())])) }
    return steps
  }

  /// What happens next, mostly a query.
  mutating func step() -> Step {
    switch number(below: 200) {
    case 0..<30: write()
    case 30..<36: Step(.miss, write().argument)
    case 36..<41: Step(.index, ["fields": .array(indexFields())])
    case 41..<45: Step(.begin, ["fields": .array(indexFields())])
    case 45..<53: Step(.advance, .int(Int64(1 + number(below: 12))))
    case 53..<56: Step(.drop, .int(Int64(number(below: 4))))
    case 56..<59: Step(.update)
    case 59: Step(.rebuild)
    case 60: Step(.compact)
    case 61..<63: Step(.reopen)
    case 63: chance(30) ? textIndex() : Step(.rewind)
    default: Step(.find, .object(request()))
    }
  }

  private mutating func textIndex() -> Step {
    let fields = indexFields() + (chance(50) ? ["a"] : [])
    let tokenizer = pick(["simple", "porter", "unicode61", "trigram"])
    return Step(
      chance(25) ? .begin : .index,
      ["fields": .array(fields), "type": "text", "settings": ["tokenize": .string(tokenizer)]])
  }

  private mutating func write() -> Step {
    let id = id()
    switch number(below: 20) {
    case 0, 1, 2, 3: return Step(.delete, .string(id))
    case 4, 5:
      let revision = "\(1 + number(below: 4))-\(pick(["a", "b", "f"]))"
      return Step(.rival, document(id, [("_rev", .string(revision))], body()))
    default: return Step(.put, document(id, [], hasArrays && chance(2) ? wideBody() : body()))
    }
  }

  private func document(_ id: String, _ more: [(String, JSONValue)], _ body: JSONObject) -> JSONValue {
    .object(JSONObject([("_id", .string(id))] + more + body.map { ($0.key, $0.value) }))
  }

  /// A request as `Query(request:)` takes it.
  mutating func request() -> JSONObject {
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
    return request
  }
}
