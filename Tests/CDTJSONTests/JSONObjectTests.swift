import CDTJSON
import Testing

@Suite struct JSONObjectTests {
  @Test func membersKeepTheirOrder() {
    var object: JSONObject = ["z": 1, "a": 2]
    object["m"] = 3
    object["z"] = 4
    #expect(object.keys == ["z", "a", "m"])
    #expect(object.map(\.value) == [4, 2, 3])
    #expect(object.count == 3 && !object.isEmpty)
  }

  @Test func nilRemovesAMemberAndNullIsAValue() {
    var object: JSONObject = ["a": 1, "b": 2]
    object["a"] = .null
    object["b"] = nil
    object["c"] = nil
    #expect(object.text == #"{"a":null}"#)
    #expect(object.removeValue(forKey: "a") == .null)
    #expect(object.removeValue(forKey: "a") == nil)
    #expect(object.isEmpty)
  }

  @Test func ofRepeatedKeysTheLastStays() {
    #expect(JSONObject([("a", 1), ("b", 2), ("a", 3)]).text == #"{"a":3,"b":2}"#)
    #expect((["a": 1, "a": 2] as JSONValue).text == #"{"a":2}"#)
  }

  @Test func keysAreToldApartByTheirBytes() {
    var object: JSONObject = ["é": 1]
    object["e\u{301}"] = 2
    #expect(object.count == 2)
    #expect(object["é"] == 1)
    #expect(object["e\u{301}"] == 2)
  }

  /// Both sides of the number of members from which keys are hashed.
  @Test(arguments: [1, 15, 16, 17, 18, 100]) func membersAreFoundHoweverMany(_ count: Int) {
    var object = JSONObject()
    for number in 0..<count { object["k\(number)"] = .int(Int64(number)) }
    object["é"] = "composed"
    object["e\u{301}"] = "decomposed"
    for number in 0..<count { #expect(object["k\(number)"] == .int(Int64(number))) }
    #expect(object["é"] == "composed")
    #expect(object["e\u{301}"] == "decomposed")
    #expect(object["k\(count)"] == nil)
    for number in stride(from: 0, to: count, by: 2) { object.removeValue(forKey: "k\(number)") }
    for number in 0..<count {
      #expect(object["k\(number)"] == (number % 2 == 0 ? nil : .int(Int64(number))))
    }
    object["k1"] = "new"
    #expect(object["k1"] == (count > 1 ? "new" : object["k1"]))
    #expect(object["é"] == "composed")
  }

  @Test func copiesAreIndependent() {
    let original: JSONObject = ["a": ["b": 1]]
    var copy = original
    copy["a"]?["b"] = 2
    #expect(original["a"]?["b"] == 1)
    #expect(copy["a"]?["b"] == 2)
  }

  @Test func bytesOfABufferAreParsed() throws {
    let object = try Array(#"{"a":1}"#.utf8).withUnsafeBytes { try JSONObject(parsing: $0) }
    #expect(object == ["a": 1])
  }

  /// The examples of RFC 7396, appendix A, whose documents and patches are objects.
  @Test(arguments: [
    (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
    (#"{"a":"b"}"#, #"{"a":null}"#, "{}"), (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
    (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
    (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
    (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
    (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
    ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
    (#"{"a":1.10}"#, #"{"b":1e3}"#, #"{"a":1.10,"b":1e3}"#),
  ])
  func `a merge patch changes the members that it names`(_ text: String, patch: String, result: String) throws
  {
    var object = try JSONObject(parsing: text)
    object.merge(patch: try JSONObject(parsing: patch))
    #expect(object.text == result)
  }
}
