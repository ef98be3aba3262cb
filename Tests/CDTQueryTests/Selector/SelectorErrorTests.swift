import CDTJSON
import CDTQuery
import Testing

/// Every refusal of a selector, with the place and the remedy.
@Suite struct SelectorErrorTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription, selector, error: String

    init(_ name: String, _ selector: String, _ error: String) {
      testDescription = name
      self.selector = selector
      self.error = error
    }
  }

  static let cases = [
    Case(
      "misspelled operator", #"{"age": {"$gtt": 18}}"#,
      #"age.$gtt: unknown operator "$gtt" (did you mean "$gt"?)"#),
    Case(
      "operator without a near name", #"{"age": {"$frobnicate": 18}}"#,
      #"age.$frobnicate: unknown operator "$frobnicate"; for a field name that begins with a dollar sign, write "\$frobnicate""#
    ),
    Case(
      "operator without a field", #"{"$gt": 18}"#,
      #"$gt: "$gt" tests a field's value; put it under a field: {"field": {"$gt": …}}"#),
    Case(
      "$where", #"{"a": {"$where": "1"}}"#,
      #"a.$where: unknown operator "$where"; functions and expressions are not run; use operators on fields"#),
    Case(
      "$oid", #"{"_id": {"$oid": "5f1b"}}"#,
      #"_id.$oid: unknown operator "$oid"; an id is a string; write it without "$oid""#),
    Case(
      "$like", #"{"a": {"$like": "x%"}}"#,
      #"a.$like: unknown operator "$like"; use "$beginsWith" or "$regex" for text; an array matches if an element does"#
    ),
    Case(
      "an operator that nobody has", #"{"a": {"$zzzzzzz": 1}}"#,
      #"a.$zzzzzzz: unknown operator "$zzzzzzz"; for a field name that begins with a dollar sign, write "\$zzzzzzz""#
    ),
    Case(
      "combination under a field", #"{"age": {"$or": [{"$gt": 1}]}}"#,
      #"age.$or: "$or" is not allowed under a field; put it outside, around clauses that each name the field"#
    ),
    Case(
      "$and of no array", #"{"$and": {"a": 1}}"#, #"$and: "$and" takes an array of selectors, not an object"#),
    Case(
      "member that is no object", #"{"$or": [{"a": 1}, 2]}"#,
      #"$or[1]: a selector is an object such as {"age": {"$gt": 18}}, not a number"#),
    Case(
      "empty member", #"{"$nor": [{}]}"#, #"$nor[0]: "$nor" contains an empty selector; remove it"#),
    Case(
      "$not of no object", #"{"$not": []}"#,
      #"$not: a selector is an object such as {"age": {"$gt": 18}}, not an array"#),
    Case(
      "$not under a field of no object", #"{"a": {"$not": 5}}"#,
      #"a.$not: "$not" takes operators or a selector, not a number"#),
    Case(
      "empty sub-selector", #"{"pet": {}}"#,
      #"pet: {} has no condition; to match an empty object write {"$eq": {}}, to match any value {"$exists": true}"#
    ),
    Case(
      "operators beside names", #"{"pet": {"$eq": 1, "species": "cat"}}"#,
      #"pet: the operator "$eq" and the name "species" can't be in one object; write them as two clauses of "$and""#
    ),
    Case(
      "names beside operators", #"{"pet": {"species": "cat", "$eq": 1}}"#,
      #"pet: the operator "$eq" and the name "species" can't be in one object; write them as two clauses of "$and""#
    ),
    Case(
      "range of an array", #"{"a": {"$lt": [1]}}"#,
      #"a.$lt: "$lt" takes a number, a string, a boolean or null, not an array"#),
    Case(
      "range of an object", #"{"a": {"$gte": {"b": 1}}}"#,
      #"a.$gte: "$gte" takes a number, a string, a boolean or null, not an object"#),
    Case(
      "range of MongoDB's date", #"{"a": {"$gte": {"$date": "2026-08-01T00:00:00Z"}}}"#,
      #"a.$gte: "$gte" takes a number, a string, a boolean or null, not an object; a date is a string, such as "2026-08-01T00:00:00Z"; write it without "$date""#
    ),
    Case(
      "range of MongoDB's number", #"{"a": {"$gt": {"$numberLong": "5"}}}"#,
      #"a.$gt: "$gt" takes a number, a string, a boolean or null, not an object; a number is written as it is; write it without "$numberLong""#
    ),
    Case("$in of no array", #"{"a": {"$in": 1}}"#, #"a.$in: "$in" takes an array, not a number"#),
    Case(
      "$exists of a number", #"{"a": {"$exists": 1}}"#,
      #"a.$exists: "$exists" takes true or false, not a number"#),
    Case(
      "unknown type", #"{"a": {"$type": "date"}}"#,
      #"a.$type: "date" is not a type; use one of "null" "boolean" "number" "string" "array" "object""#),
    Case(
      "$mod of one number", #"{"a": {"$mod": [2]}}"#,
      #"a.$mod: "$mod" takes two numbers, [divisor, remainder], not 1"#),
    Case(
      "$mod of a string", #"{"a": {"$mod": [2, "1"]}}"#, #"a.$mod: "$mod" takes two numbers, not a string"#),
    Case(
      "$mod by a fraction", #"{"$or": [{"b": 1}, {"a": {"$mod": [0.5, 0]}}]}"#,
      #"$or[1].a.$mod: the divisor of "$mod" truncates to 0; use a divisor of 1 or more"#),
    Case("$size of null", #"{"a": {"$size": null}}"#, #"a.$size: "$size" takes a whole number, not null"#),
    Case(
      "$beginsWith of a number", #"{"a": {"$beginsWith": 1}}"#,
      #"a.$beginsWith: "$beginsWith" takes a string, not a number"#),
    Case(
      "pattern that does not compile", #"{"a": {"$regex": "x("}}"#,
      #"a.$regex: the pattern does not compile: missing closing parenthesis at offset 2; fix the pattern"#),
    Case(
      "$regex of a number", #"{"a": {"$regex": 1}}"#,
      #"a.$regex: "$regex" takes a pattern in a string, not a number"#),
    Case(
      "unknown option", #"{"a": {"$regex": "x", "$options": "ig"}}"#,
      #"a.$options: "g" is not an option of "$regex"; use only the letters "imsx""#),
    Case(
      "options alone", #"{"a": {"$options": "i"}}"#,
      #"a.$options: "$options" needs a "$regex" beside it; add one or remove "$options""#),
    Case(
      "empty segment", #"{"a..b": 1}"#,
      #"a..b: the path "a..b" has an empty segment; name every segment; write "\." for a dot in a name"#),
    Case(
      "unescaped dollar", #"{"a.$b": 1}"#,
      #"a.$b: a name that begins with a dollar sign must be escaped; write "a.\$b""#),
    Case(
      "empty $elemMatch", #"{"a": {"$elemMatch": {}}}"#,
      #"a.$elemMatch: {} has no condition; write one for "$elemMatch", such as {"$exists": true}"#
    ),
    Case(
      "$keyMapMatch of a selector", #"{"a": {"$keyMapMatch": {"b": 1}}}"#,
      #"a.$keyMapMatch: "$keyMapMatch" takes operators, which test each key, not an object"#),
  ]

  @Test(arguments: cases) func refuses(_ c: Case) throws {
    let error = #expect(throws: QueryError.self) { try QuerySelector(parsing: c.selector) }
    #expect(error?.description == c.error)
  }

  @Test func `text that is not JSON is refused with its place`() {
    let error = #expect(throws: QueryError.self) { try QuerySelector(parsing: "{\"a\": }") }
    let reason =
      "expected a value: an object, an array, a string in double quotes, a number, true, false or null"
    #expect(error?.description == "the selector is not JSON: line 1, column 7: \(reason)")
  }

  @Test func `deep selectors are refused, not followed`() {
    let deep = String(repeating: "{\"$not\":", count: 200) + "{\"a\":1}" + String(repeating: "}", count: 200)
    let error = #expect(throws: QueryError.self) { try QuerySelector(parsing: deep) }
    #expect(error?.code == .tooDeep)
    let fields = String(repeating: "{\"a\":", count: 300) + "1" + String(repeating: "}", count: 300)
    #expect(throws: QueryError.self) { try QuerySelector(parsing: fields) }
  }

  static let beyondJSON: [(JSONObject, String)] = [
    (["a": ["$gt": .double(.nan)]], "a.$gt"),
    (["$or": [["b": 1], ["a": ["$in": [1, .double(.infinity)]]]]], "$or[1].a.$in[1]"),
    (["a": ["$mod": [.double(-.infinity), 0]]], "a.$mod[0]"),
    (["a": ["$eq": ["b": .double(.nan)]]], "a.$eq.b"),
  ]

  @Test(arguments: beyondJSON)
  func `numbers that JSON can't hold are refused`(selector: JSONObject, path: String) {
    let error = #expect(throws: QueryError.self) { try QuerySelector(selector) }
    #expect(error?.code == .invalidArgument && error?.path == path, "\(String(describing: error))")
  }

  @Test func `values made in code without end are refused`() {
    let deep = (0..<5_000).reduce(JSONValue.int(1)) { value, _ in [value] }
    for selector in [["a": deep], ["a": ["$in": [deep]]], ["$and": [["a": ["$eq": ["b": deep]]]]]]
      as [JSONObject]
    {
      let error = #expect(throws: QueryError.self) { try QuerySelector(selector) }
      #expect(error?.code == .tooDeep)
    }
  }

  @Test func `ten thousand members of $in are one condition`() throws {
    let members = JSONValue.array((0..<10_000).map { .int($0) })
    #expect(try QuerySelector(["a": ["$in": members]]).matches(["a": 9_999]))
  }
}
