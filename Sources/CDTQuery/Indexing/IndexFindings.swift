import CDTDatastore
import JSON

/// What is wrong with one index, the first of it in full.
struct IndexFindings {
  let name: String
  private var findings: [IntegrityFinding] = []
  private var count = 0

  private static let limit = 10

  init(_ name: String) {
    self.name = name
  }

  mutating func add(_ what: String, _ id: String? = nil) {
    count += 1
    guard count <= Self.limit else { return }
    findings.append(
      IntegrityFinding(.index, documentID: id, "the index \(JSONValue.string(name).text) \(what)"))
  }

  /// The findings, and how many more there are.
  var all: [IntegrityFinding] {
    guard count > Self.limit else { return findings }
    let name = JSONValue.string(name).text
    return findings
      + [IntegrityFinding(.index, "the index \(name) has \(count - Self.limit) more rows that are wrong")]
  }
}
