import CDTDatastore
import CDTJSON
import CDTQuery
import Testing

/// What a refused write says.
@Suite struct RuleFailureTests {
  static let cases: [(rule: String, input: String, reason: String)] = [
    (#"{"newDoc.title": {"$type": "string"}}"#, #"{"title": 7}"#, "newDoc.title: expected a string"),
    (#"{"newDoc.title": {"$type": "string"}}"#, #"{}"#, "newDoc.title: expected a string; it is missing"),
    (
      #"{"newDoc": {"type": {"$in": ["task", "list"]}, "n": 1}}"#, #"{"type": 1, "n": 2}"#,
      #"newDoc.type: expected one of "list", "task"; newDoc.n: expected 1"#
    ),
    (#"{"newDoc.a": {"$not": {"$eq": 1}}}"#, #"{"a": 1}"#, "newDoc.a: must not be 1"),
    (#"{"newDoc.a": {"$not": {"$in": [1, 2]}}}"#, #"{"a": 1}"#, "newDoc.a: must not be one of 1, 2"),
    (#"{"newDoc.a": {"$not": {"$lt": 3}}}"#, #"{"a": 1}"#, "newDoc.a: expected at least 3"),
    (
      #"{"$nor": [{"newDoc.a": 1}, {"newDoc.b": {"$gt": 1}}]}"#, #"{"a": 1, "b": 2}"#,
      "newDoc.a: must not be 1; newDoc.b: expected at most 1"
    ),
    (
      #"{"$not": {"$and": [{"newDoc.a": 1}, {"newDoc.b": 2}]}}"#, #"{"a": 1, "b": 2}"#,
      "newDoc.a: must not be 1 or newDoc.b: must not be 2"
    ),
    (
      #"{"newDoc.x": 1, "$or": [{"newDoc.a": 1, "newDoc.b": 1}, {"newDoc.c": 1}]}"#,
      #"{"x": 2, "a": 2, "b": 2, "c": 2}"#,
      "newDoc.x: expected 1; newDoc.a: expected 1 and newDoc.b: expected 1; and 1 more"
    ),
    (
      #"{"$or": [{"newDoc.a": 1, "newDoc.b": 1}, {"newDoc.c": 1}]}"#, #"{"a": 2, "b": 2, "c": 2}"#,
      "newDoc.a: expected 1 and newDoc.b: expected 1 or newDoc.c: expected 1"
    ),
    (
      #"{"$or": [{"newDoc.a": 1}, {"newDoc.b": 1, "$reason": "b is one"}, {"newDoc.c": 1, "$reason": "c is one"}]}"#,
      #"{"a": 2, "b": 2, "c": 2}"#, "b is one or c is one"
    ),
    (
      #"{"newDoc.x": 1, "$or": [{"newDoc.a": 1}, {"$or": [{"newDoc.b": 1}], "$reason": "only this"}]}"#,
      #"{"x": 2, "a": 2, "b": 2}"#, "newDoc.x: expected 1; only this"
    ),
    (
      #"{"newDoc.l": {"$allMatch": {"n": {"$gt": 0}}}}"#, #"{"l": [{"n": 1}, {"n": 0}, 7, {}]}"#,
      "newDoc.l.1.n: expected more than 0; newDoc.l.2: expected an object; newDoc.l.3.n: expected more than 0; it is missing"
    ),
    (
      #"{"newDoc.l": {"$not": {"$allMatch": {"$gt": 0}}}}"#, #"{"l": [1, 2]}"#,
      "newDoc.l.0: expected at most 0; newDoc.l.1: expected at most 0"
    ),
    (
      #"{"newDoc.l": {"$allMatch": {"$gt": 0}}}"#, #"{"l": []}"#,
      "newDoc.l: expected an array whose elements all match"
    ),
    (
      #"{"newDoc.l": {"$allMatch": {"n": {"$gt": 0}, "$reason": "at least one of each"}}}"#,
      #"{"l": [{"n": 1}, {"n": 0}]}"#, "at least one of each"
    ),
    (#"{"$reason": "outer", "newDoc": {"a": {"$eq": 1, "$reason": "inner"}}}"#, #"{"a": 2}"#, "outer"),
    (
      #"{"newDoc": {"a": {"$eq": 1, "$reason": "inner"}, "b": 1}}"#, #"{"a": 2, "b": 2}"#,
      "inner; newDoc.b: expected 1"
    ),
    (#"{"newDoc.a": {"$data": "newDoc.b"}}"#, #"{"a": 1, "b": 2}"#, "newDoc.a: expected 2"),
    (
      #"{"newDoc.a": {"$data": "newDoc.b"}}"#, #"{"a": 1}"#,
      #"newDoc.a: expected the value of {"$data":"newDoc.b"}, which is missing"#
    ),
    (#"{"$if": {"newDoc.a": 1}, "$then": {"newDoc.b": 1}}"#, #"{"a": 1, "b": 2}"#, "newDoc.b: expected 1"),
    (#"{"newDoc.a": {"$exists": false}}"#, #"{"a": 1}"#, "newDoc.a: must not be present"),
    (#"{"newDoc.a": {"$exists": true}}"#, #"{}"#, "newDoc.a: must be present"),
    (
      #"{"newDoc.a": {"$not": {"$regex": "^x"}}}"#, #"{"a": "xy"}"#,
      #"newDoc.a: must not be a string that matches "^x""#
    ),
    (
      #"{"newDoc": {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}}"#, #"{}"#,
      "newDoc.a: expected 1; it is missing; newDoc.b: expected 1; it is missing; newDoc.c: expected 1; it is missing; and 2 more"
    ),
    (#"{"newDoc.a": "line\nbreak"}"#, #"{}"#, #"newDoc.a: expected "line\nbreak"; it is missing"#),
  ]

  @Test(arguments: cases.indices)
  func theReasonIsOneLine(_ number: Int) throws {
    let (rule, document, reason) = Self.cases[number]
    let input: JSONObject = ["newDoc": .object(try JSONObject(parsing: document))]
    let violation = try RuleTrial(rule).violation(input)
    #expect(violation?.reason == reason)
  }

  @Test func `the failures of an alternative are listed although the reason leaves them out`() throws {
    let rule = try RuleTrial(
      #"{"$or": [{"oldDoc": null}, {"newDoc.owner": {"$data": "oldDoc.owner"}, "$reason": "the owner stays"}]}"#
    )
    let violation = try rule.violation(["newDoc": ["owner": "bob"], "oldDoc": ["owner": "anna"]])
    #expect(violation?.reason == "the owner stays")
    #expect(violation?.failures.map(\.path) == [["oldDoc"], []])
    #expect(violation?.failures.map(\.type) == ["exists", "reason"])
  }

  @Test func aFailureHasPathTypeAndParameters() throws {
    let rule = try RuleTrial(
      #"{"newDoc.l": {"$allMatch": {"n": {"$nin": [1, 2]}}}, "newDoc.m": {"$not": {"$type": "string"}}}"#)
    let failures = try rule.violation(["newDoc": ["l": [["n": 5], ["n": 2]], "m": "x"]])?.failures.map(\.json)
    #expect(
      failures == [
        [
          "path": ["newDoc", "l", 1, "n"], "type": "nin", "params": [1, 2],
          "message": "must not be one of 1, 2",
        ],
        [
          "path": ["newDoc", "m"], "type": "not type", "params": ["string"],
          "message": "must not be a string",
        ],
      ])
  }

  @Test func theFirstFailureDecidesBetweenForbiddenAndUnauthorized() throws {
    let rule = try RuleTrial(
      #"{"$and": [{"userCtx.name": {"$type": "string"}, "$error": "unauthorized"}, {"newDoc.a": 1}]}"#)
    let anonymous = try rule.violation(["newDoc": [:], "userCtx": ["name": nil]])
    #expect(anonymous?.error == "unauthorized" && anonymous?.failures.count == 2)
    let named = try rule.violation(["newDoc": [:], "userCtx": ["name": "anna"]])
    #expect(named?.error == "forbidden")
  }

  @Test func failuresOfAnyInputAreBounded() throws {
    let long = String(repeating: "é\"", count: 20_000)
    let many = JSONValue.array((0..<40_000).map { .string("member \($0)") })
    let elements = JSONValue.array((0..<200).map { ["n": .int($0), "l": [0]] })
    let rules: [JSONObject] = [
      ["newDoc.few": ["$allMatch": ["$eq": .string(long)]]],
      ["newDoc.l": ["$allMatch": ["$nin": many]]],
      ["newDoc.l": ["$allMatch": ["$in": ["$data": "newDoc.huge"]]]],
      ["newDoc.nested": ["$allMatch": ["l": ["$elemMatch": ["$in": many]]]]],
      ["newDoc.nested": ["$allMatch": ["$if": ["n": ["$nin": many]], "$then": ["n": 1]]]],
      ["newDoc.few": ["$allMatch": ["$eq": 1]], "$reason": .string(long)],
      ["newDoc.few": ["$allMatch": ["$eq": ["$cat": ["x", ["$data": "newDoc.long"]]]]]],
    ]
    let input: JSONObject = ["newDoc": ["l": many, "huge": .array((0..<40_000).map { .int($0) })]]
    let small: JSONObject = [
      "newDoc": [
        "few": .array(Array(repeating: "x", count: 300)), "long": .string(long), "nested": elements,
      ]
    ]
    for rule in rules {
      let isLong = rule["newDoc.l"] != nil
      let violation = try RuleTrial(rule).violation(isLong ? input : small)
      #expect(violation?.failures.count == (rule["$reason"] == nil ? 100 : 1))
      #expect((violation?.reason.utf8.count ?? 0) < 5_000)
      for failure in violation?.failures ?? [] { #expect(failure.json.text.utf8.count < 50_000) }
    }
  }
}
