import CDTJSON
import CDTRandomDocuments

extension RandomDocuments {
  /// What happens to a datastore before the first query.
  mutating func beginning() -> [Step] {
    var steps: [Step] = []
    if chance(40) { steps.append(textIndex()) }
    if chance(50) { steps.append(Step(.index, index())) }
    if chance(20) { steps.append(rule()) }
    for _ in 0..<number(below: 40) { steps.append(write()) }
    if chance(60) { steps.append(Step(.index, index())) }
    return steps
  }

  /// What happens next, mostly a query.
  mutating func step() -> Step {
    switch number(below: 200) {
    case 0..<30: write()
    case 30..<36: Step(.miss, write().argument)
    case 36..<41: Step(.index, index())
    case 41..<45: Step(.begin, index())
    case 45..<53: Step(.advance, .int(Int64(1 + number(below: 12))))
    case 53..<56: Step(.drop, .int(Int64(number(below: 4))))
    case 56..<59: Step(.update)
    case 59: Step(.rebuild)
    case 60: Step(.compact)
    case 61..<63: Step(.reopen)
    case 63: chance(30) ? textIndex() : Step(.rewind)
    case 64..<84: Step(.find, .object(groupRequest()))
    case 84..<88: chance(90) ? Step(.clock, .int(pick([-2, 0, 1, 2, 3, 5, .max]))) : rule()
    default: Step(.find, .object(ask()))
    }
  }

  private mutating func rule() -> Step {
    var rule: JSONObject = [
      "field": .string(pick(Self.plainNames)), "seconds": .int(Int64(number(below: 3))),
    ]
    if chance(30) { rule["where"] = .object(filter()) }
    return Step(.expire, .object(rule))
  }

  /// An index, partial or not.
  private mutating func index() -> JSONValue {
    if chance(20) { return vectorIndex() }
    var index: JSONObject = ["fields": .array(indexFields())]
    if chance(40) { index["where"] = .object(filter()) }
    if chance(25) {
      // The last field has no direction.
      let place = documentPath(0)
      index["fields"] = .array((index["fields"]?.arrayValue ?? []).dropLast() + [.string(place)])
      index["type"] = "place"
    } else if chance(35) {
      index["fields"] = .array((0..<number(below: 3)).map { _ in .string(documentPath(10)) })
      index["sum"] = .array((0..<(1 + number(below: 2))).map { _ in .string(documentPath(10)) })
    } else {
      index["collation"] = collation()?.rawValue.jsonValue
    }
    return .object(index)
  }

  /// A request, for which a partial index may serve.
  private mutating func ask() -> JSONObject {
    var request = request()
    if chance(30) { request["selector"] = narrowed(request["selector"] ?? [:]) }
    return request
  }

  private mutating func vectorIndex() -> JSONValue {
    var index: JSONObject = [
      "fields": [.string(documentPath(0))], "type": "vector", "vector": .int(chance(80) ? 2 : 1),
    ]
    if chance(30) { index["where"] = .object(filter()) }
    return .object(index)
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
}
