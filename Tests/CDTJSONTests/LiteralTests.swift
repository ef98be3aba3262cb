import CDTJSON
import Testing

/// Literals mean the same as they did before variables could be assigned.
@Suite struct LiteralTests {
  @Test func `literals are assigned as values`() {
    var body: JSONObject = ["x": 1]
    body["age"] = 37
    body["ratio"] = 0.5
    body["tags"] = ["a"]
    body["mixed"] = ["a", 1, nil, [true]]
    body["pair"] = ["b": 1, "a": 2]
    body["empty"] = [:]
    body["none"] = []
    body["x"] = nil
    body["text"] = "\(1 + 1)"
    body["no"] = .null
    body["choice"] = body.isEmpty ? "right" : "left"
    #expect(
      body.text
        == #"{"age":37,"ratio":0.5,"tags":["a"],"mixed":["a",1,null,[true]],"pair":{"b":1,"a":2},"empty":{},"#
        + #""none":[],"text":"2","no":null,"choice":"left"}"#)
  }

  @Test func `a member is a value where nothing else is asked for`() {
    let body: JSONObject = ["x": "y", "n": 5.0, "a": ["b": "c"], "e": "e\u{301}"]
    let member = body["x"]
    let other = body["none"] ?? "none"
    #expect(member?.stringValue == "y" && other.stringValue == "none")
    #expect(body["x"] == "y")
    #expect(body["x"] != "z")
    #expect("y" == body["x"])
    #expect(body["n"] == 5)
    #expect(body["none"] == nil)
    #expect(body["none"] != .null)
    #expect(body["a"]?["b"] == "c")
    #expect(body["a"]["b"] == "c")
    #expect(body["a"] == ["b": "c"])
    #expect(body["e"] != "é")
    #expect(body["x"].map(\.text) == #""y""#)
    #expect(body["n"]?.intValue == 5)
    if let member = body["x"] { #expect(member.stringValue == "y") }
    guard case .string("y")? = body["x"] else { return #expect(Bool(false)) }
    switch body["x"] {
    case .string(let text)?: #expect(text == "y")
    default: #expect(Bool(false))
    }
  }
}
