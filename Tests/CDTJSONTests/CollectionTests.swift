import CDTJSON
import Testing

@Suite struct CollectionTests {
  private let body: JSONObject = ["name": "Rex", "age": 3, "tags": ["a", "b"]]

  // MARK: Objects

  @Test func `an object is a collection of its members`() {
    #expect(body.count == 3 && !body.isEmpty)
    #expect(body.map(\.key) == ["name", "age", "tags"])
    #expect(body.first?.value == "Rex" && body.last?.key == "tags")
    #expect(body[1].key == "age" && body[1].value == 3)
    #expect(body.reversed().map(\.key) == ["tags", "age", "name"])
    #expect(body.firstIndex { $0.key == "tags" } == 2)
    #expect(body.dropFirst().map(\.value) == [3, ["a", "b"]])
    #expect(body.keys == ["name", "age", "tags"])
    #expect(body.values == ["Rex", 3, ["a", "b"]])
    #expect(JSONObject().first == nil && JSONObject().isEmpty)
  }

  @Test func `members are filtered, mapped, merged and removed`() {
    #expect(body.filter { $0.key != "age" }.text == #"{"name":"Rex","tags":["a","b"]}"#)
    #expect(body.mapValues { .init($0.count) }.text == #"{"name":0,"age":0,"tags":2}"#)
    let changes: JSONObject = ["size": "small", "age": 4]
    #expect(
      body.merging(changes) { _, new in new }.text
        == #"{"name":"Rex","age":4,"tags":["a","b"],"size":"small"}"#)
    var merged = body
    merged.merge(changes) { old, _ in old }
    #expect(merged["age"] == 3 && merged["size"] == "small")
    merged.removeAll { $0.value.isEmpty }
    #expect(merged.keys == ["tags"])
    merged.removeAll()
    #expect(merged.isEmpty && merged["tags"] == nil)
    struct Failure: Error, Equatable {}
    #expect(throws: Failure()) { try body.filter { _ in throw Failure() } }
  }

  @Test func `members that were filtered from many are found`() {
    let many = JSONObject((0..<100).map { ("k\($0)", JSONValue($0)) })
    let even = many.filter { ($0.value.intValue ?? 0) % 2 == 0 }
    #expect(even.count == 50 && even["k98"] == 98 && even["k99"] == nil)
    #expect(many.mapValues { .init($0.text) }["k99"] == "99")
  }

  // MARK: Values

  @Test func `a value is a collection of its elements`() {
    var seen: [String] = []
    for tag in body["tags"] ?? [] { seen.append(tag.text) }
    for tag in body["none"] ?? [] { seen.append(tag.text) }
    #expect(seen == [#""a""#, #""b""#])
    #expect(body["tags"]?.map(\.stringValue) == ["a", "b"])
    #expect(body["tags"]?.count == 2)
    #expect(body["tags"]?.contains("b") == true)
    #expect(body["tags"]?.contains("c") == false)
    #expect(body["tags"]?.first == "a" && body["tags"]?.last == "b")
    #expect(body["tags"]?.contains { $0 == "a" } == true)
    #expect(Array(JSONValue.object(body)) == ["Rex", 3, ["a", "b"]])
    #expect((body["tags"]?.reversed()).map(Array.init) == ["b", "a"])
    for scalar in [nil, true, 1, 1.5, "text", UInt64.max.jsonValue] as [JSONValue] {
      #expect(scalar.isEmpty && scalar.first == nil, "\(scalar)")
    }
  }

  /// A value is a collection of values, so a search for a value could be taken for one for its elements.
  @Test func `a search is for a value, not for what is in it`() {
    let tags: [JSONValue] = ["a", "b"], missing: JSONValue = "c"
    #expect(!tags.contains(missing) && !tags.contains("c") && !JSONValue(tags).contains(missing))
    #expect(JSONValue([tags]).contains(["a", "b"]))
  }

  @Test func `an index of another value gives null, and no step leaves the value`() {
    let long: JSONValue = [1, 2, 3], short: JSONValue = [1], scalar: JSONValue = 5
    let last = long.index(before: long.endIndex)
    #expect(long[last] == 3 && short[last] == .null && scalar[last] == .null)
    #expect((["a": 1] as JSONValue)[last] == .null)
    #expect(long[long.endIndex] == .null)
    #expect(long.index(after: long.endIndex) == long.endIndex)
    #expect(long.index(before: long.startIndex) == long.startIndex)
    #expect(long.index(last, offsetBy: .max) == long.endIndex)
    #expect(long.index(last, offsetBy: .min) == long.startIndex)
    #expect(long.distance(from: long.startIndex, to: long.endIndex) == 3)
    #expect(long.index(long.startIndex, offsetBy: 5, limitedBy: long.endIndex) == nil)
  }
}
