import CDTJSON
import Testing

/// The examples of the doc comments.
@Suite struct DocCommentTests {
  enum Size: String, JSONConvertible { case small, large }

  struct Weight: JSONConvertible {
    var grams: Int
    var jsonValue: JSONValue { .init(grams) }

    init?(jsonValue: JSONValue) {
      guard let grams = jsonValue.intValue, grams > 0 else { return nil }
      self.grams = grams
    }
  }

  @Test func convertible() {
    let age = 3, tags = ["red", "small"]
    var body = JSONObject(["name": "Rex", "age": age])
    body["tags"] = tags
    let first: String? = body["tags"][0]
    body["size"] = Size.small
    let size: Size? = body["size"]
    let pet: JSONValue = ["name": "Rex", "age": .init(age)]
    #expect(first == "red" && size == .small && pet["age"] == 3)
    #expect(body.text == #"{"name":"Rex","age":3,"tags":["red","small"],"size":"small"}"#)
  }

  @Test func `merge patches`() {
    var body: JSONObject = ["name": "Rex", "owner": ["city": "Bern", "zip": 3000]]
    body.merge(patch: ["name": nil, "owner": ["zip": 3011]])
    #expect(body.text == #"{"owner":{"city":"Bern","zip":3011}}"#)
  }

  @Test func `types of one's own`() {
    var body: JSONObject = [:]
    body["weight"] = Weight(jsonValue: 5)
    let weight: Weight? = body["weight"]
    body["weight"] = 0
    let none: Weight? = body["weight"]
    #expect(weight?.grams == 5 && none == nil)
    #expect([1, 2].jsonValue == [1, 2])
    #expect(UInt64.max.jsonValue.text == "18446744073709551615")
    #expect(Int8(jsonValue: 5) == 5)
    #expect(Int8(jsonValue: 300) == nil)
    #expect(Int8(jsonValue: "5") == nil)
  }

  @Test func `objects of variables`() {
    #expect(JSONObject(zip(["name", "age"], ["Rex", 3])).text == #"{"name":"Rex","age":3}"#)
    let name = "Rex", age: Int? = nil
    #expect(JSONObject(["name": name, "age": age]).text == #"{"name":"Rex","age":null}"#)
    let counts = ["b": 2, "a": 1]
    #expect(JSONObject(counts).text == #"{"a":1,"b":2}"#)
  }

  @Test func `members of objects`() {
    var body: JSONObject = ["name": "Rex"]
    body["age"] = 3
    body["tags"][0] = "red"
    body["name"] = nil
    #expect(body.text == #"{"age":3,"tags":["red"]}"#)
    #expect(body.removeValue(forKey: "age") == 3)
  }

  @Test func `members of values`() {
    var pet: JSONValue = ["name": "Rex"]
    pet["owner"]["name"] = "Mia"
    #expect(pet.text == #"{"name":"Rex","owner":{"name":"Mia"}}"#)
    let name = "Max"
    pet["name"] = name
    let stored: String? = pet["name"]
    #expect(stored == "Max")
  }

  @Test func elements() {
    var tags: JSONValue = ["red"]
    tags[0] = "blue"
    tags[1] = "small"
    tags[7] = "lost"
    #expect(tags.text == #"["blue","small"]"#)
    let tag = "red"
    tags[0] = tag
    let first: String? = tags[0]
    #expect(first == "red")
  }

  @Test func `members and elements that are missing`() {
    var body: JSONObject = [:]
    body["pet"]["owner"]["name"] = "Mia"
    #expect(body["pet"]["owner"]["name"] == "Mia")
    #expect(body.text == #"{"pet":{"owner":{"name":"Mia"}}}"#)
    body = [:]
    body["tags"][0] = "red"
    #expect(body["tags"][0] == "red")
    #expect(body.text == #"{"tags":["red"]}"#)
  }

  @Test func variables() {
    var body: JSONObject = [:]
    let age: Int? = 3
    body["age"] = age
    let stored: Int? = body["age"]
    let text: String? = body["age"]
    #expect(stored == 3 && text == nil)
    let name = "Mia", tag = "red"
    body["pet"]["owner"]["name"] = name
    let owner: String? = body["pet"]["owner"]["name"]
    body["tags"][0] = tag
    let first: String? = body["tags"][0]
    #expect(owner == "Mia" && first == "red")
  }

  @Test func collections() {
    let rex: JSONObject = ["name": "Rex", "age": 3]
    #expect(rex[0].key == "name")
    #expect(rex.keys == ["name", "age"])
    #expect(rex.values == ["Rex", 3])
    var body: JSONObject = ["name": "Rex", "age": 3]
    body.merge(["age": 4, "size": "small"]) { old, new in new }
    #expect(body.text == #"{"name":"Rex","age":4,"size":"small"}"#)
    body["size"] = .null
    #expect(body.mapValues { $0.isNull ? "unknown" : $0 }["size"] == "unknown")
    #expect(body.filter { !$0.value.isNull }.count == 2)
    body.removeAll { $0.value.isNull }
    #expect(body.count == 2)
  }

  @Test func coding() throws {
    struct Task: Codable { var description: String, completed: Bool }
    let task = Task(description: "Buy milk", completed: false)
    #expect(try JSONValue(encoding: task).text == #"{"description":"Buy milk","completed":false}"#)
    var options = JSONCodingOptions()
    options.dates = .secondsSince1970
    let body = try JSONObject(encoding: task, options: options)
    let copy = try body.decode(Task.self, options: options)
    #expect(copy.description == "Buy milk")
  }

  @Test func integers() {
    #expect(JSONValue.double(3).intValue == 3)
    #expect(JSONValue.double(3.5).intValue == nil)
  }
}
