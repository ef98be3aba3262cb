import CDTDatastore
import CDTJSON
import CDTQuery
import Testing

@testable import CDTRules

/// Rules and documents that are made to do harm.
@Suite struct HostileRuleTests {
  static let numbers = [
    "0", "-0.0", "1e308", "5e-324", "9223372036854775807", "-9223372036854775808", "0.1e-400",
    "123456789012345678901234567890", "[-1, 0]", "[0, 0]", "[]", "[1]", "[1e300, 1]",
    "[-1, -9223372036854775808]",
    "null", "\"\\u0000\"", "{}", "\"9\"",
  ]

  @Test(arguments: ["$eq", "$lt", "$gte", "$in", "$nin", "$all", "$mod"])
  func anyValueIsAnOperand(_ name: String) throws {
    let rule = try RuleTrial(#"{"newDoc.a": {"\#(name)": {"$data": "newDoc.b"}}}"#)
    let isList = ["$in", "$nin", "$all", "$mod"].contains(name)
    let operand = isList ? #"[{"$data": "newDoc.b"}, 1]"# : #"{"$data": "newDoc.b"}"#
    let element = try RuleTrial(#"{"newDoc.a": {"$allMatch": {"\#(name)": \#(operand)}}}"#)
    for left in Self.numbers {
      for right in Self.numbers {
        let input = try JSONObject(parsing: #"{"newDoc": {"a": \#(left), "b": \#(right)}}"#)
        for rule in [rule, element] {
          #expect(try rule.holds(input) == (rule.violation(input) == nil), "\(name) of \(left) and \(right)")
        }
      }
    }
  }

  @Test func aPathOfDotsIsReadOrRefused() throws {
    for path in [
      ".", "..", "...", "", "newDoc.", "newDoc..a", ".newDoc.", String(repeating: ".", count: 100_000),
    ] {
      let json: JSONObject = ["newDoc.a": ["$data": .string(path)]]
      guard let rule = try? RuleTrial(json) else { continue }
      let input: JSONObject = ["newDoc": ["a": ["": 1], "": ["a": 2]], "": 3]
      #expect(try rule.holds(input) == (rule.violation(input) == nil), "\(path.prefix(20))")
    }
  }

  @Test func aDeepDocumentIsDecided() throws {
    var deep: JSONValue = 1
    for number in 0..<450 { deep = number % 2 == 0 ? ["a": deep] : [deep] }
    let rules = [
      #"{"newDoc.d": {"$ne": {"$data": "newDoc.d"}}}"#,
      #"{"newDoc.d": {"$allMatch": {"$data": "oldDoc.d"}}}"#,
      #"{"newDoc.d": {"$eq": {"$data": "oldDoc.d"}}, "newDoc.e": {"$in": {"$data": "newDoc.d"}}}"#,
    ]
    for rule in rules {
      let trial = try RuleTrial(rule)
      let input: JSONObject = ["newDoc": ["d": deep, "e": deep], "oldDoc": ["d": deep]]
      #expect(try trial.holds(input) == (trial.violation(input) == nil), "\(rule)")
    }
  }

  @Test func aRuleNestedTooDeepIsRefused() throws {
    for depth in [50, 99, 101, 400] {
      for wrap: (JSONObject) -> JSONObject in [
        { ["$not": .object($0)] },
        { ["$if": .object($0), "$then": .object($0.isEmpty ? [:] : ["newDoc.a": 1])] },
        { ["newDoc": ["a": ["$elemMatch": .object($0)]]] },
      ] {
        var json: JSONObject = ["newDoc.a": 1]
        for _ in 0..<depth { json = wrap(json) }
        guard let rule = try? RuleTrial(json) else { continue }
        let input: JSONObject = ["newDoc": ["a": [["newDoc": ["a": [1]]]]]]
        #expect(try rule.holds(input) == (rule.violation(input) == nil))
      }
    }
  }

  @Test func referencesDoNotMultiply() throws {
    // Each definition refers to the next one twice.
    var definitions = JSONObject()
    for number in 0..<60 {
      let next: JSONValue = ["$ref": .string("defs.d\(number + 1)")]
      definitions["d\(number)"] = ["$or": [next, next]]
    }
    definitions["d60"] = ["newDoc.a": 1]
    #expect(throws: QueryError.self) { try RuleTrial(["$ref": "defs.d0"], definitions: definitions) }
  }

  @Test func namesAreComparedByTheirBytes() throws {
    let names = [
      "\u{e9}", "e\u{301}", "", "\u{0}", "a\u{0}b", "a", "*", "_admin", "\"", "\\", "\u{212a}", "K",
    ]
    let rule = try RuleTrial(#"{"newDoc.owner": {"$data": "userCtx.name"}}"#)
    let roles = try RuleTrial(#"{"newDoc.owner": {"$in": {"$data": "userCtx.roles"}}}"#)
    let joined = try RuleTrial(#"{"newDoc._id": {"$cat": ["u:", {"$data": "userCtx.name"}]}}"#)
    for name in names {
      for owner in names {
        let user = UserContext(name: name, roles: [name, "x"]).json(inDatabase: "db")
        let input: JSONObject = [
          "newDoc": ["_id": .string("u:" + owner), "owner": .string(owner)], "userCtx": .object(user),
        ]
        let isSame = name.utf8.elementsEqual(owner.utf8)
        #expect(try rule.holds(input) == isSame)
        #expect(try roles.holds(input) == (isSame || owner == "x"))
        #expect(try joined.holds(input) == isSame)
      }
    }
  }
}
