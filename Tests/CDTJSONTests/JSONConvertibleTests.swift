import CDTJSON
import Foundation
import Testing

@Suite struct JSONConvertibleTests {
  enum Size: String, JSONConvertible { case small, large }

  /// The value comes back, and nothing is taken for it that it is not.
  private func check<T: JSONConvertible & Equatable>(
    _ value: T, _ text: String, refuses others: [JSONValue], location: SourceLocation = #_sourceLocation
  ) {
    #expect(value.jsonValue.text == text, sourceLocation: location)
    #expect(T(jsonValue: value.jsonValue) == value, sourceLocation: location)
    for other in others { #expect(T(jsonValue: other) == nil, "\(other)", sourceLocation: location) }
  }

  @Test func `each type comes back as it went`() {
    check(true, "true", refuses: [1, "true", nil])
    check("é", #""é""#, refuses: [1, nil, [:]])
    check("abc".prefix(2), #""ab""#, refuses: [1])
    check(0.1, "0.1", refuses: ["0.1", nil])
    check(Float(0.1), "0.1", refuses: ["0.1", 1e300])
    check(JSONValue.null, "null", refuses: [])
    check(["a": 1] as JSONObject, #"{"a":1}"#, refuses: [[], nil])
    check([1, 2], "[1,2]", refuses: [[1, "2"], 1, [:]])
    check([[1, nil], []], "[[1,null],[]]", refuses: [[["a": 1]]])
    check(
      UUID(uuidString: "00000000-0000-0000-0000-00000000000a"), #""00000000-0000-0000-0000-00000000000A""#,
      refuses: ["a", 1])
    check(Date(timeIntervalSince1970: 0.25), #""1970-01-01T00:00:00.250Z""#, refuses: ["1970", 0])
    check(URL(string: "https://a.example/b"), #""https://a.example/b""#, refuses: [1])
    check(Decimal(string: "1.25"), "1.25", refuses: ["x", []])
    check(Data([1, 2]), #""AQI=""#, refuses: ["?", 1])
    check(Size.small, #""small""#, refuses: ["medium", 1])
    check(3 as Int?, "3", refuses: ["3"])
    check(nil as Int?, "null", refuses: ["3"])
  }

  @Test func `a literal mixes variables of any types`() {
    let (name, age, date, none) = ("Rex", 3, Date(timeIntervalSince1970: 0), String?.none)
    let literal: JSONLiteral = [
      "name": name, "$or": [["n": age], ["due": ["$lt": date, "tags": ["$in": [name, "x"]]]]], "a": nil,
      "b": none,
    ]
    #expect(
      JSONObject(literal).text == #"{"name":"Rex","$or":[{"n":3},{"due":{"$lt":"1970-01-01T00:00:00.000Z","#
        + #""tags":{"$in":["Rex","x"]}}}],"a":null,"b":null}"#)
    let inner: [String: (any JSONConvertible)?] = ["b": age, "a": nil]
    #expect(inner.jsonValue.text == #"{"a":null,"b":3}"#)
    #expect([String: (any JSONConvertible)?](jsonValue: ["a": 1])?["a"]??.jsonValue == 1)
    #expect([String: (any JSONConvertible)?](jsonValue: [1]) == nil)
  }

  @Test func `a date without JSON is not null`() {
    #expect(Date(timeIntervalSince1970: .infinity).jsonValue.doubleValue?.isNaN == true)
    #expect(Date(timeIntervalSince1970: 1e12).jsonValue.doubleValue?.isNaN == true)
  }

  @Test func `integers of every width are exact`() {
    check(Int.min, "-9223372036854775808", refuses: [1.5, "1", .double(0x1p63)])
    check(Int8.min, "-128", refuses: [128, -129])
    check(Int16.max, "32767", refuses: [32_768])
    check(Int32.max, "2147483647", refuses: [2_147_483_648])
    check(Int64.max, "9223372036854775807", refuses: [true])
    check(UInt8.max, "255", refuses: [256, -1])
    check(UInt16.max, "65535", refuses: [-1])
    check(UInt32.max, "4294967295", refuses: [-1])
    check(UInt.max, "18446744073709551615", refuses: [-1, UInt128.max.jsonValue])
    check(UInt64.max, "18446744073709551615", refuses: [-1])
    check(Int128.min, "-170141183460469231731687303715884105728", refuses: [UInt128.max.jsonValue])
    check(UInt128.max, "340282366920938463463374607431768211455", refuses: [-1])
    #expect(Int(jsonValue: 5.0) == 5)
    #expect(JSONValue(UInt64.max).intValue == nil)
    guard case .spelled(let big) = JSONValue(UInt64.max) else { return #expect(Bool(false)) }
    #expect(big.text == "18446744073709551615" && big.doubleValue == 0x1p64)
  }

  @Test func `variables are set and read`() {
    let name = "Rex", age: Int? = 3, weight = 4.5, tags = ["a", "b"], counts = ["x": 1], isOld = false
    var body: JSONObject = ["old": 1]
    body["name"] = name
    body["age"] = age
    body["weight"] = weight
    body["tags"] = tags
    body["counts"] = counts
    body["isOld"] = isOld
    body["size"] = Size.large
    body["more"] = [name, "Mia"]
    body["big"] = UInt64.max
    #expect(
      body.text
        == #"{"old":1,"name":"Rex","age":3,"weight":4.5,"tags":["a","b"],"counts":{"x":1},"isOld":false,"#
        + #""size":"large","more":["Rex","Mia"],"big":18446744073709551615}"#)
    let storedName: String? = body["name"]
    let storedAge: Int = body["age"] ?? 0
    let storedTags: [String]? = body["tags"]
    let storedCounts: [String: Int]? = body["counts"]
    let size: Size? = body["size"]
    let wrong: String? = body["age"]
    let missing: Int? = body["none"]
    #expect(storedName == name && storedAge == 3 && storedTags == tags && storedCounts == counts)
    #expect(size == .large && wrong == nil && missing == nil)
    if let weight: Double = body["weight"] { #expect(weight == 4.5) } else { #expect(Bool(false)) }
  }

  @Test func `an optional that is nil removes its member`() {
    var body: JSONObject = ["age": 3, "pet": ["name": "Rex", "tags": ["a"]]]
    let age: Int? = nil, name: String? = nil
    body["age"] = age
    body["pet"]["name"] = name
    body["pet"]["tags"][0] = name
    #expect(body.text == #"{"pet":{"tags":[]}}"#)
  }

  @Test func `variables are set and read wherever they are`() {
    let name = "Mia", number = 7
    var body: JSONObject = [:]
    body["pet"]["owner"]["name"] = name
    body["tags"][0] = name
    body["tags"]?[1] = number
    body["pet"]?["age"] = number
    #expect(body.text == #"{"pet":{"owner":{"name":"Mia"},"age":7},"tags":["Mia",7]}"#)
    let owner: String? = body["pet"]["owner"]["name"]
    let tag: String? = body["tags"][0]
    let second: Int? = body["tags"]?[1]
    let age: Int? = body["pet"]?["age"]
    #expect(owner == name && tag == name && second == number && age == number)
    var value: JSONValue = nil
    value["age"] = number
    #expect(value == ["age": 7])
    body["count"] = (body["count"]?.intValue ?? 0) + number
    #expect(body["count"] == 7)
  }

  @Test func `a variable stands in a literal`() {
    let age = 3, name: String? = nil
    let body: JSONObject = ["age": .init(age), "name": .init(name), "ages": [.init(age), 4]]
    #expect(body.text == #"{"age":3,"name":null,"ages":[3,4]}"#)
    #expect(JSONValue(age) == 3 && JSONValue([age]) == [3] && JSONValue("x") == "x")
  }

  @Test func `an object of variables keeps their order, one of a dictionary is sorted`() {
    let name = "Rex", age = 3, none: Int? = nil, one = 1, two = 2
    #expect(
      JSONObject(["name": name, "age": age, "none": none, "tags": ["a"], "x": nil as String?]).text
        == #"{"name":"Rex","age":3,"none":null,"tags":["a"],"x":null}"#)
    #expect(JSONObject(["b": one, "a": two]).text == #"{"b":1,"a":2}"#)
    #expect(JSONObject(["b": 1, "a": "x"]).text == #"{"b":1,"a":"x"}"#)
    let counts = Dictionary(uniqueKeysWithValues: (0..<50).map { ("k\(100 - $0)", $0) })
    #expect(JSONObject(counts).keys == counts.keys.sorted())
    #expect(JSONObject(counts)["k51"] == 49)
    let values: [String: JSONValue] = ["b": "x", "a": 1]
    #expect(JSONObject(values).text == #"{"a":1,"b":"x"}"#)
  }
}
