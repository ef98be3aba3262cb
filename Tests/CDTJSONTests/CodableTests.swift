import CDTJSON
import Foundation
import Testing

@Suite struct CodableTests {
  struct Task: Codable, Equatable {
    enum Priority: String, Codable { case low, high }
    var description: String
    var completed: Bool
    var priority: Priority?
    var tags: [String] = []
    var counts: [String: Int] = [:]
    var due: Date?
    var size = 0.1
    var small: Float = 0.1
    var big: UInt64 = .max
    var parent: [Task] = []
    var anything: JSONValue = .null
  }

  private let task = Task(
    description: "Buy „milk“", completed: true, priority: .high, tags: ["a", "b"], counts: ["x": 1],
    due: Date(timeIntervalSinceReferenceDate: 12.5), parent: [Task(description: "", completed: false)],
    anything: ["a": [1, 2.5, nil]])

  @Test func `a type comes back as it went`() throws {
    let body = try JSONObject(encoding: task)
    #expect(try body.decode(Task.self) == task)
    #expect(try JSONObject(parsing: body.text).decode() == task)
  }

  @Test func `members are in the order of their encoding`() throws {
    let body = try JSONObject(encoding: task)
    #expect(
      body.keys == [
        "description", "completed", "priority", "tags", "counts", "due", "size", "small", "big", "parent",
        "anything",
      ])
    #expect(body["small"]?.text == "0.1")
    #expect(body["big"]?.text == "18446744073709551615")
    #expect(body["due"] == "2001-01-01T00:00:12.500Z")
  }

  @Test func `an absent optional is left out, and null is taken for one`() throws {
    struct Note: Codable, Equatable { var text: String? }
    #expect(try JSONObject(encoding: Note()).text == "{}")
    #expect(try JSONObject(parsing: #"{"text":null}"#).decode(Note.self) == Note())
    #expect(try (["text": "a"] as JSONObject).decode(Note.self) == Note(text: "a"))
  }

  @Test func `whole numbers fit exactly or not at all`() throws {
    #expect(try (5.0 as JSONValue).decode(Int.self) == 5)
    #expect(try JSONValue(parsing: "18446744073709551615").decode(UInt64.self) == .max)
    #expect(try JSONValue(parsing: "5").decode(Double.self) == 5)
    for (value, type) in [(300 as JSONValue, "Int8"), (1.5, "Int"), (-1, "UInt")] {
      #expect(throws: DecodingError.self, "\(value) as \(type)") {
        switch type {
        case "Int8": _ = try value.decode(Int8.self)
        case "UInt": _ = try value.decode(UInt.self)
        default: _ = try value.decode(Int.self)
        }
      }
    }
  }

  @Test func `errors name the path`() throws {
    struct Owner: Decodable { var pets: [Pet] }
    struct Pet: Decodable { var name: String }
    let body: JSONObject = ["pets": [["name": "Rex"], ["name": 3]]]
    let error = #expect(throws: DecodingError.self) { try body.decode(Owner.self) }
    guard case .typeMismatch(_, let context)? = error else { return #expect(Bool(false), "\(error as Any)") }
    #expect(context.codingPath.map(\.stringValue) == ["pets", "Index 1", "name"])
    #expect(context.debugDescription == "expected a string, found a number")
    let missing = #expect(throws: DecodingError.self) { try ([:] as JSONObject).decode(Owner.self) }
    guard case .keyNotFound(let key, _)? = missing else { return #expect(Bool(false), "\(missing as Any)") }
    #expect(key.stringValue == "pets")
  }

  @Test func `values that JSON can't hold are refused with their path`() {
    struct Reading: Encodable { var values: [Double] }
    let error = #expect(throws: EncodingError.self) { try JSONObject(encoding: Reading(values: [1, .nan])) }
    guard case .invalidValue(_, let context)? = error else { return #expect(Bool(false), "\(error as Any)") }
    #expect(context.codingPath.map(\.stringValue) == ["values", "Index 1"])
    #expect(context.debugDescription == "JSON has no nan; encode it as null or as a string")
    #expect(throws: EncodingError.self) { try JSONObject(encoding: 5) }
    #expect(throws: EncodingError.self) { try JSONObject(encoding: [1]) }
  }

  @Test func `a cycle is an error and not the end of the stack`() {
    final class Node: Encodable {
      var next: Node?
      enum CodingKeys: CodingKey { case next }
    }
    let node = Node()
    node.next = node
    #expect(throws: EncodingError.self) { try JSONObject(encoding: node) }
    node.next = nil
  }

  @Test func `a superclass has a member of its own`() throws {
    class Animal: Codable {
      var name = "Rex"
      init() {}
    }
    final class Dog: Animal {
      var tricks = ["sit"]
      enum CodingKeys: CodingKey { case tricks }
      override init() { super.init() }
      required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        tricks = try container.decode([String].self, forKey: .tricks)
        try super.init(from: container.superDecoder())
      }
      override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(tricks, forKey: .tricks)
        try super.encode(to: container.superEncoder())
      }
    }
    let body = try JSONObject(encoding: Dog())
    #expect(body.text == #"{"tricks":["sit"],"super":{"name":"Rex"}}"#)
    #expect(try body.decode(Dog.self).name == "Rex")
  }

  @Test func `enumerations with values and unkeyed containers come back`() throws {
    enum Shape: Codable, Equatable { case circle(radius: Double), polygon([Int]), none }
    let shapes = [Shape.circle(radius: 1.5), .polygon([1, 2]), .none]
    #expect(
      try JSONValue(encoding: shapes).text
        == #"[{"circle":{"radius":1.5}},{"polygon":{"_0":[1,2]}},{"none":{}}]"#)
    #expect(try JSONValue(encoding: shapes).decode([Shape].self) == shapes)
    #expect(throws: DecodingError.self) { try (["x": [:]] as JSONValue).decode(Shape.self) }
  }

  @Test func `values go through Foundation's coders as well`() throws {
    let value: JSONValue = ["a": [1, 2.5, nil, true, "s"], "b": ["c": 1e300], "d": [:], "e": []]
    let data = try JSONEncoder().encode(value)
    #expect(try JSONDecoder().decode(JSONValue.self, from: data) == value)
    #expect(try JSONDecoder().decode(JSONObject.self, from: data) == value.objectValue)
    #expect(try JSONValue(parsing: Array(data)) == value)
    let big = try JSONValue(parsing: "18446744073709551615")
    #expect(try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode([big])) == [big])
  }
}
