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
    return request
  }
}
