import CDTJSON
import CDTQuery
import Testing

/// What the operators mean that only rules have.
@Suite struct RuleLanguageTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let rule, input: String
    let holds: Bool
    var testDescription: String { "\(rule) of \(input)" }

    init(_ rule: String, _ input: String, _ holds: Bool) {
      self.rule = rule
      self.input = input
      self.holds = holds
    }
  }

  private static let definitions = #"""
    {"even": {"$type": "number", "$mod": [2, 0]}, "list": {"$ref": "defs.line"},
     "line": {"count": {"$ref": "defs.even"}, "sku": {"$type": "string"}}, "task": {"newDoc.type": "task"},
     "bounds": {"max": {"$gt": {"$data": ".min"}}}}
    """#

  static let data = [
    Case(#"{"newDoc.a": {"$data": "newDoc.b"}}"#, #"{"newDoc": {"a": 1, "b": 1.0}}"#, true),
    Case(#"{"newDoc.a": {"$data": "newDoc.b"}}"#, #"{"newDoc": {"a": 1, "b": 2}}"#, false),
    Case(#"{"newDoc.a": {"$data": "newDoc.b"}}"#, #"{"newDoc": {"a": 1}}"#, false),
    Case(#"{"newDoc.a": {"$data": "newDoc.b"}}"#, #"{"newDoc": {}}"#, false),
    Case(#"{"newDoc.a": {"$ne": {"$data": "newDoc.b"}}}"#, #"{"newDoc": {"a": 1}}"#, true),
    Case(#"{"newDoc.a": {"$lt": {"$data": "newDoc.b"}}}"#, #"{"newDoc": {"a": 1, "b": 2}}"#, true),
    Case(#"{"newDoc.a": {"$lte": {"$data": "newDoc.b"}}}"#, #"{"newDoc": {"a": 3, "b": 2}}"#, false),
    Case(#"{"newDoc.a": {"$gt": {"$data": "newDoc.b"}}}"#, #"{"newDoc": {"a": "x", "b": "w"}}"#, true),
    Case(#"{"newDoc.a": {"$gte": {"$data": "newDoc.b"}}}"#, #"{"newDoc": {"a": 1, "b": [1]}}"#, false),
    Case(#"{"newDoc.a": {"$in": {"$data": "newDoc.b"}}}"#, #"{"newDoc": {"a": 1, "b": [2, 1]}}"#, true),
    Case(#"{"newDoc.a": {"$in": {"$data": "newDoc.b"}}}"#, #"{"newDoc": {"a": 1, "b": 1}}"#, false),
    Case(#"{"newDoc.a": {"$in": [5, {"$data": "newDoc.b"}]}}"#, #"{"newDoc": {"a": 5}}"#, true),
    Case(#"{"newDoc.a": {"$in": [5, {"$data": "newDoc.b"}]}}"#, #"{"newDoc": {"a": 7, "b": 7}}"#, true),
    Case(#"{"newDoc.a": {"$nin": {"$data": "newDoc.b"}}}"#, #"{"newDoc": {"a": 1, "b": [1]}}"#, false),
    Case(#"{"newDoc.a": {"$nin": {"$data": "newDoc.b"}}}"#, #"{"newDoc": {"a": 1, "b": [2]}}"#, true),
    Case(
      #"{"newDoc.a": {"$all": {"$data": "newDoc.b"}}}"#, #"{"newDoc": {"a": [1, 2, 3], "b": [3, 1]}}"#, true),
    Case(#"{"newDoc.a": {"$all": {"$data": "newDoc.b"}}}"#, #"{"newDoc": {"a": [1, 2], "b": []}}"#, false),
    Case(#"{"newDoc.a": {"$all": [1, {"$data": "newDoc.b"}]}}"#, #"{"newDoc": {"a": [1, 2], "b": 2}}"#, true),
    Case(
      #"{"newDoc.a.v": {"$all": [1, {"$data": "newDoc.b"}]}}"#,
      #"{"newDoc": {"a": [{"v": 1}, {"v": 2}], "b": 2}}"#, true),
    // A member that is missing is not equal to any.
    Case(#"{"newDoc.a": {"$all": [1, {"$data": "newDoc.b"}]}}"#, #"{"newDoc": {"a": [1, null]}}"#, false),
    Case(
      #"{"newDoc.a": {"$all": [[1], {"$data": "newDoc.b"}]}}"#, #"{"newDoc": {"a": [[1], [2]], "b": [2]}}"#,
      true),
    Case(#"{"newDoc.a": {"$mod": {"$data": "newDoc.b"}}}"#, #"{"newDoc": {"a": 7, "b": [3, 1]}}"#, true),
    Case(#"{"newDoc.a": {"$mod": {"$data": "newDoc.b"}}}"#, #"{"newDoc": {"a": 7, "b": [0, 1]}}"#, false),
    Case(#"{"newDoc.a": {"$mod": [{"$data": "newDoc.b"}, 1]}}"#, #"{"newDoc": {"a": 7, "b": 2}}"#, true),
    Case(#"{"newDoc.a": {"$data": "newDoc.b.1.c"}}"#, #"{"newDoc": {"a": 4, "b": [0, {"c": 4}]}}"#, true),
    Case(#"{"newDoc": {"a": {"$data": ".b"}}}"#, #"{"newDoc": {"a": 1, "b": 1}}"#, true),
    Case(
      #"{"newDoc": {"a": {"$data": "..userCtx.name"}}}"#,
      #"{"newDoc": {"a": "x"}, "userCtx": {"name": "x"}}"#, true),
    Case(
      #"{"newDoc": {"a": {"$data": "...userCtx.name"}}}"#,
      #"{"newDoc": {"a": "x"}, "userCtx": {"name": "x"}}"#, false),
    Case(
      #"{"newDoc.a": {"$allMatch": {"max": {"$gt": {"$data": ".min"}}}}}"#,
      #"{"newDoc": {"a": [{"min": 1, "max": 2}, {"max": 9, "min": 8}]}}"#, true),
    Case(
      #"{"newDoc.a": {"$allMatch": {"max": {"$gt": {"$data": ".min"}}}}}"#,
      #"{"newDoc": {"a": [{"min": 1, "max": 2}, {"max": 3, "min": 8}]}}"#, false),
    Case(
      #"{"newDoc.a": {"$allMatch": {"v": {"$lte": {"$data": "...most"}}}}}"#,
      #"{"newDoc": {"a": [{"v": 1}, {"v": 2}], "most": 2}}"#, true),
    Case(
      #"{"newDoc.a": {"$allMatch": {"v": {"$lte": {"$data": "...most"}}}}}"#,
      #"{"newDoc": {"a": [{"v": 1}, {"v": 3}], "most": 2}}"#, false),
    Case(
      #"{"newDoc.a": {"$allMatch": {"$lte": {"$data": "..most"}}}}"#,
      #"{"newDoc": {"a": [1, 2], "most": 2}}"#, true),
    Case(#"{"newDoc.a": {"$elemMatch": {"$eq": {"$data": ".0"}}}}"#, #"{"newDoc": {"a": [7, 8]}}"#, true),
    Case(
      #"{"newDoc.a": {"$elemMatch": {"$in": {"$data": "newDoc.b"}}}}"#,
      #"{"newDoc": {"a": [7, 8], "b": [8]}}"#, true),
    Case(
      #"{"newDoc.a": {"$keyMapMatch": {"$eq": {"$data": "newDoc.b"}}}}"#,
      #"{"newDoc": {"a": {"x": 1}, "b": "x"}}"#, true),
    Case(
      #"{"newDoc.place": {"$geoWithin": {"$box": [[7, 46], [9, 48]]}}}"#,
      #"{"newDoc": {"place": {"type": "Point", "coordinates": [8.5, 47.4]}}}"#, true),
    Case(
      #"{"newDoc.place": {"$geoWithin": {"$box": [[7, 46], [9, 48]]}}}"#,
      #"{"newDoc": {"place": [8.5, 45]}}"#,
      false),
    // The value is compared; it is never read as an operator.
    Case(#"{"newDoc.a": {"$data": "newDoc.b"}}"#, #"{"newDoc": {"a": 1, "b": {"$gt": 0}}}"#, false),
    Case(#"{"newDoc.a": {"$data": "newDoc.b"}}"#, #"{"newDoc": {"a": {"$gt": 0}, "b": {"$gt": 0}}}"#, true),
    Case(
      #"{"newDoc.a": {"$in": {"$data": "newDoc.b"}}}"#,
      #"{"newDoc": {"a": 1, "b": [{"$data": "newDoc.a"}]}}"#, false),
  ]

  static let joined = [
    Case(
      #"{"newDoc._id": {"$cat": ["user:", {"$data": "newDoc.name"}]}}"#,
      #"{"newDoc": {"_id": "user:é", "name": "é"}}"#, true),
    Case(
      #"{"newDoc._id": {"$cat": ["user:", {"$data": "newDoc.name"}]}}"#,
      #"{"newDoc": {"_id": "user:a", "name": "b"}}"#, false),
    Case(
      #"{"newDoc._id": {"$cat": ["user:", {"$data": "newDoc.name"}]}}"#, #"{"newDoc": {"_id": "user:"}}"#,
      false),
    Case(
      #"{"newDoc._id": {"$cat": ["user:", {"$data": "newDoc.name"}]}}"#,
      #"{"newDoc": {"_id": "user:7", "name": 7}}"#, false),
    Case(
      #"{"newDoc.a": {"$in": [{"$cat": ["x", {"$data": ".b"}]}, "y"]}}"#,
      #"{"newDoc": {"a": "xz", "b": "z"}}"#, true),
    Case(#"{"newDoc.a": {"$gt": {"$cat": ["a", {"$cat": ["b"]}]}}}"#, #"{"newDoc": {"a": "ac"}}"#, true),
  ]

  static let conditions = [
    Case(#"{"$if": {"newDoc.a": 1}, "$then": {"newDoc.b": 1}}"#, #"{"newDoc": {"a": 1, "b": 1}}"#, true),
    Case(#"{"$if": {"newDoc.a": 1}, "$then": {"newDoc.b": 1}}"#, #"{"newDoc": {"a": 1}}"#, false),
    Case(#"{"$if": {"newDoc.a": 1}, "$then": {"newDoc.b": 1}}"#, #"{"newDoc": {}}"#, true),
    Case(
      #"{"$if": {"newDoc.a": 1}, "$then": {"newDoc.b": 1}, "$else": {"newDoc.c": 1}}"#,
      #"{"newDoc": {"b": 1}}"#, false),
    Case(
      #"{"$not": {"$if": {"newDoc.a": 1}, "$then": {"newDoc.b": 1}, "$else": {"newDoc.c": 1}}}"#,
      #"{"newDoc": {"b": 1}}"#, true),
    Case(
      #"{"newDoc.n": {"$gt": 0, "$if": {"$gt": 10}, "$then": {"$mod": [5, 0]}}}"#, #"{"newDoc": {"n": 15}}"#,
      true),
    Case(
      #"{"newDoc.n": {"$gt": 0, "$if": {"$gt": 10}, "$then": {"$mod": [5, 0]}}}"#, #"{"newDoc": {"n": 12}}"#,
      false),
    Case(
      #"{"newDoc.n": {"$gt": 0, "$if": {"$gt": 10}, "$then": {"$mod": [5, 0]}}}"#, #"{"newDoc": {"n": 7}}"#,
      true),
    Case(
      #"{"newDoc": {"a": 1, "$if": {"b": 2}, "$then": {"c": 3}}}"#, #"{"newDoc": {"a": 1, "b": 2, "c": 3}}"#,
      true),
    Case(
      #"{"newDoc": {"a": 1, "$if": {"b": 2}, "$then": {"c": 3}}}"#, #"{"newDoc": {"a": 1, "b": 2}}"#, false),
    Case(
      #"{"newDoc.a": {"$allMatch": {"$if": {"b": 2}, "$then": {"c": 3}}}}"#,
      #"{"newDoc": {"a": [{"b": 2, "c": 3}, {}]}}"#, true),
    Case(
      #"{"newDoc.a": {"$allMatch": {"$if": {"b": 2}, "$then": {"c": 3}}}}"#,
      #"{"newDoc": {"a": [{"b": 2}]}}"#, false),
    Case(
      #"{"newDoc.a": {"$allMatch": {"$if": {"$gt": 5}, "$then": {"$lt": 9}, "$else": {"$eq": 1}}}}"#,
      #"{"newDoc": {"a": [1, 7]}}"#, true),
    Case(
      #"{"newDoc.a": {"$allMatch": {"$if": {"$gt": 5}, "$then": {"$lt": 9}, "$else": {"$eq": 1}}}}"#,
      #"{"newDoc": {"a": [2]}}"#, false),
    Case(
      #"{"$if": {"$if": {"newDoc.a": 1}, "$then": {"newDoc.b": 1}}, "$then": {"newDoc.c": 1}}"#,
      #"{"newDoc": {"a": 1}}"#, true),
  ]

  static let references = [
    Case(#"{"newDoc.n": {"$ref": "defs.even"}}"#, #"{"newDoc": {"n": 4}}"#, true),
    Case(#"{"newDoc.n": {"$ref": "defs.even"}}"#, #"{"newDoc": {"n": 3}}"#, false),
    Case(#"{"newDoc.n": {"$ref": "defs.even", "$gt": 20}}"#, #"{"newDoc": {"n": 4}}"#, false),
    Case(#"{"$ref": "defs.task", "newDoc.n": 1}"#, #"{"newDoc": {"type": "task", "n": 1}}"#, true),
    Case(#"{"$ref": "defs.task", "newDoc.n": 1}"#, #"{"newDoc": {"n": 1}}"#, false),
    Case(#"{"newDoc": {"$ref": "defs.line"}}"#, #"{"newDoc": {"count": 2, "sku": "x"}}"#, true),
    Case(
      #"{"newDoc.l": {"$allMatch": {"$ref": "defs.line"}}}"#,
      #"{"newDoc": {"l": [{"count": 2, "sku": "x"}]}}"#, true),
    Case(
      #"{"newDoc.l": {"$allMatch": {"$ref": "defs.line"}}}"#,
      #"{"newDoc": {"l": [{"count": 1, "sku": "x"}]}}"#, false),
    Case(
      #"{"newDoc.l": {"$allMatch": {"$ref": "defs.list"}}}"#,
      #"{"newDoc": {"l": [{"count": 2, "sku": "x"}]}}"#, true),
    Case(#"{"newDoc.l": {"$allMatch": {"$ref": "defs.even"}}}"#, #"{"newDoc": {"l": [2, 4]}}"#, true),
    Case(
      #"{"newDoc.l": {"$elemMatch": {"$not": {"$ref": "defs.even"}}}}"#, #"{"newDoc": {"l": [2, 4]}}"#, false),
    Case(#"{"newDoc": {"$ref": "defs.bounds"}}"#, #"{"newDoc": {"min": 1, "max": 2}}"#, true),
  ]

  static let spellings = [
    Case(
      #"{"$newDoc.type": "a", "$oldDoc.type": "b", "$userCtx.name": "c", "$secObj.d": 1}"#,
      #"{"newDoc": {"type": "a"}, "oldDoc": {"type": "b"}, "userCtx": {"name": "c"}, "security": {"d": 1}}"#,
      true),
    Case(
      #"{"$and": [{"$newDoc": {"type": "a"}}, {"$nor": [{"$oldDoc": {"$exists": true}}]}]}"#,
      #"{"newDoc": {"type": "a"}}"#, true),
    Case(
      #"{"$userCtx.roles": {"$elemMatch": {"$in": {"$data": "$secObj.admins.roles"}}}}"#,
      #"{"userCtx": {"roles": ["a", "b"]}, "security": {"admins": {"roles": ["b"]}}}"#, true),
    Case(
      #"{"$userCtx.roles": {"$all": ["_admin"]}, "$error": "unauthorized"}"#, #"{"userCtx": {"roles": []}}"#,
      false),
    Case(
      #"{"$or": [{"oldDoc": {"$exists": false}}, {"newDoc.owner": {"$data": "oldDoc.owner"}}]}"#,
      #"{"newDoc": {"owner": "a"}, "oldDoc": {"owner": "b"}}"#, false),
    Case(
      #"{"$reason": "x", "newDoc.a": {"$gt": 1, "$reason": "y", "$error": "forbidden"}}"#,
      #"{"newDoc": {"a": 2}}"#, true),
  ]

  @Test(arguments: data + joined + conditions + references + spellings)
  func aRuleHolds(_ each: Case) throws {
    let rule = try RuleTrial(each.rule, definitions: Self.definitions)
    let input = try JSONObject(parsing: each.input)
    #expect(try rule.holds(input) == each.holds)
    let violation = try rule.violation(input)
    #expect((violation == nil) == each.holds)
  }

  @Test func nestedConditionsAreNotWrittenOut() throws {
    var condition: JSONObject = ["newDoc.a": 1]
    for _ in 0..<60 { condition = ["$if": .object(condition), "$then": ["newDoc.a": 1]] }
    let rule = try RuleTrial(condition)
    #expect(try rule.holds(["newDoc": ["a": 1]]))
    #expect(!rule.clause.hasPattern && rule.clause.isComputed == false)
    #expect(rule.clause.selector.text.utf8.count < 10_000)
  }

  @Test func aLongListIsReadOnceForAllElements() throws {
    let numbers = JSONValue.array((0..<20_000).map { .int($0) })
    let input: JSONObject = ["newDoc": ["tags": numbers, "known": numbers, "limits": ["least": 0]]]
    for operand in [#""newDoc.known""#, #""..known""#, #""..limits.least""#] {
      let name = operand.contains("least") ? "$gte" : "$in"
      let rule = try RuleTrial(#"{"newDoc.tags": {"$allMatch": {"\#(name)": {"$data": \#(operand)}}}}"#)
      #expect(try rule.holds(input))
      #expect(try rule.violation(input) == nil)
    }
  }
}
