import CDTJSON
import CDTQuery
import Testing

/// Every refusal of a rule, with the place and the remedy.
@Suite struct RuleErrorTests {
  static let cases: [(rule: String, error: String)] = [
    (
      #"{"type": "a"}"#,
      #"type: a rule has newDoc, oldDoc, userCtx and security, not "type"; write "newDoc.type" for a member of the document"#
    ),
    (
      #"{"$and": [{"newDoc.a": {"$data": "b"}}]}"#,
      #"$and[0].newDoc.a.$data: a rule has newDoc, oldDoc, userCtx and security, not "b"; write "newDoc.b" for a member of the document"#
    ),
    (#"{"$if": {"newDoc.a": 1}}"#, #"$if: "$if" needs a "$then" beside it; add what must hold"#),
    (
      #"{"newDoc.a": {"$if": {"$gt": 1}}}"#,
      #"newDoc.a.$if: "$if" needs a "$then" beside it; add what must hold"#
    ),
    (#"{"$then": {"newDoc.a": 1}}"#, #"$then: "$then" needs an "$if" beside it; add the condition"#),
    (#"{"newDoc.a": {"$else": 1}}"#, #"newDoc.a.$else: "$else" needs an "$if" beside it; add the condition"#),
    (
      #"{"$if": 1, "$then": {"newDoc.a": 1}}"#,
      #"$if: a selector is an object such as {"age": {"$gt": 18}}, not a number"#
    ),
    (
      #"{"newDoc": {"$ref": "defs.no"}}"#,
      #"newDoc.$ref: the design document has no member "defs.no"; define the selector there, or correct the path"#
    ),
    (#"{"newDoc": {"$ref": 7}}"#, #"newDoc.$ref: "$ref" takes a path such as "defs.name", not a number"#),
    (
      #"{"newDoc": {"$ref": "defs.self"}}"#,
      #"newDoc.$ref.below.$ref: the definition "defs.self" refers to itself; write out the levels that documents have"#
    ),
    (
      #"{"newDoc.a": {"$allMatch": {"$ref": "defs.loop"}}}"#,
      #"newDoc.a.$allMatch: the definition "defs.loop" refers to itself; write out the levels that documents have"#
    ),
    (
      #"{"newDoc.a": {"$allMatch": {"$ref": "defs.condition"}}}"#,
      #"newDoc.a.$allMatch: the definition "defs.condition" refers to itself; write out the levels that documents have"#
    ),
    (
      #"{"newDoc.a": {"$eq": [{"$data": "newDoc.b"}]}}"#,
      #"newDoc.a.$eq: "$data" is a whole operand, or a member of the array of "$in", "$nin", "$all" or "$mod"; move it"#
    ),
    (
      #"{"newDoc.a": [{"$cat": []}]}"#,
      #"newDoc.a: "$cat" is a whole operand, or a member of the array of "$in", "$nin", "$all" or "$mod"; move it"#
    ),
    (
      #"{"newDoc.a": {"$size": {"$data": "newDoc.b"}}}"#,
      #"newDoc.a.$size: "$data" is a whole operand, or a member of the array of "$in", "$nin", "$all" or "$mod"; move it"#
    ),
    (#"{"newDoc.a": {"$data": 7}}"#, #"newDoc.a.$data: "$data" takes a path, not a number"#),
    (#"{"newDoc.a": {"$cat": "x"}}"#, #"newDoc.a.$cat: "$cat" takes an array of strings, not a string"#),
    (
      #"{"newDoc.a": {"$cat": ["x", 1]}}"#,
      #"newDoc.a.$cat[1]: "$cat" takes strings and "$data", not a number"#
    ),
    (
      #"{"newDoc.a": 1, "$error": "no"}"#,
      #"$error: "$error" takes "forbidden" or "unauthorized", not a string"#
    ),
    (#"{"newDoc.a": {"$gt": 1, "$reason": 7}}"#, #"newDoc.a.$reason: "$reason" takes a text, not a number"#),
    (
      #"{"newDoc.place": {"$near": {"$vector": [1]}}}"#,
      #"newDoc.place.$near: "$near" stands at the top level of a selector, or in an "$and" there; move it, or use "$geoWithin" here"#
    ),
    (
      #"{"$text": {"$search": "a"}}"#,
      #"$text: a rule has no search for words, which needs an index; use "$regex" or "$beginsWith""#
    ),
  ]

  private static let definitions: JSONObject = [
    "self": ["below": ["$ref": "defs.self"]], "loop": ["$ref": "defs.back"], "back": ["$ref": "defs.loop"],
    "condition": ["$if": ["$ref": "defs.condition"], "$then": ["a": 1]],
  ]

  @Test(arguments: cases.indices)
  func aRuleIsRefused(_ number: Int) throws {
    let (rule, expected) = Self.cases[number]
    let json = try JSONObject(parsing: rule)
    let error = #expect(throws: QueryError.self) { try RuleTrial(json, definitions: Self.definitions) }
    #expect(error.map { "\($0)" } == expected)
  }

  @Test(arguments: ["$data", "$cat", "$if", "$then", "$else", "$ref", "$error", "$reason"])
  func anOrdinarySelectorSaysWhereTheyBelong(_ name: String) throws {
    let message =
      #"unknown operator "\#(name)"; "\#(name)" belongs to rules, which design documents have; see docs/rules.md"#
    let whole = JSONObject([(name, .string("a"))])
    let field: JSONObject = ["a": .object(whole)]
    for (selector, place) in [(whole, name), (field, "a.\(name)")] {
      let error = #expect(throws: QueryError.self) { try QuerySelector(selector) }
      #expect(error.map { "\($0)" } == "\(place): \(message)")
    }
  }

  @Test func aListThatIsReferredToOftenIsRefused() throws {
    let list = JSONValue.array((0..<200_000).map { .int($0) })
    let members = (0..<5_000).map { JSONValue.object(["newDoc.a\($0)": ["$ref": "defs.list"]]) }
    #expect(throws: QueryError.self) {
      try RuleTrial(["$and": .array(members)], definitions: ["list": ["$nin": list]])
    }
  }
}
