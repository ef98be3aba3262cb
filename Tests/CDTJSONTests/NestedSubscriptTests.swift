import CDTJSON
import Testing

@Suite struct NestedSubscriptTests {
  private var body: JSONObject = ["pet": ["name": "Rex"], "tags": ["a", "b"]]

  @Test func `members and elements are read with and without a question mark`() {
    #expect(body["pet"]?["name"] == "Rex")
    #expect(body["pet"]["name"] == "Rex")
    #expect(body["tags"]?[1] == "b")
    #expect(body["tags"][1] == "b")
    #expect(body["tags"][2] == nil)
    #expect(body["tags"][-1] == nil)
    #expect(body["tags"][.max] == nil)
    #expect(body["pet"][0] == nil)
    #expect(body["tags"]["name"] == nil)
    #expect(body["none"]["name"][3]["x"] == nil)
    let name = body["pet"]["name"]
    #expect(name?.stringValue == "Rex")
  }

  @Test mutating func `members and elements are set where they are`() {
    body["pet"]["name"] = "Mia"
    body["pet"]?["age"] = 3
    body["tags"][0] = "x"
    body["tags"]?[1] = ["y"]
    body["tags"][1][0] = "z"
    #expect(body.text == #"{"pet":{"name":"Mia","age":3},"tags":["x",["z"]]}"#)
  }

  @Test func `a missing, null or scalar value becomes an object`() {
    var object: JSONObject = ["null": .null, "number": 1, "text": "t"]
    object["missing"]["a"]["b"]["c"] = 1
    object["null"]["a"] = 2
    object["number"]["a"] = 3
    object["text"]?["a"] = 4
    #expect(
      object.text
        == #"{"null":{"a":2},"number":{"a":3},"text":{"a":4},"missing":{"a":{"b":{"c":1}}}}"#)
    var value: JSONValue?
    value["a"] = 1
    #expect(value == ["a": 1])
  }

  @Test mutating func `the element past the last one is appended`() {
    body["tags"][2] = "c"
    body["new"][0] = "first"
    body["new"][1]["a"][0] = 1
    body["null"] = .null
    body["null"][0] = 1
    #expect(body["tags"] == ["a", "b", "c"])
    #expect(body["new"] == ["first", ["a": [1]]])
    #expect(body["null"] == [1])
  }

  @Test mutating func `values that can't be set are left alone`() {
    let before = body
    body["tags"][3] = "d"
    body["tags"][-1] = "d"
    body["tags"][.min] = "d"
    body["tags"]["name"] = "d"
    body["pet"][0] = "d"
    body["pet"]["name"][0] = "d"
    body["missing"][1] = "d"
    body["missing"][1]["a"] = "d"
    #expect(body.text == before.text)
  }

  @Test mutating func `nil removes, and makes nothing`() {
    body["tags"][0] = nil
    body["tags"][5] = nil
    body["pet"]["name"] = nil
    body["pet"]["none"]["none"] = nil
    body["missing"]["a"] = nil
    body["missing"]["a"]["b"] = nil
    body["missing"][0] = nil
    #expect(body.text == #"{"pet":{},"tags":["b"]}"#)
    body["tags"][0] = .null
    body["null"] = .null
    body["null"]["a"] = nil
    body["null"][0] = nil
    #expect(body.text == #"{"pet":{},"tags":[null],"null":null}"#)
  }

  @Test mutating func `a copy is not changed`() {
    let copy = body
    body["tags"][0] = "x"
    body["pet"]["name"] = "Mia"
    #expect(copy == ["pet": ["name": "Rex"], "tags": ["a", "b"]])
  }

  @Test mutating func `a closure that throws leaves the other values in place`() {
    struct Failure: Error {}
    func fail(_ value: inout JSONValue?) throws {
      value = "x"
      throw Failure()
    }
    #expect(throws: Failure.self) { try fail(&body["tags"][0]) }
    #expect(throws: Failure.self) { try fail(&body["pet"]["name"]) }
    #expect(body == ["pet": ["name": "x"], "tags": ["x", "b"]])
  }

  /// If an array were copied with every element, this would take a minute.
  @Test func `elements are set without copying the others`() {
    var body: JSONObject = [:]
    for number in 0..<50_000 { body["tags"][number] = "tag" }
    #expect(body["tags"]?.count == 50_000)
  }
}
