import CDTJSON
import CDTQuery

/// A selector in the first line, documents in the others: the matcher decides each, and its negation the other way.
enum SelectorTarget {
  static func run(_ input: [UInt8]) throws {
    let (line, rest) = firstLine(input)
    let json = try JSONObject(parsing: line)
    let selector = try QuerySelector(json)
    let negation = try? QuerySelector(["$nor": [.object(json)]])
    let rewritten = try? QuerySelector(selector.clause.selector)
    for line in rest.split(separator: UInt8(ascii: "\n")) {
      let document = try JSONObject(parsing: Array(line))
      let matches = try selector.matches(document, id: "a", revision: "1-a")
      expectEqual(
        try selector.matches(document, id: "a", revision: "1-a"), matches, "the same selector again")
      if let negation {
        expectEqual(try negation.matches(document, id: "a", revision: "1-a"), !matches, "the negation")
      }
      if let rewritten {
        expectEqual(
          try rewritten.matches(document, id: "a", revision: "1-a"), matches,
          "the selector as explain writes it")
      }
    }
  }
}
