import CDTJSON
import CDTQuery
import CDTRandomDocuments
import Testing

@testable import CDTSelector

/// What holds for all rules and all inputs.
@Suite struct RuleLawTests {
  @Test(arguments: UInt64(0)..<20)
  func aRuleMeansWhatItsSelectorsMean(_ seed: UInt64) throws {
    var random = RandomDocuments(seed: seed &+ 46)
    for _ in 0..<100 {
      let document = random.body()
      let input: JSONObject = ["newDoc": .object(document), "userCtx": ["name": random.scalar()]]
      let (a, b, c) = (part(&random), part(&random), part(&random))
      let parts = try [a, b, c].map { try QuerySelector($0).matches(input) }
      var rules: [(rule: JSONObject, holds: Bool)] = [
        (a, parts[0]), (["$not": .object(a.isEmpty ? b : a)], a.isEmpty ? !parts[1] : !parts[0]),
        (
          ["$if": .object(a), "$then": .object(b), "$else": .object(c)],
          parts[0] && parts[1] || !parts[0] && parts[2]
        ),
        (["$if": .object(a), "$then": .object(b)], !parts[0] || parts[1]),
        (
          ["$nor": [["$if": .object(a), "$then": .object(b), "$else": .object(c), "$reason": "no"]]],
          !(parts[0] && parts[1] || !parts[0] && parts[2])
        ),
      ]
      let path = random.pick(RandomDocuments.plainNames)
      let operand = document[path]
      for name in ["$eq", "$ne", "$lt", "$lte", "$gt", "$gte", "$in", "$nin", "$all", "$mod"] {
        let field = random.pick(RandomDocuments.plainNames)
        let data: JSONValue = ["$data": .string("newDoc.\(path)")]
        guard let operand else { continue }
        // The whole operand, and a member of it.
        var operands = [(data, operand)]
        if ["$in", "$nin", "$all"].contains(name) { operands.append(([data, 1], [operand, 1])) }
        for (data, operand) in operands {
          for isElement in [false, true] {
            let rule = self.rule(field, name, data, isElement)
            guard let literal = try? QuerySelector(self.rule(field, name, operand, isElement)) else {
              continue
            }
            rules.append((rule, try literal.matches(input)))
          }
        }
      }
      for (json, holds) in rules {
        let rule = try RuleTrial(json)
        #expect(try rule.holds(input) == holds, "\(json.text) of \(input.text)")
        let violation = try rule.violation(input)
        #expect((violation == nil) == holds, "failures of \(json.text) of \(input.text)")
      }
    }
  }

  /// A selector below the document. Rules have no distances.
  private func part(_ random: inout RandomDocuments) -> JSONObject {
    while true {
      let selector = random.selector()
      if !selector.text.contains("\"$near\"") { return below(selector) }
    }
  }

  private func rule(_ field: String, _ name: String, _ operand: JSONValue, _ isElement: Bool) -> JSONObject {
    let test = JSONObject([(name, operand)])
    return ["newDoc.\(field)": isElement ? ["$elemMatch": .object(test)] : .object(test)]
  }

  /// A selector on the document as one on the rule's input.
  private func below(_ selector: JSONObject) -> JSONObject {
    JSONObject(
      selector.map { key, value in
        switch key {
        case "$and", "$or", "$nor":
          (key, .array((value.arrayValue ?? []).map { .object(below($0.objectValue ?? [:])) }))
        case "$not": (key, .object(below(value.objectValue ?? [:])))
        default: ("newDoc.\(key)", value)
        }
      })
  }
}
